import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { CurrentActor } from "../access/Actor.ts"
import { ValidationFailed } from "../errors/ApiErrors.ts"
import { deleteRecorded } from "../events/RecordedDeletionRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { type RecordRepo, recordRepo } from "../records/RecordRepo.ts"
import { Table } from "../records/Table.ts"
import { PriceModifier, type PriceModifierFilter } from "./PriceModifier.ts"
import { isTargetGone, targetOf, type TargetRow } from "./PriceTargetRepo.ts"

/**
 * All SQL of price modifiers. `insert` and `change` fail if the organization has no such entity or variant. `remove`
 * records a change of the price whose payload is the record as it was, with `deleted: true`.
 */
export class PriceModifierRepo extends Context.Service<
  PriceModifierRepo,
  Pick<RecordRepo<PriceModifier, ValidationFailed>, "insert" | "change"> & {
    /** False for an unknown id. */
    readonly remove: (id: string) => Effect.Effect<boolean, never, CurrentActor>
    /** A page of modifiers in order of application. */
    readonly list: (
      filter: PriceModifierFilter,
      now: Date,
      page: PageRequest
    ) => Effect.Effect<PageOf<PriceModifier>, never, CurrentActor>
  }
>()("stoa/domain/pricing/PriceModifierRepo") {}

/** Adjustments of prices. */
export const modifiers = new Table("price_modifiers", PriceModifier, { casts: { value: "float8" } })

const source = {
  table: modifiers,
  order: "priority, id",
  entityType: "price",
  changes: { create: "pricing.create", update: "pricing.update", delete: "pricing.update" }
} as const

const unknownEntity = ValidationFailed.of("entityId", "is not an entity of this store")
const unknownVariant = ValidationFailed.of("variantId", "is not a variant of this entity")

const orTargetGone = (error: SqlError.SqlError) => isTargetGone(error) ? Effect.fail(unknownEntity) : Effect.die(error)

const matching = (sql: SqlClient.SqlClient, filter: PriceModifierFilter, now: Date) => {
  const holds = sql`((valid_from is null or valid_from <= ${now}::timestamptz)
    and (valid_until is null or valid_until >= ${now}::timestamptz))`
  return [
    ...(filter.entityId === undefined ? [] : [sql`entity_id = ${filter.entityId}::uuid`]),
    ...(filter.currency === undefined ? [] : [sql`currency = ${filter.currency}`]),
    ...(filter.active === undefined ? [] : [filter.active ? holds : sql`not ${holds}`])
  ]
}

/** `PriceModifierRepo` over the database of the process. */
export const priceModifierRepoLayer = Layer.effect(
  PriceModifierRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const records = recordRepo(sql, source, orTargetGone)

    /** Neither an entity's organization nor a variant's entity changes; foreign keys see concurrent deletions. */
    const inCatalog = Effect.fnUntraced(function*(modifier: PriceModifier) {
      const [target] = yield* Effect.orDie(sql<TargetRow>`${targetOf(sql, modifier)}`)
      if (target?.entity_found !== true) return yield* unknownEntity
      if (!target.variant_found) return yield* unknownVariant
      return modifier
    })

    return PriceModifierRepo.of({
      insert: (modifier) => Effect.flatMap(inCatalog(modifier), records.insert),
      change: (id, rule) => records.change(id, (before) => Effect.flatMap(rule(before), inCatalog)),
      remove: Effect.fn("PriceModifierRepo.remove")((id: string) =>
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
