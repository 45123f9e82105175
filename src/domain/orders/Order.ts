import { Effect, Schema } from "effect"
import { Line } from "../carts/Line.ts"
import { forbidden, notFound } from "../platform/errors/ErrorKinds.ts"
import { type CartId, CustomerId, isUuid, OrderId, OrderLineId, OrderNoteId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { Table } from "../platform/records/Table.ts"
import { keyText } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { PriceSteps } from "../pricing/PriceSteps.ts"
import { OrderStatus } from "./OrderStatus.ts"
import { type OrderPayment, Tender } from "./Tender.ts"

const Metadata = Schema.Record(Schema.String, Schema.Unknown)

/** How much of a line has been handed over (contract §4). */
export const LineFulfillment = Schema.Literals(["unfulfilled", "partial", "fulfilled"])

/**
 * One line of an order; sku and title as they were at the purchase. The lines' totals, discounts and taxes add up to
 * the order's (contract §4, §3.3).
 */
export const OrderLine = Schema.Struct({
  id: OrderLineId,
  orderId: OrderId,
  ...Line.fields,
  unitPrice: Amount,
  totalPrice: Amount,
  isCustomPrice: Schema.Boolean,
  taxAmount: Amount,
  discountAmount: Amount,
  refundedQuantity: Schema.Int,
  fulfillmentStatus: LineFulfillment,
  /** Steps of plugins that are part of the line's price. */
  priceSteps: PriceSteps.pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
}).annotate({ identifier: "OrderLine" })
export type OrderLine = typeof OrderLine.Type

export const orderLines = new Table("order_lines", OrderLine)

/** Shipping address as the shopper entered it. */
export const ShippingAddress = Schema.Record(Schema.String, Schema.Unknown)

/**
 * An order with its lines (spec §2, contract §4). grandTotal = subtotal - discountTotal + shippingTotal, plus taxTotal
 * if prices exclude tax. `amountCaptured` is null before the capture; `refundedTotal` is what the provider has
 * confirmed as refunded.
 */
export const Order = Schema.Struct({
  id: OrderId,
  organizationId: Schema.String,
  orderNumber: Schema.String,
  customerId: Schema.NullOr(CustomerId),
  status: OrderStatus,
  currency: Schema.String,
  subtotal: Amount,
  taxTotal: Amount,
  /** The prices contain the tax, so it is a part of the grand total and not added to it; false in older records. */
  taxIncluded: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  shippingTotal: Amount,
  discountTotal: Amount,
  grandTotal: Amount,
  amountCaptured: Schema.NullOr(Amount),
  refundedTotal: Amount,
  /** Its payments, in the order in which the shopper gave them; empty in older records. */
  tenders: Schema.Array(Tender).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  amountDue: Amount.annotate({
    description: "What the shopper still has to pay: the total without what is captured or set aside for it."
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  paymentIntentId: Schema.NullOr(Schema.String),
  paymentMethodId: Schema.NullOr(Schema.String),
  idempotencyKey: Schema.NullOr(Schema.String),
  shippingAddress: Schema.NullOr(ShippingAddress),
  metadata: Metadata,
  /** Staff still writes it; absent of every other order (docs/orders.md). */
  isDraft: Schema.optional(Schema.Boolean),
  /** Time of the import from another system; absent for orders created here (docs/import-export.md). */
  importedAt: Schema.optional(Time),
  placedAt: Time,
  updatedAt: Time,
  fulfilledAt: Schema.NullOr(Time),
  cancelledAt: Schema.NullOr(Time),
  lineItems: Schema.Array(OrderLine)
}).annotate({ identifier: "Order" })
export type Order = typeof Order.Type

export class OrderNotFound extends notFound("Order", "Order not found.") {}

export class ForeignOrder extends forbidden("Order", "This order belongs to somebody else.") {}

/** Whether the full captured amount has been refunded. */
export const isRefundedInFull = ({ amountCaptured, refundedTotal }: Order): boolean =>
  refundedTotal > 0 && refundedTotal === amountCaptured

/** Form of an order number: `ORD-YYYY-NNNNNN`, growing past six digits (spec §2), or as another system wrote it. */
const numberPattern = /^[A-Za-z0-9#][A-Za-z0-9 ._#-]{0,63}$/

/** Tells an order number from an id or nonsense. */
export const isOrderNumber = (value: string): boolean => numberPattern.test(value) && !isUuid(value)

/** The number of the n-th order of an organization in a year. */
export const orderNumber = (year: number, sequence: number): string =>
  `ORD-${String(year).padStart(4, "0")}-${String(sequence).padStart(6, "0")}`

/** An order and what decides who may see it and who moved its money. */
export interface StoredOrder {
  readonly order: Order
  /** User whose profile the order belongs to; null for a guest's order. */
  readonly ownerUserId: string | null
  /** The cart the order was created from. */
  readonly cartId: CartId | null
  /** SHA-256 of the secret of that cart. */
  readonly cartSecretHash: string | null
  /** Its payments as their providers know them, in the order of `tenders`. */
  readonly payments: ReadonlyArray<OrderPayment>
  /** Tax adapter that taxed the order; null if the store's rules did. */
  readonly taxProvider: string | null
}

/** An order found by a look-up, with enough data to distinguish it. */
export const OrderHit = Schema.Struct({
  id: OrderId,
  orderNumber: Schema.String,
  status: OrderStatus,
  currency: Schema.String,
  grandTotal: Amount,
  customerId: Schema.NullOr(CustomerId),
  /** First and last name of the customer; null of a guest. */
  customerName: Schema.NullOr(Schema.String),
  /** The address left with the order, else that of the customer's profile. */
  email: Schema.NullOr(Schema.String),
  placedAt: Time
}).annotate({ identifier: "OrderHit" })
export type OrderHit = typeof OrderHit.Type

/** Readers of a note: staff only, or the order's customer as well. */
export const NoteVisibility = Schema.Literals(["internal", "customer"])
export type NoteVisibility = typeof NoteVisibility.Type

/** What staff notes about an order (contract §4.4). `authorId` is the login that wrote it. */
export const OrderNote = Schema.Struct({
  id: OrderNoteId,
  organizationId: Schema.String,
  orderId: OrderId,
  text: Schema.String,
  visibility: NoteVisibility,
  authorId: Schema.NullOr(Schema.String),
  authorName: Schema.String,
  createdAt: Time
}).annotate({ identifier: "OrderNote" })
export type OrderNote = typeof OrderNote.Type

export class NoteNotFound extends notFound("OrderNote", "Note not found.") {}

/** A note for the order's customer, without its author. */
export const CustomerNote = Schema.Struct({ id: OrderNoteId, text: Schema.String, createdAt: Time }).annotate({
  identifier: "CustomerOrderNote"
})
export type CustomerNote = typeof CustomerNote.Type

/** Body of a new note. */
export const NewNote = Schema.Struct({
  text: keyText(10_000),
  visibility: Schema.optional(NoteVisibility.annotate({ description: "Default internal." }))
}).annotate({ identifier: "NewOrderNote" })
export type NewNote = typeof NewNote.Type

/** Kind of an event in an order's timeline. */
export const TimelineKind = Schema.Literals([
  "status",
  "change",
  "payment",
  "event",
  "refund",
  "fulfillment",
  "mail",
  "note"
])

/**
 * An event in an order's timeline (docs/orders.md has the list). `type` is the new status, the change's name in the
 * change log, `authorized` or `captured`, a payment provider's event name, `pending`, `settled`, `failed` or `voided`,
 * a fulfillment step, a mail template, or a note's visibility. Amounts in `data` are in minor units; `actorId` is null
 * for the service itself.
 */
export const TimelineEntry = Schema.Struct({
  id: Schema.String,
  kind: TimelineKind,
  type: Schema.String,
  at: Time,
  actorId: Schema.NullOr(Schema.String),
  data: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "OrderTimelineEntry" })
export type TimelineEntry = typeof TimelineEntry.Type

const figures = {
  /** Orders that were not cancelled. */
  count: Schema.Int,
  /** Total of the orders minus refunds, in minor units. */
  lifetimeSpend: Schema.Int,
  /** The same for one order, rounded. */
  averageBasket: Schema.Int
}

/** A customer's orders in one currency. */
const CurrencyTotals = Schema.Struct({ currency: Schema.String, ...figures }).annotate({ identifier: "CurrencyTotals" })
type CurrencyTotals = typeof CurrencyTotals.Type

/**
 * What a customer has bought in total (contract, platform §8). Amounts of different currencies are never added up: the
 * sums use the currency of most orders, and every currency is listed separately.
 */
export const CustomerTotals = Schema.Struct({
  ...figures,
  currency: Schema.NullOr(Schema.String),
  byCurrency: Schema.Array(CurrencyTotals)
}).annotate({ identifier: "CustomerTotals" })
export type CustomerTotals = typeof CustomerTotals.Type

/** Orders and amount of one currency. */
export const SpentIn = Schema.Struct({ currency: Schema.String, count: Schema.Int, spent: Schema.Int })

/** `spent` begins with the currency of most orders. */
export const customerTotals = (spent: ReadonlyArray<typeof SpentIn.Type>): CustomerTotals => {
  const byCurrency = spent.map(({ count, currency, spent }): CurrencyTotals => ({
    currency,
    count,
    lifetimeSpend: spent,
    averageBasket: Math.round(spent / count)
  }))
  const [most] = byCurrency
  return {
    count: spent.reduce((sum, { count }) => sum + count, 0),
    lifetimeSpend: most?.lifetimeSpend ?? 0,
    averageBasket: most?.averageBasket ?? 0,
    currency: most?.currency ?? null,
    byCurrency
  }
}

/** A change of an order's status as hooks see it. */
export interface StatusChange {
  readonly orderId: OrderId
  readonly fromStatus: string
  readonly newStatus: string
  readonly reason: string | null
  /** `fulfillment`: it follows from a fulfillment. */
  readonly source?: "fulfillment"
}

declare module "../platform/hooks/HookMap.ts" {
  interface BeforeHooks {
    readonly "orders.beforeStatusChange": StatusChange
  }
  interface AfterHooks {
    readonly "checkout.afterCreate": { readonly result: Order; readonly data: never }
    readonly "orders.afterCreate": { readonly result: Order; readonly data: never }
    readonly "orders.afterStatusChange": { readonly result: Order; readonly data: StatusChange }
    readonly "orders.afterGet": { readonly result: Order; readonly data: never }
  }
}
