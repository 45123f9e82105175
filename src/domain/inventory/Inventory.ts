import { Context, Effect, Layer, Result } from "effect"
import { CurrentActor } from "../platform/access/Actor.ts"
import { ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { type EntityId, isUuid, newId, type OrderId } from "../platform/ids/Id.ts"
import { HoldRepo } from "./HoldRepo.ts"
import { ManualHoldRepo } from "./ManualHoldRepo.ts"
import { OrderHoldRepo } from "./OrderHoldRepo.ts"
import { countReservations, ReservationRepo } from "./ReservationRepo.ts"
import {
  type Adjustment,
  adjustmentOf,
  type AdjustStock,
  adjustStock,
  type ManualStock,
  type ResultingStock
} from "./StockAdjustment.ts"
import { type AvailableStock, type StockLevel, withUnitCost } from "./StockLevel.ts"
import { postingOf, type PostingReference, type StockPostingLine } from "./StockPosting.ts"
import { StockPostingRepo } from "./StockPostingRepo.ts"
import { type AdjustableStock, StockRepo, type StockTarget } from "./StockRepo.ts"
import { allocateStock, isAllocated, type WarehouseStock } from "./StockRules.ts"
import { WarehouseRepo } from "./WarehouseRepo.ts"

export class StockedEntityNotFound extends notFound("StockedEntity", "No such entity.") {}
export class StockedVariantNotFound extends notFound("StockedVariant", "No such variant of this entity.") {}
export class WarehouseNotFound extends notFound("Warehouse", "No such warehouse.") {}
/** What is not counted has no stock to change (contract-commerce §1). */
export class NotCounted extends invalid(
  "NotCounted",
  (path: string) => path,
  (path: string) => `${path} names goods that are not counted. Set their manageInventory to true first.`,
  "not_counted"
) {}
export class InsufficientStock extends invalid(
  "InsufficientStock",
  "",
  (available: number, requested: number) => `Insufficient stock. Available: ${available}, requested: ${requested}.`,
  "insufficient_stock"
) {}

const optimisticTries = 2

/**
 * Corrections of stock and reservations by hand (spec 4, contract 6). Checkouts reserve at the stock entity instead.
 */
export class Inventory extends Context.Service<Inventory>()("stoa/domain/inventory/Inventory", {
  make: Effect.gen(function*() {
    const hooks = yield* Hooks
    const stock = yield* StockRepo
    const places = yield* WarehouseRepo
    /** Changes what is on hand; 404 for an unknown entity, variant or warehouse, 422 below zero or what is reserved, and for goods that are not counted. */
    const adjust = makeAdjust(stock, yield* ReservationRepo, places)
    const holds = yield* ManualHoldRepo
    const postings = yield* StockPostingRepo
    return {
      adjust: Effect.fn("Inventory.adjust")(function*(body: AdjustStock) {
        const listened = Effect.tap(adjust(body), ({ level }) => hooks.after("inventory.afterAdjust", level))
        const { level, ...change } = yield* hooks.has("inventory.afterAdjust")
          ? stock.together(listened)
          : adjust(body)
        return { ...level, ...change }
      }),
      /** Reserves for an order until it is released, cancelled or shipped; 404 without a level, 422 when short. */
      reserve: Effect.fn("Inventory.reserve")((body: ManualStock) =>
        holds.reserve(toHold(body), (levels) => allocate(body, levels)).pipe(
          Effect.tap(countReservations("granted", 1)),
          Effect.tapError(() => countReservations("refused", 1))
        )
      ),
      /** Releases at most what the order has reserved by hand; 404 if that is nothing. */
      release: Effect.fn("Inventory.release")((body: ManualStock) => Effect.asVoid(holds.release(toHold(body)))),
      /** Locks the stock of goods until the caller's transaction ends, before parts of it are posted or come back. */
      lock: postings.lock,
      /**
       * Posts the lines of a document, all or none, and once: a repeated call has the same answer. Joins the caller's
       * transaction; post once in it, after its other locks. 409 for other lines under the same reference, 404 for
       * unknown goods and warehouses, 422 for lines that cannot be posted.
       */
      post: Effect.fn("Inventory.post")(function*(reference: PostingReference, lines: ReadonlyArray<StockPostingLine>) {
        const posting = yield* Effect.fromResult(
          Result.mapError(postingOf({ reference, lines }), ValidationFailed.issues)
        )
        if (!hooks.has("inventory.afterAdjust")) return (yield* postings.post(posting)).posted
        return (yield* stock.together(
          Effect.tap(
            postings.post(posting),
            ({ levels }) =>
              Effect.forEach(levels, (level) => hooks.after("inventory.afterAdjust", level), { discard: true })
          )
        )).posted
      }),
      available: (entityIds: ReadonlyArray<EntityId>) =>
        entityIds.length === 0
          ? Effect.succeed<AvailableStock>({})
          : stock.available(entityIds),
      levels: stock.levels,
      createWarehouse: places.create,
      warehouses: places.list
    }
  })
}) {
  static readonly layer = Layer.effect(Inventory, Inventory.make)
}

/** Stock that orders hold. Joins the caller's transaction: an order and its stock change together. */
export class OrderStock extends Context.Service<OrderStock>()("stoa/domain/inventory/OrderStock", {
  make: Effect.gen(function*() {
    const holds = yield* HoldRepo
    return {
      ...yield* OrderHoldRepo,
      release: (orderId: OrderId) => Effect.asVoid(holds.releaseSold(orderId)),
      handOver: holds.fulfilSold,
      returnToHold: holds.returnToHold
    }
  })
}) {
  static readonly layer = Layer.effect(OrderStock, OrderStock.make)
}

const toHold = ({ entityId, orderId, performedBy, quantity, variantId, warehouseId }: ManualStock) => ({
  // Normalize the order id to lower case: the end of the order must find this hold.
  orderId: isUuid(orderId) ? orderId.toLowerCase() : orderId,
  quantity,
  entityId,
  sellable: variantId ?? entityId,
  warehouseId: warehouseId ?? null,
  performedBy: performedBy ?? null
})

const allocate = (body: ManualStock, levels: ReadonlyArray<WarehouseStock>) => {
  const { quantity, sellable } = toHold(body)
  return Result.mapBoth(allocateStock([{ sellable, quantity }], { get: () => ({ levels, backordered: 0 }) }), {
    onSuccess: (units) => units.filter(isAllocated),
    onFailure: ({ available, requested }) => new InsufficientStock(available, requested)
  })
}

const nextLevel = ({ level }: AdjustableStock, body: AdjustStock, change: ResultingStock): StockLevel => ({
  ...withUnitCost(level, body.unitCost),
  quantityOnHand: change.after,
  available: change.after - level.quantityReserved,
  reorderThreshold: body.reorderThreshold === undefined ? level.reorderThreshold : body.reorderThreshold,
  reorderQuantity: body.reorderQuantity === undefined ? level.reorderQuantity : body.reorderQuantity,
  // For this level only: an adjustment was allowed to go below what is reserved. It permits no later one.
  allowNegative: change.after < level.quantityReserved,
  version: level.version + 1,
  lastRestockedAt: change.restocks ? level.updatedAt : level.lastRestockedAt
})

const decide = (from: AdjustableStock, body: AdjustStock, adjustment: Adjustment) =>
  Effect.gen(function*() {
    if (!from.entityKnown) return yield* new StockedEntityNotFound()
    if (!from.variantKnown) return yield* new StockedVariantNotFound()
    if (!from.counted) return yield* new NotCounted("entityId")
    if (from.warehouseId === null) return yield* new WarehouseNotFound()
    const { quantityOnHand: onHand, quantityReserved: reserved } = from.level
    const { allowNegative = false } = body
    const change = yield* Effect.fromResult(adjustStock({ onHand, reserved, allowNegative }, adjustment))
    return { change, level: nextLevel(from, body, change) }
  })

const makeAdjust = (
  stock: StockRepo["Service"],
  reservations: ReservationRepo["Service"],
  warehouses: WarehouseRepo["Service"]
) => {
  const read = Effect.fnUntraced(function*(target: StockTarget) {
    const found = yield* stock.adjustable(target)
    if (found.warehouseId !== null || !found.entityKnown) return found
    yield* warehouses.ensureDefault
    return yield* stock.adjustable(target)
  })
  const attempt = Effect.fnUntraced(function*(target: StockTarget, body: AdjustStock, adjustment: Adjustment) {
    const from = yield* read(target)
    const { change: { after, before, delta, movement: type }, level } = yield* decide(from, body, adjustment)
    const { performedBy = null, reason = null, referenceId = null, referenceType = null } = body
    const by = performedBy ?? (yield* CurrentActor).userId
    const movement = { id: newId(), type, delta, reason, referenceId, referenceType, performedBy: by }
    const written = yield* stock.adjust(from, level, movement)
    if (!written) return undefined
    // Units that come in may be allocated to orders that wait for them.
    const shown = from.backordered === 0 ? level : (yield* stock.adjustable(target)).level
    return { level: shown, before, after, delta, movementId: movement.id }
  })
  return Effect.fnUntraced(function*(body: AdjustStock) {
    const target = { entityId: body.entityId, variantId: body.variantId ?? null, warehouseId: body.warehouseId ?? null }
    const sellable = target.variantId ?? target.entityId
    const adjustment = yield* Effect.fromResult(adjustmentOf(body))
    for (let tries = 0;; tries++) {
      const once = Effect.result(attempt(target, body, adjustment))
      const adjusted = yield* Effect.fromResult(
        yield* (tries < optimisticTries ? once : reservations.alone([], [sellable], once))
      )
      if (adjusted !== undefined) return adjusted
    }
  })
}
