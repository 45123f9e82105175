import { Context, Effect, Layer, type Result } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { Conflict, NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { isSameRecord } from "../events/Unchanged.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import { findCandidates, type PromotionCandidate } from "./CandidateRepo.ts"
import type { Promotion, PromotionStatus } from "./Promotion.ts"
import { type PromotionRecordRow, toPromotion } from "./PromotionRows.ts"

/** A promotion after a change; `changed` is false if the rule left it unchanged and nothing was written. */
export interface PromotionChanged {
  readonly promotion: Promotion
  readonly changed: boolean
}

/** All SQL of promotions. Every change writes `promotions.create` or `promotions.update` in the same statement. */
export class PromotionRepo extends Context.Service<PromotionRepo, {
  /** Writes a new promotion; 409 if its code is in use. */
  readonly insert: (promotion: Promotion) => Effect.Effect<Promotion, Conflict, CurrentActor>
  /**
   * Changes a promotion by a rule that gets the locked row, so that two changes run in sequence. Does not write
   * `usedCount`. 404 for an unknown one, 409 if the code is in use, 422 by the rule.
   */
  readonly change: (
    id: string,
    rule: (before: Promotion) => Result.Result<Promotion, ValidationFailed>
  ) => Effect.Effect<PromotionChanged, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** A page by priority, then id. */
  readonly list: (
    status: PromotionStatus,
    now: Date,
    page: PageRequest
  ) => Effect.Effect<PageOf<Promotion>, never, CurrentActor>
  /**
   * The promotions of these codes in any state, and the automatic ones that are active and have not ended, in one
   * statement. Usage is the higher count of the profile and the e-mail address. Codes ignore case.
   */
  readonly candidates: (
    codes: ReadonlyArray<string>,
    customerId: string | null,
    email: string | null
  ) => Effect.Effect<ReadonlyArray<PromotionCandidate>, never, CurrentActor>
  /** Slugs of the categories an entity is in, by entity id; absent when it is in none. */
  readonly categorySlugs: (
    entityIds: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, never, CurrentActor>
}>()("stoa/domain/promotions/PromotionRepo") {}

const changeOf = (promotion: Promotion, before: Promotion | null): Change => ({
  type: before === null ? "promotions.create" : "promotions.update",
  entityType: "promotion",
  entityId: promotion.id,
  payload: promotion,
  before
})

const newRow = (sql: SqlClient.SqlClient, p: Promotion) =>
  sql`insert into promotions (id, organization_id, code, name, type, value, currency, buy_quantity, get_quantity,
      is_automatic, is_active, stackable, priority, conditions, usage_limit_total, usage_limit_per_customer,
      valid_from, valid_until, metadata, created_at, updated_at)
    values (${p.id}::uuid, ${p.organizationId}, ${p.code}, ${p.name}, ${p.type}, ${String(p.value)}::numeric,
      ${p.currency}, ${p.buyQuantity}::int, ${p.getQuantity}::int, ${p.isAutomatic}, ${p.isActive}, ${p.stackable},
      ${p.priority}::int, ${JSON.stringify(p.conditions)}::jsonb, ${p.usageLimitTotal}::int,
      ${p.usageLimitPerCustomer}::int, ${p.validFrom}::timestamptz, ${p.validUntil}::timestamptz,
      ${JSON.stringify(p.metadata)}::jsonb, ${p.createdAt}::timestamptz, ${p.updatedAt}::timestamptz)
    returning id`

const changedRow = (sql: SqlClient.SqlClient, p: Promotion) =>
  sql`update promotions set code = ${p.code}, name = ${p.name}, type = ${p.type},
      value = ${String(p.value)}::numeric, currency = ${p.currency}, buy_quantity = ${p.buyQuantity}::int,
      get_quantity = ${p.getQuantity}::int, is_automatic = ${p.isAutomatic}, is_active = ${p.isActive},
      stackable = ${p.stackable}, priority = ${p.priority}::int, conditions = ${JSON.stringify(p.conditions)}::jsonb,
      usage_limit_total = ${p.usageLimitTotal}::int, usage_limit_per_customer = ${p.usageLimitPerCustomer}::int,
      valid_from = ${p.validFrom}::timestamptz, valid_until = ${p.validUntil}::timestamptz,
      metadata = ${JSON.stringify(p.metadata)}::jsonb, updated_at = ${p.updatedAt}::timestamptz
    where id = ${p.id}::uuid and organization_id = ${p.organizationId} returning id`

const inStatus = (sql: SqlClient.SqlClient, status: PromotionStatus, now: Date): ReadonlyArray<Statement.Fragment> => {
  switch (status) {
    case "active":
      return [
        sql`is_active and (valid_from is null or valid_from <= ${now}::timestamptz)
          and (valid_until is null or valid_until >= ${now}::timestamptz)`
      ]
    case "inactive":
      return [sql`not is_active`]
    case "expired":
      return [sql`valid_until < ${now}::timestamptz`]
    case "scheduled":
      return [sql`is_active and valid_from > ${now}::timestamptz`]
    case "all":
      return []
  }
}

/** The one unique key a request can collide with is the code; ids are our own. */
const orTaken = (error: SqlError.SqlError) =>
  error.reason._tag === "UniqueViolation"
    ? Effect.fail(Conflict.of("A promotion with this code already exists."))
    : Effect.die(error)

/** `PromotionRepo` over the database of the process. */
export const promotionRepoLayer = Layer.effect(
  PromotionRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const write = Effect.fnUntraced(function*(row: Statement.Fragment, change: Change) {
      yield* sql`with written as (${row}), event as (${changeLogInsert(sql, yield* CurrentActor, [change], "written")})
        select id from written`
    })

    const insert = Effect.fn("PromotionRepo.insert")(
      (promotion: Promotion) => Effect.as(write(newRow(sql, promotion), changeOf(promotion, null)), promotion),
      Effect.catchTag("SqlError", orTaken)
    )

    const change = Effect.fn("PromotionRepo.change")(
      function*(id: string, rule: (before: Promotion) => Result.Result<Promotion, ValidationFailed>) {
        const organization = yield* currentOrganization
        return yield* sql.withTransaction(Effect.gen(function*() {
          // Locked until the commit: the rule decides on the complete record, and no order may use it up in between.
          const rows = yield* sql<PromotionRecordRow>`select * from promotions
            where id = ${id}::uuid and organization_id = ${organization} for update`
          if (rows[0] === undefined) return yield* NotFound.of("Promotion not found.")
          const before = toPromotion(rows[0])
          const promotion = yield* Effect.fromResult(rule(before))
          if (isSameRecord(before, promotion)) return { promotion: before, changed: false }
          yield* write(changedRow(sql, promotion), changeOf(promotion, before))
          return { promotion, changed: true }
        }))
      },
      Effect.catchTag("SqlError", orTaken)
    )

    const list = Effect.fn("PromotionRepo.list")(function*(status: PromotionStatus, now: Date, page: PageRequest) {
      const where = sql.and([sql`organization_id = ${yield* currentOrganization}`, ...inStatus(sql, status, now)])
      const [rows, counted] = yield* Effect.all([
        sql<PromotionRecordRow>`select * from promotions where ${where} order by priority, id
          limit ${page.limit} offset ${offsetOf(page)}`,
        sql<{ readonly count: bigint }>`select count(*) as count from promotions where ${where}`
      ], { concurrency: "unbounded" })
      return { items: rows.map(toPromotion), ...page, total: Number(counted[0]?.count ?? 0) }
    }, Effect.orDie)

    const candidates = yield* findCandidates

    const categorySlugs = Effect.fn("PromotionRepo.categorySlugs")(function*(entityIds: ReadonlyArray<string>) {
      const organization = yield* currentOrganization
      const rows = yield* sql<{ readonly entity_id: string; readonly slugs: ReadonlyArray<string> }>`select
          ec.entity_id, array_agg(c.slug) as slugs
        from entity_categories ec join categories c on c.id = ec.category_id
        where ec.entity_id = any(${[...new Set(entityIds)]}::uuid[]) and ec.organization_id = ${organization}
        group by ec.entity_id`
      return new Map(rows.map((row) => [row.entity_id, row.slugs]))
    }, Effect.orDie)

    return PromotionRepo.of({ insert, change, list, candidates, categorySlugs })
  })
)
