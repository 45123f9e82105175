import { Context, Effect, Equal, Layer, Result } from "effect"
import { currentOrganization } from "../access/Actor.ts"
import type { Sellable } from "../catalog/Sellables.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { newId } from "../ids/Id.ts"
import type { ImportTable } from "../import-export/ImportBatch.ts"
import { refused, type Upsert, upsertOf } from "../import-export/Upsert.ts"
import { boundsIssues, boundsOver } from "./Bounds.ts"
import type { Price } from "./Price.ts"
import { PriceImportRepo } from "./PriceImportRepo.ts"
import type { PriceRecord } from "./PriceRecord.ts"

/** A price in a file with its target; a text says why the target was not found. */
export interface TargetedPrice {
  readonly record: Omit<PriceRecord, "slug" | "sku" | "options" | "customerGroup">
  readonly target: Sellable | string
}

const prices: ImportTable = {
  name: "prices",
  columns: {
    id: "uuid",
    entityId: "uuid",
    variantId: "uuid",
    currency: "text",
    amount: "bigint",
    compareAtAmount: "bigint",
    customerGroupId: "text",
    minQuantity: "int",
    maxQuantity: "int",
    validFrom: "timestamptz",
    validUntil: "timestamptz",
    metadata: "jsonb",
    createdAt: "timestamptz",
    updatedAt: "timestamptz"
  },
  key: "id",
  updates: ["amount", "compare_at_amount", "metadata", "updated_at"]
}

/** Imports prices. */
export class PriceImport extends Context.Service<PriceImport, {
  readonly upsert: Upsert<TargetedPrice>
}>()("stoa/domain/pricing/PriceImport") {
  static readonly layer = Layer.effect(
    PriceImport,
    Effect.gen(function*() {
      const repo = yield* PriceImportRepo
      const hooks = yield* Hooks

      const load = Effect.fnUntraced(function*(sent: ReadonlyArray<TargetedPrice>) {
        const organizationId = yield* currentOrganization
        const ids = sent.flatMap(({ target }) => typeof target === "string" ? [] : [target.entityId])
        const { now, prices: stored } = yield* repo.read(ids)
        return { organizationId, now, stored: new Map(stored.map((price) => [naturalKey(price), price])) }
      })

      const upsert = yield* upsertOf(load, ({ record, target }, { now, organizationId, stored }, draft) => {
        if (typeof target === "string") return refused("", target, "not_found")
        const wanted = priceOf(record, target, { organizationId, now })
        const issues = boundsIssues(wanted)
        if (issues.length > 0) return Result.fail(issues)
        const before = stored.get(naturalKey(wanted))
        const after = before === undefined ? wanted : changedPrice(before, record, now)
        stored.set(naturalKey(wanted), after)
        if (after === before) return Result.succeed("known")
        const entry = { entityType: "price", entityId: after.id, payload: after } as const
        draft.put(prices, after)
        draft.change(
          before === undefined ? { type: "pricing.create", ...entry } : { type: "pricing.update", ...entry, before }
        )
        draft.after(hooks.after(before === undefined ? "pricing.afterCreate" : "pricing.afterUpdate", after))
        return Result.succeed(before === undefined ? "new" : "known")
      })
      return { upsert }
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

const priceOf = (
  record: TargetedPrice["record"],
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

const changedPrice = (before: Price, { amount, compareAtAmount, metadata }: TargetedPrice["record"], now: Date) => {
  const after: Price = {
    ...before,
    amount,
    compareAtAmount: compareAtAmount === undefined ? before.compareAtAmount : compareAtAmount,
    metadata: metadata === undefined ? before.metadata : metadata ?? {}
  }
  return Equal.equals(after, before) ? before : { ...after, updatedAt: now }
}
