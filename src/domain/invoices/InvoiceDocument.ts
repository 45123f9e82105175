import { itemLabel } from "../carts/Line.ts"
import { moneyText } from "../platform/money/DisplayText.ts"
import type { PriceStep } from "../pricing/PriceSteps.ts"
import type { InvoiceContent, InvoiceWords } from "./Invoice.ts"

export interface Movement {
  readonly at: Date
  readonly amount: number
  readonly by?: string | undefined
}

export interface InvoiceDocument {
  readonly kind: "invoice" | "receipt"
  readonly number: string | null
  readonly date: Date
  readonly content: InvoiceContent
  readonly payments: ReadonlyArray<Movement>
  readonly refunds: ReadonlyArray<Movement>
}

export interface Fact {
  readonly label: string
  readonly value: string
  readonly strong?: boolean
}

/** A rendered document. HTML and PDF share it: they show the same. */
export interface ShownDocument {
  readonly locale: string
  readonly date: Date
  readonly title: string
  readonly seller: { readonly name: string; readonly lines: ReadonlyArray<string> }
  readonly facts: ReadonlyArray<Fact>
  readonly parties: ReadonlyArray<{ readonly label: string; readonly lines: ReadonlyArray<string> }>
  readonly columns: ReadonlyArray<string>
  /** Points of the columns after the first one, which has what they leave. */
  readonly widths: ReadonlyArray<number>
  readonly rows: ReadonlyArray<{
    readonly title: string
    readonly details: ReadonlyArray<string>
    readonly cells: ReadonlyArray<string>
  }>
  readonly totals: ReadonlyArray<Fact>
  readonly taxes: {
    readonly label: string
    readonly columns: ReadonlyArray<string>
    readonly rows: ReadonlyArray<ReadonlyArray<string>>
  }
  readonly payments: { readonly label: string; readonly facts: ReadonlyArray<Fact> }
  readonly notes: ReadonlyArray<string>
  readonly page: string
}

const stepAmount = ({ amountPerLine = 0, amountPerUnit = amountPerLine }: PriceStep): number => amountPerUnit

export const oneLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, " ").trim()

const texts = (content: InvoiceContent) => {
  const { currency, locale, timeZone = "UTC" } = content
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone })
  const rates = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 5 })
  return {
    money: (amount: number) => moneyText(amount, currency, locale),
    date: (at: Date) => dates.format(at),
    percent: (rate: number) => rates.format(rate / 100),
    /** A dash for zero: a column of zeros would hide the amounts. */
    some: (amount: number) => (amount === 0 ? "–" : moneyText(amount, currency, locale))
  }
}

const totalsOf = (content: InvoiceContent, words: InvoiceWords): ReadonlyArray<Fact> => {
  const { money } = texts(content)
  const { discountTotal, grandTotal, shippingTotal, subtotal, taxIncluded, taxTotal } = content
  const tax = taxTotal === 0 ? [] : [{ label: taxIncluded ? words.includedTax : words.tax, value: money(taxTotal) }]
  return [
    { label: words.subtotal, value: money(subtotal) },
    ...(discountTotal === 0 ? [] : [{ label: words.discount, value: money(-discountTotal) }]),
    { label: words.shipping, value: money(shippingTotal) },
    ...(taxIncluded ? [] : tax),
    { label: words.total, value: money(grandTotal), strong: true },
    ...(taxIncluded ? tax : [])
  ]
}

const sum = (movements: ReadonlyArray<Movement>) => movements.reduce((total, { amount }) => total + amount, 0)

const paymentsOf = ({ content, payments, refunds }: InvoiceDocument, words: InvoiceWords): ReadonlyArray<Fact> => {
  const { date, money } = texts(content)
  const due = Math.max(0, content.grandTotal - sum(payments))
  return [
    ...payments.map(({ amount, at, by }) => ({
      label: [words.paid, date(at), ...(by === undefined ? [] : [by])].join(" "),
      value: money(amount)
    })),
    ...refunds.map(({ amount, at }) => ({ label: `${words.refunded} ${date(at)}`, value: money(-amount) })),
    { label: words.due, value: money(due), strong: true }
  ]
}

export interface TaxGroup {
  /** In tenths of a percent, inferred from the amounts; null for tax on shipping. */
  readonly rate: number | null
  /** Minor units before tax. */
  readonly net: number
  readonly tax: number
}

/** A line's tax is an integer of minor units and may include one from a remainder. */
const tolerance = 1.5

const rateOf = (net: number, tax: number): number => (net === 0 ? 0 : Math.round((tax / net) * 1_000))

/**
 * The tax of an order whose lines do not know their rates, by rate, largest first: a line belongs to a rate that explains
 * its tax to the unit. The tax of no line is the tax on shipping.
 */
export const taxGroups = (content: InvoiceContent): ReadonlyArray<TaxGroup> => {
  const taxed = content.lines
    .map(({ amount, tax }) => ({ net: amount - tax, tax }))
    .toSorted((one, other) => other.net - one.net)
  const groups: Array<{ rate: number; net: number; tax: number }> = []
  for (const { net, tax } of taxed) {
    const group = groups.find(({ rate }) => Math.abs((net * rate) / 1_000 - tax) <= tolerance)
    if (group === undefined) groups.push({ rate: rateOf(net, tax), net, tax })
    else {
      group.net += net
      group.tax += tax
    }
  }
  const rest = content.taxTotal - groups.reduce((sum, { tax }) => sum + tax, 0)
  const shipping = rest === 0
    ? []
    : [{ rate: null, net: content.shippingTotal - (content.taxIncluded ? rest : 0), tax: rest }]
  const byTax = groups.filter(({ tax }) => tax !== 0).toSorted((one, other) => other.tax - one.tax)
  return [...byTax, ...shipping]
}

const taxesOf = (content: InvoiceContent, words: InvoiceWords) => {
  const { money, percent } = texts(content)
  const { taxes = [], taxTotal } = content
  const isKnown = taxes.reduce((total, { amount }) => total + amount, 0) === taxTotal
  const rows = isKnown
    ? taxes.map(({ amount, base, name, rate }) => ({
      label: rate === null ? oneLine(name) : `${oneLine(name)} ${percent(Number(rate))}`,
      net: base,
      tax: amount
    }))
    : taxGroups(content).map(({ net, rate, tax }) => ({
      label: rate === null ? words.shipping : percent(rate / 10),
      net,
      tax
    }))
  return {
    label: words.taxes,
    columns: [words.rate, words.net, words.tax],
    rows: rows.map(({ label, net, tax }) => [label, money(net), money(tax)])
  }
}

const exemptionOf = ({ taxExemption }: InvoiceContent, words: InvoiceWords): ReadonlyArray<string> => {
  if (!taxExemption) return []
  const { number, reason } = taxExemption
  return [`${words.taxExemption}: ${[reason, ...(number === null ? [] : [number])].join(", ")}`]
}

const taxedBeforeOf = (content: InvoiceContent, words: InvoiceWords): ReadonlyArray<string> =>
  content.taxedBefore === undefined ? [] : [`${words.taxedBefore}: ${texts(content).money(content.taxedBefore)}`]

/** Dates in UTC. */
export const shown = (document: InvoiceDocument, words: InvoiceWords): ShownDocument => {
  const { content, date: at, kind, number } = document
  const { date, money, some } = texts(content)
  const { seller } = content
  const fact = (label: string, value: string | null) => (value === null ? [] : [{ label, value }])
  return {
    locale: content.locale,
    date: at,
    title: kind === "invoice" ? words.invoice : words.receipt,
    seller: { name: oneLine(seller.name), lines: seller.lines.map(oneLine) },
    facts: [
      ...fact(words.number, number),
      ...fact(words.date, date(at)),
      ...fact(words.order, content.orderNumber),
      ...fact(words.ordered, date(content.placedAt)),
      ...fact(words.taxNumber, seller.taxNumber)
    ],
    parties: [
      { label: words.billTo, lines: content.billTo.map(oneLine) },
      { label: words.shipTo, lines: content.shipTo.map(oneLine) }
    ].filter(({ lines }) => lines.length > 0),
    columns: [words.item, words.quantity, words.unitPrice, words.discount, words.tax, words.amount],
    widths: [35, 68, 64, 58, 66],
    rows: content.lines.map(({ amount, discount, notes, priceSteps = [], quantity, sku, tax, unitPrice, ...item }) => ({
      title: oneLine(itemLabel(item)),
      details: [sku, ...priceSteps.map((step) => `${step.label} ${money(stepAmount(step))}`), notes].map((text) =>
        oneLine(text ?? "")
      ).filter((text) => text !== ""),
      cells: [String(quantity), money(unitPrice), some(-discount), some(tax), money(amount)]
    })),
    totals: totalsOf(content, words),
    taxes: taxesOf(content, words),
    payments: { label: words.payments, facts: paymentsOf(document, words) },
    notes: [...exemptionOf(content, words), ...taxedBeforeOf(content, words), ...seller.notes].map(oneLine),
    page: words.page
  }
}
