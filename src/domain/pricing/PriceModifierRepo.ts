import { Context, Effect, Layer, type Result } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { isSameRecord } from "../events/Unchanged.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import type { PriceModifier, PriceModifierFilter } from "./PriceModifier.ts"
import { type PriceModifierRow, toModifier } from "./PriceRows.ts"
import { isTargetGone, targetOf, type TargetRow } from "./PriceTargetRepo.ts"

/** All SQL of price modifiers. Every change writes `pricing.create` or `pricing.update` in the same statement. */
export class PriceModifierRepo extends Context.Service<PriceModifierRepo, {
  /** Writes a new modifier; 422 when its entity or variant is not the organization's. */
  readonly insert: (modifier: PriceModifier) => Effect.Effect<PriceModifier, ValidationFailed, CurrentActor>
  /**
   * Changes a modifier by a rule that gets the locked row, so that two changes run in sequence. A rule without a change
   * writes nothing. 404 for an unknown one, 422 by the rule.
   */
  readonly change: (
    id: string,
    rule: (before: PriceModifier) => Result.Result<PriceModifier, ValidationFailed>
  ) => Effect.Effect<PriceModifier, NotFound | ValidationFailed, CurrentActor>
  /** Deletes a modifier; the event's payload is the record as it was, with `deleted: true`. */
  readonly remove: (id: string) => Effect.Effect<void, NotFound, CurrentActor>
  /** A page of modifiers in order of application. */
  readonly list: (
    filter: PriceModifierFilter,
    now: Date,
    page: PageRequest
  ) => Effect.Effect<PageOf<PriceModifier>, never, CurrentActor>
}>()("stoa/domain/pricing/PriceModifierRepo") {}

const changeOf = (payload: PriceModifier, before: PriceModifier | null): Change => ({
  type: before === null ? "pricing.create" : "pricing.update",
  entityType: "price",
  entityId: payload.id,
  payload,
  before
})

const unknownModifier = NotFound.of("Price modifier not found.")
const unknownEntity = ValidationFailed.of("entityId", "is not an entity of this store")
const unknownVariant = ValidationFailed.of("variantId", "is not a variant of this entity")

/** 422 if the modifier's target is not in the catalog. */
const admitted = (row: TargetRow | undefined): Effect.Effect<void, ValidationFailed> =>
  row === undefined || !row.entity_found
    ? Effect.fail(unknownEntity)
    : row.variant_found
    ? Effect.void
    : Effect.fail(unknownVariant)

const orTargetGone = (error: SqlError.SqlError) => isTargetGone(error) ? Effect.fail(unknownEntity) : Effect.die(error)

/** The new row, as the CTE `written` of a statement whose CTE `target` permits it. */
const newRow = (sql: SqlClient.SqlClient, m: PriceModifier) =>
  sql`insert into price_modifiers (id, organization_id, name, type, value, priority, entity_id, variant_id, currency,
      customer_group_id, min_quantity, max_quantity, conditions, valid_from, valid_until, metadata, created_at, updated_at)
    select ${m.id}::uuid, ${m.organizationId}, ${m.name}, ${m.type}, ${m.value}::bigint, ${m.priority}::int,
      ${m.entityId}::uuid, ${m.variantId}::uuid, ${m.currency}::text, ${m.customerGroupId}::text,
      ${m.minQuantity}::int, ${m.maxQuantity}::int, ${JSON.stringify(m.conditions)}::jsonb,
      ${m.validFrom}::timestamptz, ${m.validUntil}::timestamptz, ${JSON.stringify(m.metadata)}::jsonb,
      ${m.createdAt}::timestamptz, ${m.updatedAt}::timestamptz
    from target where entity_found and variant_found returning id`

/** The changed row, as the same CTE. */
const changedRow = (sql: SqlClient.SqlClient, m: PriceModifier) =>
  sql`update price_modifiers set name = ${m.name}, type = ${m.type}, value = ${m.value}::bigint,
      priority = ${m.priority}::int, entity_id = ${m.entityId}::uuid, variant_id = ${m.variantId}::uuid,
      currency = ${m.currency}::text, customer_group_id = ${m.customerGroupId}::text,
      min_quantity = ${m.minQuantity}::int, max_quantity = ${m.maxQuantity}::int,
      conditions = ${JSON.stringify(m.conditions)}::jsonb, valid_from = ${m.validFrom}::timestamptz,
      valid_until = ${m.validUntil}::timestamptz, metadata = ${JSON.stringify(m.metadata)}::jsonb,
      updated_at = ${m.updatedAt}::timestamptz
    from target where entity_found and variant_found and id = ${m.id}::uuid
      and organization_id = ${m.organizationId} returning id`

const matching = (sql: SqlClient.SqlClient, organization: string, filter: PriceModifierFilter, now: Date) => {
  const holds = sql`((valid_from is null or valid_from <= ${now}::timestamptz)
    and (valid_until is null or valid_until >= ${now}::timestamptz))`
  return sql.and([
    sql`organization_id = ${organization}`,
    ...(filter.entityId === undefined ? [] : [sql`entity_id = ${filter.entityId}::uuid`]),
    ...(filter.currency === undefined ? [] : [sql`currency = ${filter.currency}`]),
    ...(filter.active === undefined ? [] : [filter.active ? holds : sql`not ${holds}`])
  ])
}

/** `PriceModifierRepo` over the database of the process. */
export const priceModifierRepoLayer = Layer.effect(
  PriceModifierRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** One statement: looks whether the target exists, writes the row and announces it, or none of it. */
    const write = Effect.fnUntraced(
      function*(row: Statement.Fragment, modifier: PriceModifier, before: PriceModifier | null) {
        const change = changeOf(modifier, before)
        const rows = yield* sql<TargetRow>`with target as (${targetOf(sql, modifier)}), written as (${row}),
          event as (${changeLogInsert(sql, yield* CurrentActor, [change], "written")})
          select * from target`
        yield* admitted(rows[0])
        return modifier
      }
    )

    const insert = Effect.fn("PriceModifierRepo.insert")(
      (modifier: PriceModifier) => write(newRow(sql, modifier), modifier, null),
      Effect.catchTag("SqlError", orTargetGone)
    )

    const change = Effect.fn("PriceModifierRepo.change")(
      function*(id: string, rule: (before: PriceModifier) => Result.Result<PriceModifier, ValidationFailed>) {
        const organization = yield* currentOrganization
        return yield* sql.withTransaction(Effect.gen(function*() {
          // Locked until the commit: the rule decides on the complete record, so it must not change in between.
          const rows = yield* sql<PriceModifierRow>`select * from price_modifiers
            where id = ${id}::uuid and organization_id = ${organization} for update`
          if (rows[0] === undefined) return yield* unknownModifier
          const before = toModifier(rows[0])
          const modifier = yield* Effect.fromResult(rule(before))
          return isSameRecord(before, modifier)
            ? before
            : yield* write(changedRow(sql, modifier), modifier, before)
        }))
      },
      Effect.catchTag("SqlError", orTargetGone)
    )

    const remove = Effect.fn("PriceModifierRepo.remove")(
      function*(id: string) {
        const actor = yield* CurrentActor
        yield* sql.withTransaction(Effect.gen(function*() {
          const rows = yield* sql<PriceModifierRow>`delete from price_modifiers
            where id = ${id}::uuid and organization_id = ${actor.organizationId} returning *`
          if (rows[0] === undefined) return yield* unknownModifier
          const before = toModifier(rows[0])
          yield* changeLogInsert(sql, actor, [{ ...changeOf(before, before), payload: { ...before, deleted: true } }])
        }))
      },
      Effect.catchTag("SqlError", Effect.die)
    )

    const list = Effect.fn("PriceModifierRepo.list")(
      function*(filter: PriceModifierFilter, now: Date, page: PageRequest) {
        const where = matching(sql, yield* currentOrganization, filter, now)
        const [rows, counted] = yield* Effect.all([
          sql<PriceModifierRow>`select * from price_modifiers where ${where} order by priority, id
            limit ${page.limit} offset ${offsetOf(page)}`,
          sql<{ readonly count: bigint }>`select count(*) as count from price_modifiers where ${where}`
        ], { concurrency: "unbounded" })
        return { items: rows.map(toModifier), ...page, total: Number(counted[0]?.count ?? 0) }
      },
      Effect.orDie
    )

    return PriceModifierRepo.of({ insert, change, remove, list })
  })
)
