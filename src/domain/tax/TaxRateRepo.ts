import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Conflict } from "../errors/ApiErrors.ts"
import { recordRepo } from "../records/RecordRepo.ts"
import { recordService } from "../records/RecordService.ts"
import { Table } from "../records/Table.ts"
import { changedRate, newRate, TaxRate } from "./TaxRate.ts"
import { TaxRates } from "./TaxRates.ts"
import { TaxRuleCache } from "./TaxRuleRepo.ts"

export const rates = new Table("tax_rates", TaxRate)

const orConflict = (error: SqlError.SqlError) =>
  error.reason._tag === "UniqueViolation"
    ? Effect.fail(Conflict.of("A tax rate with this name already exists in this region."))
    : Effect.die(error)

/** `TaxRates` over the database of the process. */
export const taxRatesLayer = Layer.effect(
  TaxRates,
  Effect.gen(function*() {
    const repo = recordRepo(yield* SqlClient.SqlClient, {
      table: rates,
      order: "priority, id",
      entityType: "tax_rate",
      changes: { create: "taxRates.create", update: "taxRates.update", delete: "taxRates.delete" }
    }, orConflict)
    const rules = { name: "Tax rate", made: newRate, changed: changedRate }
    return recordService(rules, repo, (yield* TaxRuleCache).forget)
  })
)
