import { Context, Effect, Layer } from "effect"
import type { Conflict } from "../errors/ApiErrors.ts"
import { type RecordService, recordService } from "../modules/RecordService.ts"
import { changedClass, newClass, type NewTaxClass, type TaxClass, type TaxClassChange } from "./TaxClass.ts"
import { TaxClassRepo } from "./TaxClassRepo.ts"
import { TaxRuleCache } from "./TaxRuleRepo.ts"

/**
 * Classes of goods with the same tax (contract §3.5, §3.8), by name. A new default replaces the previous one; what names
 * a removed class is taxed like the default class. 409 if the name is in use. A change reaches every process within
 * moments.
 */
export class TaxClasses extends Context.Service<
  TaxClasses,
  RecordService<TaxClass, NewTaxClass, TaxClassChange, Conflict>
>()("stoa/domain/tax/TaxClasses") {
  static readonly layer = Layer.effect(
    TaxClasses,
    Effect.gen(function*() {
      const rules = { name: "Tax class", made: newClass, changed: changedClass }
      return recordService(rules, yield* TaxClassRepo, (yield* TaxRuleCache).forget)
    })
  )
}
