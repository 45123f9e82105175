import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { EntityId, PluginCall, VariantId } from "stoa/plugin"
import { firstWarehouse, type Goods, stockOf } from "./ChannelMapRepo.ts"
import { offeredUnits } from "./StoreRules.ts"
import type { Store } from "./StoreTables.ts"

/** Units that a store can sell of something that it ships for us; null: it does not count them. */
export interface StoreLevel {
  readonly entityId: EntityId
  readonly variantId: VariantId | null
  readonly available: number | null
}

export type CatalogCall = Pick<PluginCall, "db" | "jobs" | "services" | "organizationId">

/** The warehouse that has the stock of a store. */
export const warehouseOf = Effect.fnUntraced(function*({ db, services }: CatalogCall, { warehouseId }: Store) {
  const found = warehouseId ?? (yield* db.use(firstWarehouse)())
  if (found !== undefined) return found
  const { id } = yield* Effect.catch(
    services.inventory.createWarehouse({ code: "channels", name: "Channels" }),
    Effect.die
  )
  return id
})

/**
 * Brings what is on hand to what the store has, and gives how many levels that changed (contract-tills-channels, amendment 45): units
 * that it has taken off for our orders are still on hand here, because these orders hold them. Equal levels write nothing:
 * a lock would be a version of a row for each. Call it in a transaction, after other locks: where some differ it locks the stock,
 * so that no posting comes between the second look and the change.
 */
export const settleStock = Effect.fn("StoreStock.settle")(
  function*(call: CatalogCall, store: Store, levels: ReadonlyArray<StoreLevel>) {
    const goods: ReadonlyArray<Goods> = levels.map(({ entityId, variantId }) => ({ entityId, variantId }))
    if (goods.length === 0) return 0
    const { db, services } = call
    const warehouseId = yield* warehouseOf(call, store)
    const differing = Effect.map(
      db.use(stockOf)(store.id, warehouseId, goods),
      (found) =>
        levels.flatMap(({ available, ...sellable }, at) => {
          const { isCounted = false, onHand = 0, taken = 0 } = found[at] ?? {}
          if (available === null || !isCounted) return []
          const delta = (offeredUnits(store, available) ?? 0) + taken - onHand
          return delta === 0
            ? []
            : [{ ...sellable, warehouseId, delta, type: "adjustment" as const, allowNegative: true, reason: "channel" }]
        })
    )
    if ((yield* differing).length === 0) return 0
    yield* services.inventory.lock(goods)
    const lines = yield* differing
    if (lines.length > 0) {
      yield* Effect.catch(
        services.inventory.post({ type: "channel-stock", id: randomUUID() }, lines),
        Effect.die
      )
    }
    return lines.length
  }
)
