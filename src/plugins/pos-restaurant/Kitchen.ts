import { DateTime, Effect } from "effect"
import { businessDate, InvalidTransition, LocalTimeZone, type PluginCall } from "stoa/plugin"
import { Pos, type Sale, type SaleLine } from "../pos/index.ts"
import { fireLines, type Firing, type Origin, type WantedLine } from "./Firing.ts"
import { lockOnlineOrder, orderLinesOf, tableNumbersOf } from "./KitchenRepo.ts"
import { ticketItems, tickets } from "./Tickets.ts"

/** What a request asks of a fire. */
export interface Fire {
  readonly transactionId: string
  readonly course?: number | undefined
  readonly comments?: string | undefined
}

const nothingToCook = InvalidTransition.of("A return has nothing to cook.")

/** The name of who fires, else of who sells. */
const operatorOf = Effect.fnUntraced(function*({ actor, asStore, services }: PluginCall, operatorId: string) {
  const known = yield* asStore(services.users.known({ userId: actor.userId ?? operatorId }))
  return (known?.name ?? (actor.userId === null ? operatorId : actor.name)).slice(0, 255)
})

const originOf = Effect.fnUntraced(
  function*(call: PluginCall, { terminal, transaction }: Sale, comments: string | null) {
    const { customerId, id, operatorId, orderType } = transaction
    const { dayOf, sources } = yield* Pos
    const near = (yield* sources([id])).filter((one) => one.id !== id && !one.isFar)
    const tableNumber = yield* call.db.use(tableNumbersOf)([id, ...near.map((one) => one.id)])
    const isSeated = tableNumber !== null
    const origin: Origin = {
      transactionId: id,
      orderId: null,
      customerId,
      tableNumber,
      orderType: orderType === "counter" ? isSeated ? "dine_in" : "takeaway" : orderType,
      operatorName: yield* operatorOf(call, operatorId),
      businessDate: yield* dayOf(terminal, yield* DateTime.nowAsDate),
      comments
    }
    return origin
  }
)

const wanted = (line: SaleLine, quantity: number): WantedLine => ({ ...line, quantity })

/**
 * Sends to the stations what they do not have yet of a sale, and takes back what is not wanted any more: of a voided sale
 * everything. Repeated or at once it sends each unit once. `admit` may refuse more. 404; 422 for a return.
 */
export const fireSale = Effect.fn("Kitchen.fireSale")(function*<E = never, R = never>(
  call: PluginCall,
  { comments, course, transactionId }: Fire,
  admit?: Firing<E, R>["admit"]
) {
  const { db } = call
  return yield* db.transaction(Effect.gen(function*() {
    const { changed, removed, ...sale } = yield* (yield* Pos).lock(transactionId)
    const { status, type } = sale.transaction
    if (type === "return") return yield* nothingToCook
    const isOver = status === "voided"
    const lines = [
      ...sale.lines.map((line) => wanted(line, isOver ? 0 : line.quantity)),
      ...removed.map((line) => wanted(line, 0))
    ]
    const origin = yield* originOf(call, sale, comments ?? null)
    const fired = yield* fireLines(db, origin, lines, { course, ...(admit && { admit }) })
    // A change of a line that was decided before decides again: the line is fired now.
    if (fired.tickets.length > 0) yield* changed
    return fired
  }))
})

/** Says whose tickets they are, for the erasure of the customer. */
export const nameCustomer = ({ db }: PluginCall, { customerId, id }: Sale["transaction"]) =>
  customerId === null ? Effect.void : db.transaction(Effect.gen(function*() {
    const others = { transactionId: id, customerId: { not: customerId } }
    // By id, as everywhere: two transactions that lock several tickets never wait for each other.
    const own = yield* db.table(tickets).list(others, { order: ["id"], lock: true })
    yield* db.table(tickets).updateMany({ id: { in: own.map((one) => one.id) } }, { customerId })
  }))

const orderTypes = ["dine_in", "takeaway", "delivery"] as const

/**
 * Does the same for an order of another channel once it is paid or has nothing to pay. A cancelled one is taken back.
 * Nothing for orders of tills.
 */
export const fireOrder = Effect.fn("Kitchen.fireOrder")(function*(call: PluginCall, id: string) {
  const { db } = call
  yield* db.transaction(Effect.gen(function*() {
    const order = yield* db.use(lockOnlineOrder)(id)
    if (order === undefined) return
    const own = yield* db.table(tickets).list({ orderId: order.id })
    if (own.length === 0 && (order.isCancelled || !order.isPaid)) return
    const items = yield* db.table(ticketItems).list({ ticketId: { in: own.map((one) => one.id) } })
    const lines = (yield* db.use(orderLinesOf)(order.id)).map((line): WantedLine => ({
      ...line,
      quantity: order.isCancelled ? 0 : line.quantity,
      seat: null,
      course: null
    }))
    const gone = new Map(
      items.filter(({ lineId }) => lines.every((line) => line.id !== lineId)).map((item) => [item.lineId, item])
    )
    const orderType = orderTypes.find((one) => one === order.metadata["orderType"]) ??
      (order.isShipped ? "delivery" : "takeaway")
    const day = businessDate(yield* DateTime.nowAsDate, yield* LocalTimeZone)
    yield* fireLines(db, {
      transactionId: null,
      orderId: order.id,
      customerId: order.customerId,
      orderType,
      tableNumber: null,
      operatorName: null,
      businessDate: day,
      comments: null
    }, [
      ...lines,
      ...Array.from(gone.values(), ({ entityId, lineId, notes, variantId }): WantedLine => ({
        id: lineId,
        entityId,
        variantId,
        quantity: 0,
        metadata: {},
        notes,
        seat: null,
        course: null
      }))
    ])
  }))
})
