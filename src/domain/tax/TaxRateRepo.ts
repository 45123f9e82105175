import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Conflict } from "../errors/ApiErrors.ts"
import { type RecordRepo, recordRepo } from "../modules/RecordRepo.ts"
import { TaxRate } from "./TaxRate.ts"

/** Tax rates of regions, listed by priority, then creation. 409 when its region has a rate of this name. */
export class TaxRateRepo
  extends Context.Service<TaxRateRepo, RecordRepo<TaxRate, Conflict>>()("stoa/domain/tax/TaxRateRepo")
{}

const orConflict = (error: SqlError.SqlError) =>
  error.reason._tag === "UniqueViolation"
    ? Effect.fail(Conflict.of("A tax rate with this name already exists in this region."))
    : Effect.die(error)

/** `TaxRateRepo` over the database. */
export const taxRateRepoLayer = Layer.effect(
  TaxRateRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    recordRepo<TaxRate, Conflict>(sql, {
      table: "tax_rates",
      fields: TaxRate.fields,
      order: "priority, id",
      entityType: "tax_rate",
      changes: { create: "taxRates.create", update: "taxRates.update", delete: "taxRates.delete" }
    }, orConflict))
)
