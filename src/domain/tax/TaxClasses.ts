import { Context } from "effect"
import type { Conflict } from "../errors/ApiErrors.ts"
import type { RecordService } from "../records/RecordService.ts"
import type { NewTaxClass, TaxClass, TaxClassChange } from "./TaxClass.ts"

/**
 * Classes of goods with the same tax (contract §3.5, §3.8), by name. A new default replaces the previous one; what names
 * a removed class is taxed like the default class. 409 if the name is in use. A change reaches every process within
 * moments.
 */
export class TaxClasses extends Context.Service<
  TaxClasses,
  RecordService<TaxClass, NewTaxClass, TaxClassChange, Conflict>
>()("stoa/domain/tax/TaxClasses") {}
