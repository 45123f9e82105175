import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { invalid } from "../platform/errors/ErrorKinds.ts"
import { deleteRecorded } from "../platform/events/ChangeLogRepo.ts"
import type { EntityId, PriceModifierId, VariantId } from "../platform/ids/Id.ts"
import type { PageOf, PageRequest } from "../platform/paging/Paging.ts"
import { refusalOf, sqlStates } from "../platform/records/Constraints.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { type RecordRepo, recordRepo } from "../platform/resources/RecordRepo.ts"
import { PriceModifier, type PriceModifierFilter } from "./PriceModifier.ts"

export interface PriceTarget {
  readonly organizationId: string
  readonly entityId: EntityId | null
  readonly variantId: VariantId | null
}

export const TargetRow = Schema.Struct({ entityFound: Schema.Boolean, variantFound: Schema.Boolean })

class UnknownEntity extends invalid("UnknownEntity", "entityId", "is not an entity of this store.", "not_found") {}
export class UnknownVariant
  extends invalid("UnknownVariant", "variantId", "is not a variant of this entity.", "not_found")
{}

export const targetOf = (sql: SqlClient.SqlClient, { entityId, organizationId, variantId }: PriceTarget) =>
  sql`select
      (${entityId}::uuid is null or exists (select 1 from catalog_entities_read e
        where e.id = ${entityId}::uuid and e.organization_id = ${organizationId})) as "entityFound",
      (${variantId}::uuid is null or exists (select 1 from variants_read v where v.id = ${variantId}::uuid
        and v.organization_id = ${organizationId}
        and (${entityId}::uuid is null or v.entity_id = ${entityId}::uuid))) as "variantFound"`

export const isTargetGone = (error: SqlError.SqlError): boolean => refusalOf(error).state === sqlStates.foreignKey

/**
 * Price modifiers. `insert` and `change` fail for an unknown entity or variant. `remove` records the record as it was,
 * with `deleted: true`.
 */
export class PriceModifierRepo extends Context.Service<
  PriceModifierRepo,
  Pick<RecordRepo<PriceModifier, UnknownEntity | UnknownVariant>, "insert" | "change"> & {
    readonly remove: (id: PriceModifierId) => Effect.Effect<boolean, never, CurrentActor>
    readonly list: (
      filter: PriceModifierFilter,
      now: Date,
      page: PageRequest
    ) => Effect.Effect<PageOf<PriceModifier>, never, CurrentActor>
  }
>()("stoa/domain/pricing/PriceModifierRepo") {}

export const modifiers = new Table("price_modifiers", PriceModifier, { casts: { value: "float8" } })

const source = {
  table: modifiers,
  order: "priority, id",
  counted: "all",
  entityType: "price",
  changes: { create: "pricing.create", update: "pricing.update", delete: "pricing.update" }
} as const

const orTargetGone = (error: SqlError.SqlError) =>
  isTargetGone(error) ? Effect.fail(new UnknownEntity()) : Effect.die(error)

const matching = (sql: SqlClient.SqlClient, filter: PriceModifierFilter, now: Date) => {
  const holds = sql`((valid_from is null or valid_from <= ${now}::timestamptz)
    and (valid_until is null or valid_until > ${now}::timestamptz))`
  return [
    ...(filter.entityId === undefined ? [] : [sql`entity_id = ${filter.entityId}::uuid`]),
    ...(filter.currency === undefined ? [] : [sql`currency = ${filter.currency}`]),
    ...(filter.active === undefined ? [] : [filter.active ? holds : sql`not ${holds}`])
  ]
}

export const priceModifierRepoLayer = Layer.effect(
  PriceModifierRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const records = recordRepo(sql, source, orTargetGone)

    const inCatalog = Effect.fnUntraced(function*(modifier: PriceModifier) {
      const [target] = yield* Effect.orDie(decoding(sql, TargetRow)`${targetOf(sql, modifier)}`)
      if (target?.entityFound !== true) return yield* new UnknownEntity()
      if (!target.variantFound) return yield* new UnknownVariant()
      return modifier
    })

    return PriceModifierRepo.of({
      insert: (modifier) => Effect.flatMap(inCatalog(modifier), records.insert),
      change: (id, rule) => records.change(id, (before) => Effect.flatMap(rule(before), inCatalog)),
      remove: Effect.fn("PriceModifierRepo.remove")((id: PriceModifierId) =>
        deleteRecorded(sql, modifiers, id, (before: PriceModifier) => ({
          type: source.changes.delete,
          entityType: source.entityType,
          entityId: before.id,
          payload: { ...before, deleted: true },
          before
        })).pipe(
          Effect.map((deleted) => deleted !== undefined),
          Effect.orDie
        )
      ),
      list: (filter, now, page) => records.list(page, matching(sql, filter, now))
    })
  })
)
