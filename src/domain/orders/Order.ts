import { Effect, Schema } from "effect"
import { Line } from "../carts/Line.ts"
import { NamedCustomer } from "../customers/BuyerProfile.ts"
import { TaxExemption } from "../customers/TaxExemption.ts"
import { type Actor, actsForShop } from "../platform/access/Actor.ts"
import { forbidden, notFound } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import {
  type CartId,
  CustomerId,
  isUuid,
  OrderId,
  OrderLineId,
  OrganizationId,
  type PaymentId,
  TaxRateId
} from "../platform/ids/Id.ts"
import { Amount, Currency, MinorUnits } from "../platform/money/Money.ts"
import { Table } from "../platform/records/Table.ts"
import { Metadata } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { PriceSteps } from "../pricing/PriceSteps.ts"
import { OrderStatus } from "./OrderStatus.ts"
import { type OrderPayment, PaymentState, Tender } from "./Tender.ts"

export const LineFulfillment = Schema.Literals(["unfulfilled", "partial", "fulfilled"])

const taxFields = {
  name: Schema.String,
  rate: Schema.NullOr(Schema.String).annotate({
    description: "Per cent as decimal text; null where an outside service said the tax.",
    examples: ["9.975"]
  }),
  base: Schema.Int.annotate({ description: "Amount that the rate is on, in minor units, without the tax." }),
  amount: Amount
}

/** A tax of a line at the rate of the purchase, with the line's share of the tax of shipping. */
export const LineTax = Schema.Struct({
  rateId: Schema.NullOr(TaxRateId).annotate({ description: "Null: the rate of a tax class, or of a service." }),
  ...taxFields
}).annotate({ identifier: "OrderLineTax" })
export type LineTax = typeof LineTax.Type

export const OrderTax = Schema.Struct(taxFields).annotate({ identifier: "OrderTax" })
export type OrderTax = typeof OrderTax.Type

/** Sums the taxes of lines by name and rate. */
export const orderTaxes = (
  lines: ReadonlyArray<{ readonly taxes?: ReadonlyArray<LineTax> | undefined }>
): ReadonlyArray<OrderTax> => {
  const sums = new Map<string, OrderTax>()
  for (const { amount, base, name, rate } of lines.flatMap(({ taxes = [] }) => taxes)) {
    const key = JSON.stringify([name, rate])
    const before = sums.get(key)
    sums.set(key, { name, rate, base: base + (before?.base ?? 0), amount: amount + (before?.amount ?? 0) })
  }
  return [...sums.values()]
}

/**
 * sku and title as they were at the purchase. The lines' totals, discounts and taxes add up to the order's (contract
 * §4, §3.3).
 */
export const StoredLine = Schema.Struct({
  id: OrderLineId,
  orderId: OrderId,
  ...Line.fields,
  unitPrice: Amount,
  totalPrice: Amount,
  isCustomPrice: Schema.Boolean.pipe(about("Staff set the price.")),
  taxAmount: Amount,
  taxes: Schema.Array(LineTax).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))).pipe(
    about("Taxes of the line at the rates of the purchase.")
  ),
  discountAmount: Amount,
  refundedQuantity: Schema.Int.pipe(about("Units that were refunded.")),
  fulfillmentStatus: LineFulfillment.pipe(about("How much of the line was handed over.")),
  priceSteps: PriceSteps.pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))).pipe(
    about("How the unit price came about.")
  )
})
export type StoredLine = typeof StoredLine.Type

export const orderLines = new Table("order_lines", StoredLine)

const units = (description: string) =>
  Schema.Int.annotate({ description, examples: [2] }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))

export const OrderLine = Schema.Struct({
  ...StoredLine.fields,
  backordered: units("Units that wait for stock, which nothing can hand over before it comes in."),
  fulfillable: units("Units that a fulfillment can take now: 0 until the order is confirmed and paid."),
  refundable: units("Units that a refund can name now: 0 until the payment is captured.")
}).annotate({ identifier: "OrderLine" })
export type OrderLine = typeof OrderLine.Type

export const ShippingAddress = Schema.Record(Schema.String, Schema.Unknown)

/**
 * An order with its lines (spec §2, contract §4). grandTotal = subtotal - discountTotal + shippingTotal, plus taxTotal
 * if prices exclude tax. `amountCaptured` is null before the capture; `refundedTotal` is confirmed by the provider.
 */
export const Order = Schema.Struct({
  id: OrderId,
  organizationId: OrganizationId,
  orderNumber: Schema.String.pipe(about("Number for people.")),
  customerId: Schema.NullOr(CustomerId),
  customer: Schema.NullOr(NamedCustomer).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  email: Schema.NullOr(Schema.String).annotate({
    description: "The e-mail address that was left with the order, else the one in the customer's profile.",
    examples: ["ann@example.com"]
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  status: OrderStatus.pipe(about("State of the order; `allowedTransitions` has those that can follow.")),
  currency: Currency,
  subtotal: Amount.pipe(about("Sum of the lines before discounts.")),
  taxTotal: Amount,
  taxIncluded: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))).pipe(
    about("The prices contain the tax.")
  ),
  taxExemption: Schema.NullOr(TaxExemption).annotate({ description: "Why it was sold without tax, as it was then." })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  shippingTotal: Amount,
  discountTotal: Amount,
  taxes: Schema.Array(OrderTax).annotate({ description: "The taxes of the lines by name and rate." })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  grandTotal: Amount.pipe(about("Amount to pay.")),
  amountCaptured: Schema.NullOr(Amount).pipe(about("Amount that was taken; null before the capture.")),
  refundedTotal: Amount.pipe(about("Amount that went back.")),
  payment: PaymentState.pipe(about("State of the payment.")),
  tenders: Schema.Array(Tender).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))).pipe(
    about("Payments by method, where there is more than one.")
  ),
  amountDue: Amount.annotate({
    description: "Amount that the shopper still has to pay: the total without what is captured or set aside for it."
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  allowedTransitions: Schema.Array(OrderStatus).annotate({
    description: "The statuses that `PATCH /api/orders/{id}/status` can set now."
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  paymentIntentId: Schema.NullOr(Schema.String).pipe(about("Id of the payment at the provider.")),
  paymentMethodId: Schema.NullOr(Schema.String).pipe(about("Payment method of the deployment.")),
  idempotencyKey: Schema.NullOr(Schema.String).pipe(about("Key that the checkout was sent with.")),
  shippingAddress: Schema.NullOr(ShippingAddress).pipe(about("Address that the goods go to.")),
  billingAddress: Schema.NullOr(ShippingAddress).annotate({
    description: "Address of the invoice; null: the shipping address."
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  metadata: Metadata,
  isDraft: Schema.optional(Schema.Boolean).pipe(about("Staff still works on it; absent on every other order.")),
  importedAt: Schema.optional(Time),
  placedAt: Time,
  updatedAt: Time,
  fulfilledAt: Schema.NullOr(Time),
  cancelledAt: Schema.NullOr(Time),
  lineItems: Schema.Array(OrderLine)
}).annotate({ identifier: "Order" })
export type Order = typeof Order.Type

export class OrderNotFound extends notFound("Order", "Order not found.") {}

export class ForeignOrder extends forbidden("Order", "This order belongs to another customer.") {}

/** 403 would tell visitors and shoppers which order numbers exist. */
export const foreignOrder = (actor: Actor): ForeignOrder | OrderNotFound =>
  actsForShop(actor) ? new ForeignOrder() : new OrderNotFound()

export const isRefundedInFull = ({ amountCaptured, refundedTotal }: Order): boolean =>
  refundedTotal > 0 && refundedTotal === amountCaptured

/** `ORD-YYYY-NNNNNN`, growing past six digits (spec §2), or as another system wrote it. */
const numberPattern = /^[A-Za-z0-9#][A-Za-z0-9 ._#-]{0,63}$/

export const isOrderNumber = (value: string): boolean => numberPattern.test(value) && !isUuid(value)

export const orderNumber = (year: number, sequence: number): string =>
  `ORD-${String(year).padStart(4, "0")}-${String(sequence).padStart(6, "0")}`

export interface StoredOrder {
  readonly order: Order
  readonly ownerUserId: string | null
  readonly cartId: CartId | null
  /** SHA-256 of the secret of that cart. */
  readonly cartSecretHash: string | null
  readonly payments: ReadonlyArray<OrderPayment>
  /** Null: the payment of the checkout. */
  readonly paymentId: PaymentId | null
  /** Another payment is being made, which replaces this one. */
  readonly paymentClaimId: PaymentId | null
  /** Null if the store's rules taxed the order. */
  readonly taxProvider: string | null
}

export const OrderHit = Schema.Struct({
  id: OrderId,
  orderNumber: Schema.String.pipe(about("Number for people.")),
  status: OrderStatus.pipe(about("State of the order; `allowedTransitions` has those that can follow.")),
  currency: Currency,
  grandTotal: Amount.pipe(about("Amount to pay.")),
  customerId: Schema.NullOr(CustomerId),
  customerName: Schema.NullOr(Schema.String),
  /** Left with the order, else that of the profile. */
  email: Schema.NullOr(Schema.String),
  placedAt: Time
}).annotate({ identifier: "OrderHit" })
export type OrderHit = typeof OrderHit.Type

const figures = {
  count: Schema.Int,
  lifetimeSpend: MinorUnits.pipe(about("Sum of the orders minus refunds.")),
  /** Per order, rounded. */
  averageBasket: MinorUnits
}

const CurrencyTotals = Schema.Struct({ currency: Schema.String, ...figures }).annotate({ identifier: "CurrencyTotals" })
type CurrencyTotals = typeof CurrencyTotals.Type

/** Sums use the currency of most orders: amounts of different currencies are never added up (contract, platform §8). */
export const CustomerTotals = Schema.Struct({
  ...figures,
  currency: Schema.NullOr(Schema.String),
  byCurrency: Schema.Array(CurrencyTotals).pipe(about("Sums of each currency, the one with most orders first."))
}).annotate({ identifier: "CustomerTotals" })
export type CustomerTotals = typeof CustomerTotals.Type

export const SpentIn = Schema.Struct({ currency: Schema.String, count: Schema.Int, spent: Schema.Int })

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

export interface StatusChange {
  readonly orderId: OrderId
  readonly fromStatus: string
  readonly newStatus: string
  readonly reason: string | null
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
