import { Context } from "effect"
import type { Conflict } from "../errors/ApiErrors.ts"
import type { RecordService } from "../records/RecordService.ts"
import type { NewTaxRate, TaxRate, TaxRateChange } from "./TaxRate.ts"

/**
 * Taxes of regions (contract §3.5, §3.8), by priority. 409 when the country and state have a rate of this name. A change
 * reaches every process within moments.
 */
export class TaxRates extends Context.Service<TaxRates, RecordService<TaxRate, NewTaxRate, TaxRateChange, Conflict>>()(
  "stoa/domain/tax/TaxRates"
) {}
