import { Context, Effect, Layer, type Result } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { deleteRecorded } from "../events/RecordedDeletionRepo.ts"
import { isSameRecord } from "../events/Unchanged.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { columnsOf } from "../modules/RecordColumns.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { ShippingRate, type ShippingRateFilter } from "./ShippingRate.ts"

/** Shipping rates. Every change writes its change log entry in the same statement or transaction. */
export class ShippingRateRepo extends Context.Service<ShippingRateRepo, {
  /** A page by amount, in two statements. */
  readonly list: (
    filter: ShippingRateFilter,
    page: PageRequest
  ) => Effect.Effect<PageOf<ShippingRate>, never, CurrentActor>
  readonly find: (id: string) => Effect.Effect<ShippingRate, NotFound, CurrentActor>
  /** Inserts a rate; 404 when the organization has no such zone. */
  readonly insert: (rate: ShippingRate) => Effect.Effect<void, NotFound, CurrentActor>
  /**
   * Changes a rate by a rule that gets the locked row. A rule without a change writes nothing. 404 for an unknown rate or zone, 422 by the rule.
   */
  readonly change: (
    id: string,
    rule: (before: ShippingRate) => Result.Result<ShippingRate, ValidationFailed>
  ) => Effect.Effect<ShippingRate, NotFound | ValidationFailed, CurrentActor>
  readonly remove: (id: string) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/shipping/ShippingRateRepo") {}

const unknownRate = NotFound.of("Shipping rate not found.")

const source = {
  table: "shipping_rates",
  columns: columnsOf(ShippingRate.fields, undefined, {
    amount: "amount::float8",
    minSubtotal: "min_subtotal::float8",
    maxSubtotal: "max_subtotal::float8",
    minWeightGrams: "min_weight_grams::float8",
    maxWeightGrams: "max_weight_grams::float8",
    freeShippingThreshold: "free_shipping_threshold::float8"
  }),
  order: "amount, id"
}

const toChange = (
  type: Extract<Change["type"], `shippingRates.${string}`>,
  rate: ShippingRate,
  before: ShippingRate | null
): Change => ({ type, entityType: "shipping_rate", entityId: rate.id, payload: rate, before })

/** The foreign key rejects a zone that is missing, of another organization, or being deleted concurrently. */
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
      entry as (${changeLogInsert(sql, actor, [toChange("shippingRates.create", r, null)], "made")})${
      idempotencyRecord(sql, actor, "made")
    } select id from made`
  }, Effect.catchTag("SqlError", orNoZone))

  const change = Effect.fn("ShippingRateRepo.change")(
    function*(id: string, rule: (before: ShippingRate) => Result.Result<ShippingRate, ValidationFailed>) {
      const actor = yield* CurrentActor
      const [before] = yield* sql<ShippingRate>`select ${sql.literal(source.columns)} from shipping_rates
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for update`
      if (before === undefined) return yield* unknownRate
      const r = yield* Effect.fromResult(rule(before))
      if (isSameRecord(before, r)) return before
      yield* sql`with entry as (${changeLogInsert(sql, actor, [toChange("shippingRates.update", r, before)])})${
        idempotencyRecord(sql, actor)
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
    const change = (deleted: ShippingRate) => toChange("shippingRates.delete", deleted, deleted)
    if ((yield* deleteRecorded(sql, source, id, change)) === undefined) return yield* unknownRate
  }, Effect.catchTag("SqlError", Effect.die))

  return { insert, change, remove }
}

/** `ShippingRateRepo` over the database. */
export const shippingRateRepoLayer = Layer.effect(
  ShippingRateRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = Effect.fn("ShippingRateRepo.find")(function*(id: string) {
      const rows = yield* sql<ShippingRate>`select ${sql.literal(source.columns)} from shipping_rates
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return rows[0] ?? (yield* unknownRate)
    }, Effect.catchTag("SqlError", Effect.die))

    const list = Effect.fn("ShippingRateRepo.list")((filter: ShippingRateFilter, page: PageRequest) =>
      Effect.orDie(ownPage<ShippingRate>(sql, source, page, [
        ...(filter.zoneId === undefined ? [] : [sql`zone_id = ${filter.zoneId}::uuid`]),
        ...(filter.currency === undefined ? [] : [sql`currency = ${filter.currency}`])
      ]))
    )

    return ShippingRateRepo.of({ find, list, ...writing(sql) })
  })
)
