import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { Sellables } from "../catalog/Sellables.ts"
import { GroupNames } from "../customers/GroupNames.ts"
import { PriceBatches } from "../pricing/PriceBatches.ts"
import type { PriceRecord } from "../pricing/PriceRecord.ts"
import type { BatchResult } from "./Outcome.ts"

/** Prices of files, with what they are for and for whom. */
export class PlacedPrices extends Context.Service<PlacedPrices, {
  readonly apply: (records: ReadonlyArray<PriceRecord>) => Effect.Effect<BatchResult, never, CurrentActor>
}>()("stoa/domain/import-export/PlacedPrices") {
  static readonly layer = Layer.effect(
    PlacedPrices,
    Effect.gen(function*() {
      const sellables = yield* Sellables
      const groups = yield* GroupNames
      const prices = yield* PriceBatches

      const apply = Effect.fn("PlacedPrices.apply")(function*(records: ReadonlyArray<PriceRecord>) {
        const targets = yield* sellables.find(records)
        const ids = yield* groups.idsOf(records.flatMap(({ customerGroup }) => customerGroup ?? []))
        return yield* prices.apply(
          records.map(({ customerGroup, options: _, sku: __, slug: ___, ...record }, index) => {
            const target = targets[index] ?? ""
            if (typeof customerGroup !== "string") return { record, target }
            const customerGroupId = ids.get(customerGroup)
            return customerGroupId === undefined
              ? { record, target: `There is no customer group called '${customerGroup}'.` }
              : { record: { ...record, customerGroupId }, target }
          })
        )
      })

      return { apply }
    })
  )
}
