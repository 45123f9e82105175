import { Context, DateTime, Effect, Layer, Result, Struct } from "effect"
import { CatalogSettings } from "../catalog/CatalogSettings.ts"
import { policyOf } from "../catalog/TypePolicy.ts"
import { Inventory } from "../inventory/Inventory.ts"
import { CustomerOrders } from "../orders/CustomerOrders.ts"
import { OrderNotFound } from "../orders/Order.ts"
import { Orders } from "../orders/Orders.ts"
import { type Actor, CurrentActor } from "../platform/access/Actor.ts"
import { newId, type OrderId, type ReturnId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { StoreSettings } from "../platform/settings/StoreSettings.ts"
import {
  type Approval,
  type NewReturn,
  nextStatus,
  type Receipt,
  type Return,
  type ReturnLine,
  type ReturnStep
} from "./Return.ts"
import { receivedLines, requestedLines, type ReturnRefused, type SoldOrder, withinWindow } from "./ReturnedGoods.ts"
import { ReturnRepo } from "./ReturnRepo.ts"

const clock = Effect.map(DateTime.now, DateTime.toDateUtc)

/** The return after a step. 409 from a status in which the step does not begin. */
export const stepped = Effect.fnUntraced(function*(before: Return, step: ReturnStep, change: Partial<Return> = {}) {
  const status = yield* Effect.fromResult(nextStatus(step, before.status))
  return { ...before, ...change, status, updatedAt: yield* clock }
})

const newReturn = (
  { orderId, orderNumber, returns }: SoldOrder,
  actor: Actor,
  now: Date,
  asked: Pick<Return, "lines" | "photos">
): Return => ({
  id: newId(),
  organizationId: actor.organizationId,
  orderId,
  number: `${orderNumber}-R${returns + 1}`,
  status: "requested",
  ...asked,
  rejectionReason: null,
  instructions: null,
  labelUrl: null,
  refundId: null,
  replacementOrderId: null,
  requestedBy: actor.userId ?? actor.keyId ?? null,
  receivedAt: null,
  createdAt: now,
  updatedAt: now
})

const restockedGoods = (lines: ReadonlyArray<ReturnLine>, sold: SoldOrder) => {
  const goods = new Map(sold.lines.map((line) => [line.id, line]))
  return lines.flatMap(({ lineItemId, received }) =>
    received.flatMap(({ quantity, warehouseId }) => {
      const line = goods.get(lineItemId)
      return line === undefined || warehouseId === null
        ? []
        : [{ ...Struct.pick(line, ["entityId", "variantId"]), warehouseId, delta: quantity, type: "return" as const }]
    })
  )
}

const requesting = Effect.gen(function*() {
  const repo = yield* ReturnRepo
  const [{ types }, { returnDays }] = yield* Effect.all([CatalogSettings, StoreSettings])

  const create = (
    orderId: OrderId,
    request: NewReturn,
    admits: (sold: SoldOrder, now: Date) => Result.Result<void, ReturnRefused>
  ) =>
    repo.create(
      orderId,
      Effect.fnUntraced(function*(sold) {
        const [actor, now] = yield* Effect.all([CurrentActor, clock])
        yield* Effect.fromResult(admits(sold, now))
        const isStoredValue = (type: string) => policyOf(types, type).storedValue
        const lines = yield* Effect.fromResult(requestedLines(sold, request, isStoredValue))
        return newReturn(sold, actor, now, { lines, photos: request.photos ?? [] })
      })
    )

  return {
    byStaff: (orderId: OrderId, request: NewReturn) => create(orderId, request, () => Result.void),
    byBuyer: (orderId: OrderId, request: NewReturn) =>
      create(orderId, request, (sold, now) => withinWindow(sold, returnDays, now))
  }
})

/** Goods that come back, from the request to their receipt (contract-commerce §12). `workflows/orders` moves the money. */
export class Returns extends Context.Service<Returns>()("stoa/domain/returns/Returns", {
  make: Effect.gen(function*() {
    const [repo, inventory, orders, own] = yield* Effect.all([ReturnRepo, Inventory, Orders, CustomerOrders])
    const requests = yield* requesting

    const change = (step: ReturnStep, orderId: OrderId, id: ReturnId, set: Partial<Return> = {}) =>
      repo.change(orderId, id, (before) => stepped(before, step, set))

    const ofOrder = Effect.fn("Returns.ofOrder")(function*(orderId: OrderId, page: PageRequest) {
      if ((yield* orders.find(orderId)) === undefined) return yield* new OrderNotFound()
      return yield* repo.list({ orderId }, page)
    })

    const requestOwn = Effect.fn("Returns.requestOwn")(function*(idOrNumber: string, request: NewReturn) {
      return yield* requests.byBuyer((yield* own.findOwn(idOrNumber)).id, request)
    })

    const listOwn = Effect.fn("Returns.listOwn")(function*(idOrNumber: string, page: PageRequest) {
      return yield* repo.list({ orderId: (yield* own.findOwn(idOrNumber)).id }, page)
    })

    const cancelOwn = Effect.fn("Returns.cancelOwn")(function*(idOrNumber: string, id: ReturnId) {
      return yield* change("cancel", (yield* own.findOwn(idOrNumber)).id, id)
    })

    const receive = Effect.fn("Returns.receive")((orderId: OrderId, id: ReturnId, receipt: Receipt) =>
      repo.change(
        orderId,
        id,
        Effect.fnUntraced(function*(before, sold) {
          const record = yield* stepped(before, "receive", { receivedAt: yield* clock })
          const lines = yield* Effect.fromResult(receivedLines(sold, before.lines, receipt))
          const goods = restockedGoods(lines, sold)
          if (goods.length > 0) yield* inventory.post({ type: "return", id }, goods)
          return { ...record, lines }
        })
      )
    )

    return {
      find: repo.find,
      list: repo.list,
      /** Units of each line of an order that a return can ask for. */
      returnable: repo.returnable,
      /** 404 without the order. */
      ofOrder,
      listOwn,
      /** 404; 422 for what cannot be returned, for more units than are left, and for stored value. */
      request: requests.byStaff,
      /** The same for the caller's order, within `returns.days` of its delivery. */
      requestOwn,
      approve: (orderId: OrderId, id: ReturnId, { instructions, labelUrl }: Approval) =>
        change("approve", orderId, id, { instructions: instructions ?? null, labelUrl: labelUrl ?? null }),
      reject: (orderId: OrderId, id: ReturnId, rejectionReason: string) =>
        change("reject", orderId, id, { rejectionReason }),
      cancel: (orderId: OrderId, id: ReturnId) => change("cancel", orderId, id),
      cancelOwn,
      /** Restocks units in the same transaction. 422 for units that were not asked for or not handed over. */
      receive
    }
  })
}) {
  static readonly layer = Layer.effect(Returns, Returns.make)
}
