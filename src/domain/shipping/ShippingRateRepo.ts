import { Context, Effect, Layer, type Result } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import type { Change } from "../events/Event.ts"
import { journalInsert } from "../events/JournalRepo.ts"
import { deleteTold } from "../events/ToldDeletionRepo.ts"
import { isSameRecord } from "../events/Unchanged.ts"
import { mark } from "../idempotency/MarkRepo.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { ShippingRate, ShippingRateFilter } from "./ShippingRate.ts"
import { type ShippingRateRow, toRate } from "./ShippingRows.ts"

/** All SQL of shipping rates themselves. Every change is in the journal by its own statement or transaction. */
export class ShippingRateRepo extends Context.Service<ShippingRateRepo, {
  /** A page by amount, in two statements. */
  readonly list: (
    filter: ShippingRateFilter,
    page: PageRequest
  ) => Effect.Effect<PageOf<ShippingRate>, never, CurrentActor>
  readonly find: (id: string) => Effect.Effect<ShippingRate, NotFound, CurrentActor>
  /** Writes a new rate; 404 when the organization has no such zone. */
  readonly insert: (rate: ShippingRate) => Effect.Effect<void, NotFound, CurrentActor>
  /**
   * Changes a rate by a rule that sees it as it stands; the row is locked meanwhile, so two changes follow one another.
   * A rule that changes nothing writes nothing. 404 for an unknown rate or zone, 422 as the rule says.
   */
  readonly change: (
    id: string,
    rule: (before: ShippingRate) => Result.Result<ShippingRate, ValidationFailed>
  ) => Effect.Effect<ShippingRate, NotFound | ValidationFailed, CurrentActor>
  readonly remove: (id: string) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/shipping/ShippingRateRepo") {}

const unknownRate = NotFound.of("Shipping rate not found.")

const told = (
  type: Extract<Change["type"], `shippingRates.${string}`>,
  rate: ShippingRate,
  before: ShippingRate | null
): Change => ({ type, entityType: "shipping_rate", entityId: rate.id, payload: rate, before })

/** The key refuses a rate of a zone that is not there, or is another organization's, or is deleted in this moment. */
const orNoZone = (error: SqlError.SqlError) =>
  error.reason._tag === "ConstraintError" ? Effect.fail(NotFound.of("Shipping zone not found.")) : Effect.die(error)

const writing = (sql: SqlClient.SqlClient) => {
  const insert = Effect.fn("ShippingRateRepo.insert")(function*(r: ShippingRate) {
    const actor = yield* CurrentActor
    yield* sql`with made as (
        insert into shipping_rates (id, organization_id, zone_id, name, currency, amount, min_subtotal, max_subtotal,
          min_weight_grams, max_weight_grams, free_shipping_threshold, is_active, metadata, created_at, updated_at)
        values (${r.id}::uuid, ${r.organizationId}, ${r.zoneId}::uuid, ${r.name}, ${r.currency}, ${r.amount}::bigint,
          ${r.minSubtotal}::bigint, ${r.maxSubtotal}::bigint, ${r.minWeightGrams}::bigint,
          ${r.maxWeightGrams}::bigint, ${r.freeShippingThreshold}::bigint, ${r.isActive},
          ${JSON.stringify(r.metadata)}::jsonb, ${r.createdAt}::timestamptz, ${r.updatedAt}::timestamptz)
        returning id),
      entry as (${journalInsert(sql, actor, [told("shippingRates.create", r, null)], "made")})${
      mark(sql, actor, "made")
    } select id from made`
  }, Effect.catchTag("SqlError", orNoZone))

  const change = Effect.fn("ShippingRateRepo.change")(
    function*(id: string, rule: (before: ShippingRate) => Result.Result<ShippingRate, ValidationFailed>) {
      const actor = yield* CurrentActor
      const rows = yield* sql<ShippingRateRow>`select * from shipping_rates
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for update`
      if (rows[0] === undefined) return yield* unknownRate
      const before = toRate(rows[0])
      const r = yield* Effect.fromResult(rule(before))
      if (isSameRecord(before, r)) return before
      yield* sql`with entry as (${journalInsert(sql, actor, [told("shippingRates.update", r, before)])})${
        mark(sql, actor)
      }
        update shipping_rates set zone_id = ${r.zoneId}::uuid, name = ${r.name}, currency = ${r.currency},
          amount = ${r.amount}::bigint, min_subtotal = ${r.minSubtotal}::bigint,
          max_subtotal = ${r.maxSubtotal}::bigint, min_weight_grams = ${r.minWeightGrams}::bigint,
          max_weight_grams = ${r.maxWeightGrams}::bigint,
          free_shipping_threshold = ${r.freeShippingThreshold}::bigint, is_active = ${r.isActive},
          metadata = ${JSON.stringify(r.metadata)}::jsonb, updated_at = ${r.updatedAt}::timestamptz
        where id = ${id}::uuid and organization_id = ${actor.organizationId}`
      return r
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", orNoZone)
  )

  const remove = Effect.fn("ShippingRateRepo.remove")(function*(id: string) {
    const gone = (row: ShippingRateRow) => told("shippingRates.delete", toRate(row), toRate(row))
    if ((yield* deleteTold(sql, "shipping_rates", id, gone)) === undefined) return yield* unknownRate
  }, Effect.catchTag("SqlError", Effect.die))

  return { insert, change, remove }
}

/** `ShippingRateRepo` over the database of the process. */
export const shippingRateRepoLayer = Layer.effect(
  ShippingRateRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = Effect.fn("ShippingRateRepo.find")(function*(id: string) {
      const rows = yield* sql<ShippingRateRow>`select * from shipping_rates
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return rows[0] === undefined ? yield* unknownRate : toRate(rows[0])
    }, Effect.catchTag("SqlError", Effect.die))

    const rows = { table: "shipping_rates", order: "amount, id", toRecord: toRate }
    const list = Effect.fn("ShippingRateRepo.list")((filter: ShippingRateFilter, page: PageRequest) =>
      Effect.orDie(ownPage(sql, rows, page, [
        ...(filter.zoneId === undefined ? [] : [sql`zone_id = ${filter.zoneId}::uuid`]),
        ...(filter.currency === undefined ? [] : [sql`currency = ${filter.currency}`])
      ]))
    )

    return ShippingRateRepo.of({ find, list, ...writing(sql) })
  })
)
