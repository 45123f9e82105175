import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { CurrentActor } from "../access/Actor.ts"
import { NotFound } from "../errors/ApiErrors.ts"
import { type RecordRepo, recordRepo } from "../modules/RecordRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { ShippingRate, type ShippingRateFilter } from "./ShippingRate.ts"

/** Shipping rates, listed by amount. 404 when the organization has no such zone. */
export class ShippingRateRepo extends Context.Service<
  ShippingRateRepo,
  RecordRepo<ShippingRate, NotFound> & {
    readonly listOf: (
      filter: ShippingRateFilter,
      page: PageRequest
    ) => Effect.Effect<PageOf<ShippingRate>, never, CurrentActor>
  }
>()("stoa/domain/shipping/ShippingRateRepo") {}

/** The foreign key rejects a zone that is missing, of another organization, or being deleted concurrently. */
const orNoZone = (error: SqlError.SqlError) =>
  error.reason._tag === "ConstraintError" ? Effect.fail(NotFound.of("Shipping zone not found.")) : Effect.die(error)

/** `ShippingRateRepo` over the database. */
export const shippingRateRepoLayer = Layer.effect(
  ShippingRateRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const repo = recordRepo<ShippingRate, NotFound>(sql, {
      table: "shipping_rates",
      fields: ShippingRate.fields,
      expressions: {
        amount: "amount::float8",
        minSubtotal: "min_subtotal::float8",
        maxSubtotal: "max_subtotal::float8",
        minWeightGrams: "min_weight_grams::float8",
        maxWeightGrams: "max_weight_grams::float8",
        freeShippingThreshold: "free_shipping_threshold::float8"
      },
      order: "amount, id",
      entityType: "shipping_rate",
      changes: { create: "shippingRates.create", update: "shippingRates.update", delete: "shippingRates.delete" }
    }, orNoZone)

    return ShippingRateRepo.of({
      ...repo,
      listOf: ({ currency, zoneId }, page) =>
        repo.list(page, [
          ...(zoneId === undefined ? [] : [sql`zone_id = ${zoneId}::uuid`]),
          ...(currency === undefined ? [] : [sql`currency = ${currency}`])
        ])
    })
  })
)
