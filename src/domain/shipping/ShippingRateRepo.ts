import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { NotFound } from "../errors/ApiErrors.ts"
import { recordRepo } from "../records/RecordRepo.ts"
import { recordService } from "../records/RecordService.ts"
import { Table } from "../records/Table.ts"
import { changedRate, newRate, ShippingRate } from "./ShippingRate.ts"
import { ShippingRates } from "./ShippingRates.ts"
import { ShippingRuleCache } from "./ShippingRuleRepo.ts"

export const rates = new Table("shipping_rates", ShippingRate)

/** The foreign key rejects a zone that is missing, of another organization, or being deleted concurrently. */
const orNoZone = (error: SqlError.SqlError) =>
  error.reason._tag === "ConstraintError" ? Effect.fail(NotFound.of("Shipping zone not found.")) : Effect.die(error)

/** `ShippingRates` over the database of the process. */
export const shippingRatesLayer = Layer.effect(
  ShippingRates,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const repo = recordRepo(sql, {
      table: rates,
      order: "amount, id",
      entityType: "shipping_rate",
      changes: { create: "shippingRates.create", update: "shippingRates.update", delete: "shippingRates.delete" }
    }, orNoZone)

    const rules = { name: "Shipping rate", made: newRate, changed: changedRate }
    return ShippingRates.of({
      ...recordService(rules, repo, (yield* ShippingRuleCache).forget),
      list: ({ currency, zoneId }, page) =>
        repo.list(page, [
          ...(zoneId === undefined ? [] : [sql`zone_id = ${zoneId}::uuid`]),
          ...(currency === undefined ? [] : [sql`currency = ${currency}`])
        ])
    })
  })
)
