import { Context, Layer, Schema, Struct } from "effect"
import { TaxExemption } from "../customers/TaxExemption.ts"
import { type Order, OrderTax } from "../orders/Order.ts"
import { addressLines } from "../platform/money/DisplayText.ts"
import { PriceSteps } from "../pricing/PriceSteps.ts"

export interface InvoiceOptions {
  readonly sellerName: string
  readonly sellerLines: ReadonlyArray<string>
  readonly taxNumber: string | null
  readonly notes: ReadonlyArray<string>
  readonly locale: string
  /** Dates are local to it. Default: the store's. */
  readonly timeZone: string
  readonly words: Readonly<Record<string, Partial<InvoiceWords>>>
  /** TrueType files for PDF, for languages whose letters the built-in font lacks. */
  readonly fonts: { readonly regular: string; readonly bold: string } | null
}

const english = {
  invoice: "Invoice",
  receipt: "Receipt",
  number: "Number",
  date: "Date",
  order: "Order",
  ordered: "Ordered",
  taxNumber: "Tax number",
  billTo: "Bill to",
  shipTo: "Ship to",
  item: "Item",
  quantity: "Qty",
  unitPrice: "Unit price",
  discount: "Discount",
  tax: "Tax",
  amount: "Amount",
  subtotal: "Subtotal",
  shipping: "Shipping",
  includedTax: "Tax included",
  total: "Total",
  taxes: "Tax breakdown",
  taxExemption: "Exempt from tax",
  taxedBefore: "Paid with vouchers that were taxed when they were sold",
  rate: "Rate",
  net: "Net",
  payments: "Payments",
  paid: "Paid",
  refunded: "Refunded",
  due: "Amount due",
  page: "Page"
}

export type InvoiceWords = { readonly [Word in keyof typeof english]: string }

const defaults: InvoiceOptions = {
  sellerName: "Stoa",
  sellerLines: [],
  taxNumber: null,
  notes: [],
  locale: "en",
  timeZone: "UTC",
  words: {},
  fonts: null
}

export const wordsOf = ({ words }: Pick<InvoiceOptions, "words">, locale: string): InvoiceWords => ({
  ...english,
  ...words[locale.split("-")[0] ?? locale],
  ...words[locale]
})

export class InvoiceSettings
  extends Context.Service<InvoiceSettings, InvoiceOptions>()("stoa/domain/invoices/InvoiceSettings")
{
  static readonly layerOf = (options: Partial<InvoiceOptions> = {}): Layer.Layer<InvoiceSettings> =>
    Layer.succeed(InvoiceSettings, { ...defaults, ...options })
}

/** Minor units of the document's currency. */
const Amount = Schema.Int

const Line = Schema.Struct({
  title: Schema.String,
  variantTitle: Schema.optional(Schema.NullOr(Schema.String)),
  sku: Schema.NullOr(Schema.String),
  quantity: Schema.Int,
  unitPrice: Amount,
  discount: Amount,
  tax: Amount,
  /** After its discount, with its tax. */
  amount: Amount,
  notes: Schema.optional(Schema.NullOr(Schema.String)),
  priceSteps: Schema.optional(PriceSteps)
})

/** Fixed when the invoice is issued. Stored in this form and read by newer versions: additions must be optional. */
export const InvoiceContent = Schema.Struct({
  seller: Schema.Struct({
    name: Schema.String,
    lines: Schema.Array(Schema.String),
    taxNumber: Schema.NullOr(Schema.String),
    notes: Schema.Array(Schema.String)
  }),
  billTo: Schema.Array(Schema.String),
  shipTo: Schema.Array(Schema.String),
  orderNumber: Schema.String,
  placedAt: Schema.DateFromString,
  currency: Schema.String,
  locale: Schema.String,
  /** Absent: UTC. */
  timeZone: Schema.optional(Schema.String),
  lines: Schema.Array(Line),
  subtotal: Amount,
  discountTotal: Amount,
  shippingTotal: Amount,
  taxTotal: Amount,
  /** Absent or empty: orders of before, whose lines do not know their rates. */
  taxes: Schema.optional(Schema.Array(OrderTax)),
  taxExemption: Schema.optional(Schema.NullOr(TaxExemption)),
  /** Minor units that single-purpose stored value paid, before tax on top. The totals have no tax for them. */
  taxedBefore: Schema.optional(Amount),
  taxIncluded: Schema.Boolean,
  grandTotal: Amount
})
export type InvoiceContent = typeof InvoiceContent.Type

export interface Buyer {
  readonly name: string | null
  /** Left with the order, else the profile's. */
  readonly email: string | null
}

const textAt = (record: Readonly<Record<string, unknown>> | null, name: string): string => {
  const value = record?.[name]
  return typeof value === "string" ? value.replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, 120) : ""
}

const shownAddress = (address: Order["shippingAddress"]): ReadonlyArray<string> => {
  const person = [textAt(address, "firstName"), textAt(address, "lastName")].filter((part) => part !== "").join(" ")
  const names = [textAt(address, "company"), textAt(address, "name") || person]
  return [...names.filter((name) => name !== ""), ...addressLines(address)]
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const contentOf = (
  order: Order,
  buyer: Buyer,
  { locale, notes, sellerLines, sellerName, taxNumber, timeZone }: InvoiceOptions
): InvoiceContent => {
  const { taxIncluded } = order
  const { alreadyTaxed, billingAddress: billing } = order.metadata
  const shipTo = shownAddress(order.shippingAddress)
  const named = isRecord(billing) ? shownAddress(billing) : shipTo
  const name = buyer.name === null || named.includes(buyer.name) ? [] : [buyer.name]
  return {
    seller: { name: sellerName, lines: [...sellerLines], taxNumber, notes: [...notes] },
    billTo: [...name, ...named, ...(buyer.email === null ? [] : [buyer.email])],
    shipTo,
    orderNumber: order.orderNumber,
    placedAt: order.placedAt,
    currency: order.currency,
    locale,
    timeZone,
    lines: order.lineItems.map(({ discountAmount, taxAmount, totalPrice, ...line }) => ({
      ...Struct.pick(line, ["title", "variantTitle", "sku", "quantity", "unitPrice", "notes", "priceSteps"]),
      discount: discountAmount,
      tax: taxAmount,
      amount: totalPrice - discountAmount + (taxIncluded ? 0 : taxAmount)
    })),
    subtotal: order.subtotal,
    discountTotal: order.discountTotal,
    shippingTotal: order.shippingTotal,
    taxTotal: order.taxTotal,
    taxes: order.taxes,
    taxExemption: order.taxExemption,
    ...(typeof alreadyTaxed === "number" ? { taxedBefore: alreadyTaxed } : {}),
    taxIncluded,
    grandTotal: order.grandTotal
  }
}
