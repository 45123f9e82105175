import { Context, Effect, Layer } from "effect"
import type { Conflict } from "../errors/ApiErrors.ts"
import { type RecordService, recordService } from "../modules/RecordService.ts"
import { changedRate, newRate, type NewTaxRate, type TaxRate, type TaxRateChange } from "./TaxRate.ts"
import { TaxRateRepo } from "./TaxRateRepo.ts"
import { TaxRuleCache } from "./TaxRuleRepo.ts"

/**
 * Taxes of regions (contract §3.5, §3.8), by priority. 409 when the country and state have a rate of this name. A change
 * reaches every process within moments.
 */
export class TaxRates extends Context.Service<TaxRates, RecordService<TaxRate, NewTaxRate, TaxRateChange, Conflict>>()(
  "stoa/domain/tax/TaxRates"
) {
  static readonly layer = Layer.effect(
    TaxRates,
    Effect.gen(function*() {
      const rules = { name: "Tax rate", made: newRate, changed: changedRate }
      return recordService(rules, yield* TaxRateRepo, (yield* TaxRuleCache).forget)
    })
  )
}
