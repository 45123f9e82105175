import { Effect } from "effect"
import type { Order, PluginCall } from "stoa/plugin"
import { type SourceLine, sourceLines } from "./ExportsRepo.ts"
import type { OrderExport } from "./OrderTables.ts"

export type OrderCall = Pick<PluginCall, "db" | "jobs" | "services">

type Line = Pick<
  Order["lineItems"][number],
  "discountAmount" | "id" | "quantity" | "refundedQuantity" | "sku" | "taxAmount" | "title" | "totalPrice"
>

/** Fields of an order that its slices are made of. */
export type SlicedOrder =
  & Pick<
    Order,
    "currency" | "customer" | "email" | "id" | "orderNumber" | "shippingAddress" | "shippingTotal" | "taxIncluded"
  >
  & { readonly lineItems: ReadonlyArray<Line> }

/** A line of an order with its variant at the store. */
export interface StoreLine {
  readonly line: Line
  readonly externalVariantId: string | null
}

/** An order, and its lines that the store ships. */
export interface SoldByStore<O extends SlicedOrder = Order> {
  readonly order: O
  readonly own: ReadonlyArray<StoreLine>
}

export const linesOfStore = (
  { lineItems }: Pick<SlicedOrder, "lineItems">,
  storeId: string,
  sources: ReadonlyArray<SourceLine>
): ReadonlyArray<StoreLine> => {
  const own = new Map(sources.filter((one) => one.storeId === storeId).map((one) => [one.lineId, one]))
  return lineItems.flatMap((line) => {
    const source = own.get(line.id)
    return source === undefined ? [] : [{ line, externalVariantId: source.externalVariantId }]
  })
}

/** The order of an export as it is now. */
export const soldByStore = Effect.fnUntraced(function*({ db, services }: OrderCall, row: OrderExport) {
  const order = yield* services.orders.get(row.orderId)
  const sold: SoldByStore = { order, own: linesOfStore(order, row.storeId, yield* db.use(sourceLines)(order.id)) }
  return sold
})

/** True when the store ships all lines of the order. */
export const shipsAll = ({ order, own }: SoldByStore<SlicedOrder>): boolean => own.length === order.lineItems.length

/** True when the order was cancelled here, or all its units of the store were refunded. */
export const isOver = ({ order: { payment, status }, own }: SoldByStore): boolean =>
  status === "cancelled" || status === "refunded" || payment.status === "refunded" ||
  own.length > 0 && own.every(({ line }) => line.refundedQuantity === line.quantity)
