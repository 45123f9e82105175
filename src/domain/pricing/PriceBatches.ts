import { Context, Effect, Equal, Layer } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import type { Sellable } from "../catalog/Sellables.ts"
import type { Change } from "../events/Event.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { newId } from "../ids/Id.ts"
import { type BatchResult, type Outcome, refusedFor } from "../import-export/Outcome.ts"
import { boundsIssues, boundsOver } from "./Bounds.ts"
import type { Price } from "./Price.ts"
import { PriceBatchRepo } from "./PriceBatchRepo.ts"
import type { PriceRecord } from "./PriceRecord.ts"

/** A price of a file, with what it is for; a text says why that is not there. */
export interface PlacedPrice {
  readonly record: Omit<PriceRecord, "slug" | "sku" | "options" | "customerGroup">
  readonly target: Sellable | string
}

/** Sets many prices at once, as files bring them (docs/import-export.md). */
export class PriceBatches extends Context.Service<PriceBatches, {
  /** One outcome for each price, by a constant number of statements; to be called inside of a transaction. */
  readonly apply: (prices: ReadonlyArray<PlacedPrice>) => Effect.Effect<BatchResult, never, CurrentActor>
}>()("stoa/domain/pricing/PriceBatches") {
  static readonly layer = Layer.effect(
    PriceBatches,
    Effect.gen(function*() {
      const repo = yield* PriceBatchRepo
      const hooks = yield* Hooks

      const apply = Effect.fn("PriceBatches.apply")(function*(prices: ReadonlyArray<PlacedPrice>) {
        const { organizationId } = yield* CurrentActor
        const ids = prices.flatMap(({ target }) => typeof target === "string" ? [] : [target.entityId])
        const { now, prices: stored } = yield* repo.read(ids)
        const known = new Map(stored.map((price) => [naturalKey(price), price]))
        const outcomes: Array<Outcome> = []
        const changes: Array<Change> = []
        const [created, updated]: [Array<Price>, Array<Price>] = [[], []]
        for (const { record, target } of prices) {
          if (typeof target === "string") {
            outcomes.push(refusedFor("", target, "not_found"))
            continue
          }
          const wanted = priceOver(record, target, { organizationId, now })
          const issues = boundsIssues(wanted)
          if (issues.length > 0) {
            outcomes.push({ _tag: "refused", issues })
            continue
          }
          const before = known.get(naturalKey(wanted))
          const after = before === undefined ? wanted : laidOver(before, record, now)
          known.set(naturalKey(wanted), after)
          if (after === before) outcomes.push({ _tag: "unchanged" })
          else {
            ;(before === undefined ? created : updated).push(after)
            changes.push(told(after, before))
            outcomes.push({ _tag: before === undefined ? "created" : "updated" })
          }
        }
        yield* repo.write(created, updated, changes)
        const tell = Effect.andThen(
          Effect.forEach(created, (price) => hooks.after("pricing.afterCreate", price), { discard: true }),
          Effect.forEach(updated, (price) => hooks.after("pricing.afterUpdate", price), { discard: true })
        )
        const result: BatchResult = { outcomes, told: tell }
        return result
      })

      return { apply }
    })
  )
}

/** What names a price (contract §7). */
const naturalKey = (price: Price): string =>
  JSON.stringify([
    price.entityId,
    price.variantId,
    price.currency,
    price.customerGroupId,
    price.minQuantity,
    price.maxQuantity,
    price.validFrom?.getTime(),
    price.validUntil?.getTime()
  ])

const priceOver = (
  record: PlacedPrice["record"],
  target: Sellable,
  { now, organizationId }: { readonly organizationId: string; readonly now: Date }
): Price => ({
  id: newId(),
  organizationId,
  ...target,
  currency: record.currency,
  amount: record.amount,
  compareAtAmount: record.compareAtAmount ?? null,
  ...boundsOver(record),
  metadata: record.metadata ?? {},
  createdAt: now,
  updatedAt: now
})

const laidOver = (before: Price, record: PlacedPrice["record"], now: Date): Price => {
  const { compareAtAmount, metadata } = record
  const after = {
    ...before,
    amount: record.amount,
    compareAtAmount: compareAtAmount === undefined ? before.compareAtAmount : compareAtAmount,
    metadata: metadata === undefined ? before.metadata : metadata ?? {}
  }
  return Equal.equals(after, before) ? before : { ...after, updatedAt: now }
}

const told = (price: Price, before: Price | undefined): Change => ({
  type: before === undefined ? "pricing.create" : "pricing.update",
  entityType: "price",
  entityId: price.id,
  payload: price,
  ...(before === undefined ? {} : { before })
})
