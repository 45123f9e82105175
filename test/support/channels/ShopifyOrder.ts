import { minorOf } from "./ShopifyPages.ts"
import type { ShopifyVariant } from "./ShopifyProduct.ts"

interface MoneyInput {
  readonly shopMoney: { readonly amount: string | number; readonly currencyCode: string }
}

type TaxLines = ReadonlyArray<{ readonly priceSet?: MoneyInput | null }> | null

export interface OrderInput {
  readonly lineItems?: ReadonlyArray<{
    readonly variantId?: string | null
    readonly title?: string | null
    readonly sku?: string | null
    readonly quantity: number
    readonly priceSet?: MoneyInput | null
    readonly taxLines?: TaxLines
  }>
  readonly currency?: string | null
  readonly email?: string | null
  readonly note?: string | null
  readonly name?: string | null
  readonly tags?: ReadonlyArray<string> | null
  readonly customAttributes?: ReadonlyArray<{ readonly key: string; readonly value: string }> | null
  readonly metafields?:
    | ReadonlyArray<
      { readonly namespace?: string | null; readonly key: string; readonly value: string; readonly type: string }
    >
    | null
  /** Lines have none then. */
  readonly taxLines?: TaxLines
  readonly shippingLines?: ReadonlyArray<{ readonly priceSet: MoneyInput; readonly taxLines?: TaxLines }> | null
  readonly transactions?:
    | ReadonlyArray<{ readonly kind?: string | null; readonly status?: string | null; readonly amountSet: MoneyInput }>
    | null
  readonly financialStatus?: string | null
  readonly taxesIncluded?: boolean | null
  readonly sourceIdentifier?: string | null
}

export interface Line {
  readonly id: number
  readonly variant: ShopifyVariant | undefined
  readonly title: string
  readonly sku: string | null
  readonly quantity: number
  /** Minor units a piece. */
  readonly price: number
  fulfilled: number
  refunded: number
  /** Units that the order took off the stock and holds as committed. */
  claimed: number
}

export interface Tracking {
  readonly company?: string
  readonly number?: string
  readonly url?: string
}

interface Fulfillment {
  readonly id: number
  readonly created: number
  readonly tracking: Tracking
  readonly parts: ReadonlyArray<{ readonly id: number; readonly line: Line; readonly quantity: number }>
}

export interface Refund {
  readonly id: number
  readonly created: number
  readonly note: string | null
  readonly amount: number
  readonly parts: ReadonlyArray<
    { readonly id: number; readonly line: Line; readonly quantity: number; readonly restockType: string }
  >
}

export interface ShopifyOrder {
  readonly id: number
  readonly name: string
  readonly created: number
  readonly input: OrderInput
  readonly lines: ReadonlyArray<Line>
  readonly fulfillments: Array<Fulfillment>
  readonly refunds: Array<Refund>
  readonly totals: { readonly total: number; readonly tax: number; readonly shipping: number; readonly paid: number }
  cancelled: { readonly at: number; readonly reason: string } | null
  updated: number
}

export interface RefundRequest {
  readonly note?: string | null
  readonly refundLineItems?:
    | ReadonlyArray<{ readonly lineItemId: string; readonly quantity: number; readonly restockType?: string | null }>
    | null
  readonly transactions?: ReadonlyArray<{ readonly amount: string | number; readonly kind: string }> | null
}

/** Units that are still to be sent. */
export const openOf = ({ fulfilled, quantity, refunded }: Line) => Math.max(0, quantity - fulfilled - refunded)
export const refundedOf = ({ refunds }: ShopifyOrder) => refunds.reduce((sum, { amount }) => sum + amount, 0)

export const fulfilmentOf = ({ lines }: ShopifyOrder) =>
  lines.every(({ fulfilled }) => fulfilled === 0)
    ? "UNFULFILLED"
    : lines.every((line) => openOf(line) === 0)
    ? "FULFILLED"
    : "PARTIALLY_FULFILLED"

export const moneyStateOf = (order: ShopifyOrder) => {
  const { paid, total } = order.totals
  const refunded = refundedOf(order)
  if (refunded > 0) return refunded >= paid ? "REFUNDED" : "PARTIALLY_REFUNDED"
  return paid >= total ? "PAID" : paid > 0 ? "PARTIALLY_PAID" : "PENDING"
}

/** Amounts of a new order in minor units. */
export const totalsOf = (
  { financialStatus, lineItems = [], shippingLines, taxLines, taxesIncluded, transactions }: OrderInput,
  lines: ReadonlyArray<Line>
) => {
  const sum = (amounts: ReadonlyArray<MoneyInput | null | undefined>) =>
    amounts.reduce((total, one) => total + (one ? minorOf(one.shopMoney.amount) : 0), 0)
  const shipping = sum((shippingLines ?? []).map(({ priceSet }) => priceSet))
  const tax = sum(
    [...lineItems, ...shippingLines ?? [], { taxLines }].flatMap(({ taxLines }) => taxLines ?? []).map(({ priceSet }) =>
      priceSet
    )
  )
  const goods = lines.reduce((total, { price, quantity }) => total + price * quantity, 0)
  const total = goods + shipping + (taxesIncluded ? 0 : tax)
  const received = (transactions ?? []).filter(({ kind, status }) =>
    ["SALE", "CAPTURE"].includes(kind ?? "SALE") && (status ?? "SUCCESS") === "SUCCESS"
  )
  return {
    total,
    tax,
    shipping,
    paid: financialStatus === "PAID" ? total : sum(received.map(({ amountSet }) => amountSet))
  }
}
