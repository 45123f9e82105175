import { Effect, Equal, Result } from "effect"
import type { RowTable } from "../batching/RowBatch.ts"
import { RowBatchRepo } from "../batching/RowBatchRepo.ts"
import { Sellables } from "../catalog/Sellables.ts"
import { groupsTable } from "../customers/CustomerImport.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { newId } from "../ids/Id.ts"
import { refused, upsertOf } from "../import-export/Upsert.ts"
import { boundsIssues, boundsOver } from "./Bounds.ts"
import type { Price } from "./Price.ts"
import type { PriceRecord } from "./PriceRecord.ts"

const prices: RowTable = {
  name: "prices",
  columns: "id, organization_id, entity_id, variant_id, currency, amount, compare_at_amount, customer_group_id, " +
    "min_quantity, max_quantity, valid_from, valid_until, metadata, created_at, updated_at",
  key: "id",
  updates: ["amount", "compare_at_amount", "metadata", "updated_at"]
}

/** Imports prices. */
export const priceImport = Effect.gen(function*() {
  const rows = yield* RowBatchRepo
  const hooks = yield* Hooks
  const sellables = yield* Sellables

  /** Locks every price of the entities and their variants. */
  const load = Effect.fn("PriceImport.load")(function*(sent: ReadonlyArray<PriceRecord>) {
    const targets = yield* sellables.find(sent)
    const names = sent.flatMap(({ customerGroup }) => customerGroup ?? [])
    const groups = yield* rows.find<{ readonly id: string; readonly name: string }>(
      groupsTable,
      "name",
      names,
      "key share"
    )
    const ids = targets.flatMap((target) => typeof target === "string" ? [] : [target.entityId])
    const stored = yield* rows.find<Price>(prices, "entity_id", ids, "no key update")
    return {
      targets,
      groups: new Map(groups.map(({ id, name }) => [name, id])),
      stored: new Map(stored.map((price) => [naturalKey(price), price]))
    }
  })

  return yield* upsertOf(load, (record, { groups, now, organizationId, stored, targets }, draft, index) => {
    const { amount, compareAtAmount, currency, customerGroup, metadata } = record
    const target = targets[index] ?? ""
    if (typeof target === "string") return refused("", target, "not_found")
    const customerGroupId = typeof customerGroup === "string" ? groups.get(customerGroup) : record.customerGroupId
    if (typeof customerGroup === "string" && customerGroupId === undefined) {
      return refused("", `There is no customer group called '${customerGroup}'.`, "not_found")
    }
    const bounds = boundsOver({ ...record, customerGroupId })
    const issues = boundsIssues(bounds)
    if (issues.length > 0) return Result.fail(issues)
    const times = { createdAt: now, updatedAt: now }
    const blank = {
      id: newId(),
      organizationId,
      ...target,
      currency,
      amount,
      compareAtAmount: null,
      ...bounds,
      ...times
    }
    const key = naturalKey(blank)
    const before = stored.get(key)
    const base: Price = before ?? { ...blank, metadata: {} }
    const after = {
      ...base,
      amount,
      compareAtAmount: compareAtAmount === undefined ? base.compareAtAmount : compareAtAmount,
      metadata: metadata === undefined ? base.metadata : metadata ?? {}
    }
    if (Equal.equals(after, before)) return Result.succeed("stored")
    const payload = { ...after, updatedAt: now }
    stored.set(key, payload)
    draft.put(prices, payload)
    const type = before === undefined ? "pricing.create" : "pricing.update"
    draft.change({ type, entityType: "price", entityId: payload.id, payload, before: before ?? null })
    draft.after(hooks.after(before === undefined ? "pricing.afterCreate" : "pricing.afterUpdate", payload))
    return Result.succeed(before === undefined ? "new" : "stored")
  })
})

/** What names a price (contract §7). */
const naturalKey = (price: Omit<Price, "metadata">): string =>
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
