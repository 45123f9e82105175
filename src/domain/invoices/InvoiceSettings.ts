import { Context, Layer } from "effect"

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

export const defaultInvoiceOptions: InvoiceOptions = {
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
    Layer.succeed(InvoiceSettings, { ...defaultInvoiceOptions, ...options })
}
