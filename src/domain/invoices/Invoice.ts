import { Context, Layer, Schema, Struct } from "effect"
import type { Order } from "../orders/Order.ts"
import { addressLines } from "../platform/money/DisplayText.ts"
import { PriceSteps } from "../pricing/PriceSteps.ts"

/** A deployment's settings of invoices and receipts (docs/orders.md). */
export interface InvoiceOptions {
  /** Name of the seller, shown at the top. */
  readonly sellerName: string
  /** Lines below the name: address, registration. */
  readonly sellerLines: ReadonlyArray<string>
  /** The seller's tax number. */
  readonly taxNumber: string | null
  /** Lines at the end: bank account, terms. */
  readonly notes: ReadonlyArray<string>
  /** Language tag of amounts, dates and words. */
  readonly locale: string
  /** Words by language tag, instead of the English ones. */
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
  rate: "Rate",
  net: "Net",
  payments: "Payments",
  paid: "Paid",
  refunded: "Refunded",
  due: "Amount due",
  page: "Page"
}

/** The words on invoices and receipts, in one language. */
export type InvoiceWords = { readonly [Word in keyof typeof english]: string }

const defaults: InvoiceOptions = {
  sellerName: "Stoa",
  sellerLines: [],
  taxNumber: null,
  notes: [],
  locale: "en",
  words: {},
  fonts: null
}

/** The words of a language, merged over those of its parent (`de` for `de-AT`) and English. */
export const wordsOf = ({ words }: Pick<InvoiceOptions, "words">, locale: string): InvoiceWords => ({
  ...english,
  ...words[locale.split("-")[0] ?? locale],
  ...words[locale]
})

/** The settings of this deployment's invoices. */
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
  sku: Schema.NullOr(Schema.String),
  quantity: Schema.Int,
  unitPrice: Amount,
  discount: Amount,
  tax: Amount,
  /** What is paid for the line: after its discount, with its tax. */
  amount: Amount,
  notes: Schema.optional(Schema.NullOr(Schema.String)),
  priceSteps: Schema.optional(PriceSteps)
})

/**
 * The content of an invoice, fixed when it is issued, even if the seller's address changes later. It is stored in this
 * form and read by newer versions, so additions must be optional.
 */
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
  lines: Schema.Array(Line),
  subtotal: Amount,
  discountTotal: Amount,
  shippingTotal: Amount,
  taxTotal: Amount,
  /** Prices include tax: the tax is shown but not added. */
  taxIncluded: Schema.Boolean,
  grandTotal: Amount
})
export type InvoiceContent = typeof InvoiceContent.Type

/** The buyer, in addition to the order's data. */
export interface Buyer {
  /** Of the customer's profile. */
  readonly name: string | null
  /** That was left with the order, else the profile's. */
  readonly email: string | null
}

const textAt = (record: Readonly<Record<string, unknown>> | null, name: string): string => {
  const value = record?.[name]
  return typeof value === "string" ? value.replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, 120) : ""
}

/** Name and address as the shopper gave them. */
const shownAddress = (address: Order["shippingAddress"]): ReadonlyArray<string> => {
  const person = [textAt(address, "firstName"), textAt(address, "lastName")].filter((part) => part !== "").join(" ")
  const names = [textAt(address, "company"), textAt(address, "name") || person]
  return [...names.filter((name) => name !== ""), ...addressLines(address)]
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The content of an order's invoice if issued now. */
export const contentOf = (
  order: Order,
  buyer: Buyer,
  { locale, notes, sellerLines, sellerName, taxNumber }: InvoiceOptions
): InvoiceContent => {
  const { taxIncluded } = order
  const billing = order.metadata["billingAddress"]
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
    lines: order.lineItems.map(({ discountAmount, taxAmount, totalPrice, ...line }) => ({
      ...Struct.pick(line, ["title", "sku", "quantity", "unitPrice", "notes", "priceSteps"]),
      discount: discountAmount,
      tax: taxAmount,
      amount: totalPrice - discountAmount + (taxIncluded ? 0 : taxAmount)
    })),
    subtotal: order.subtotal,
    discountTotal: order.discountTotal,
    shippingTotal: order.shippingTotal,
    taxTotal: order.taxTotal,
    taxIncluded,
    grandTotal: order.grandTotal
  }
}
