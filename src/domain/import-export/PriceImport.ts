import { Effect, Equal, Result, Schema, Struct } from "effect"
import { sellableFields, Sellables } from "../catalog/Sellables.ts"
import { RowBatchRepo } from "../platform/batching/RowBatchRepo.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { CustomerGroupId, newId } from "../platform/ids/Id.ts"
import { Table } from "../platform/records/Table.ts"
import { withSent } from "../platform/resources/RecordService.ts"
import { maybe } from "../platform/text/Fields.ts"
import { Text } from "../platform/text/Storable.ts"
import { sentBounds } from "../pricing/Bounds.ts"
import { type Price, priceOf, SetPrice } from "../pricing/Price.ts"
import { prices } from "../pricing/PriceRepo.ts"
import { refused, upsertOf } from "./Upsert.ts"

/**
 * A price in minor units. Target, currency, group, quantities and times identify it. `customerGroup` is the name of a
 * group.
 */
export const PriceRecord = Schema.Struct({
  ...sellableFields,
  ...Struct.pick(SetPrice.fields, ["currency", "amount", "compareAtAmount"]),
  customerGroup: maybe(Text),
  ...sentBounds,
  metadata: SetPrice.fields.metadata
}).annotate({ identifier: "PriceRecord" })
export type PriceRecord = typeof PriceRecord.Type

export const namedGroups = new Table("customer_groups", Schema.Struct({ id: CustomerGroupId, name: Schema.String }))

export const priceImport = Effect.gen(function*() {
  const rows = yield* RowBatchRepo
  const hooks = yield* Hooks
  const sellables = yield* Sellables

  /** Locks every price of the entities and their variants. */
  const load = Effect.fn("PriceImport.load")(function*(sent: ReadonlyArray<PriceRecord>) {
    const targets = yield* sellables.find(sent)
    const names = sent.flatMap(({ customerGroup }) => customerGroup ?? [])
    const groups = yield* rows.find(namedGroups, "name", names, "key share")
    const ids = targets.flatMap((target) => typeof target === "string" ? [] : [target.entityId])
    const stored = yield* rows.find(prices, "entity_id", ids, "no key update")
    return {
      targets,
      groups: new Map(groups.map(({ id, name }) => [name, id])),
      stored: new Map(stored.map((price) => [naturalKey(price), price]))
    }
  })

  return yield* upsertOf(load, (record, { groups, now, organizationId, stored, targets }, draft, index) => {
    const { amount, compareAtAmount, customerGroup, metadata } = record
    const target = targets[index] ?? ""
    if (typeof target === "string") return refused("", target, "not_found")
    const customerGroupId = typeof customerGroup === "string" ? groups.get(customerGroup) : record.customerGroupId
    if (typeof customerGroup === "string" && customerGroupId === undefined) {
      return refused("", `There is no customer group called '${customerGroup}'.`, "not_found")
    }
    const { entityId, variantId } = target
    const made = priceOf({ ...record, entityId, variantId, customerGroupId }, { id: newId(), organizationId, now })
    if (Result.isFailure(made)) return Result.fail(made.failure.error.details.issues)
    const key = naturalKey(made.success)
    const before = stored.get(key)
    const after = before === undefined
      ? made.success
      : withSent(before, { amount, compareAtAmount, metadata: metadata === null ? {} : metadata })
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

const naming = ["entityId", "variantId", "currency", ...Struct.keys(sentBounds)] as const

/** What names a price (contract §7). */
const naturalKey = (price: Price): string => JSON.stringify(naming.map((field) => price[field]))
