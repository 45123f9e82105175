import type { InvoiceContent } from "../../src/domain/invoices/Invoice.ts"

const titles = [
  "Stoneware mug",
  "Кружка керамическая, синяя",
  "Κούπα από πηλό",
  "Żółta filiżanka ze spodkiem, ręcznie malowana, sześć sztuk w pudełku prezentowym",
  "Plate"
]

interface Spec {
  readonly lines: number
  /** Of the tax, what is on shipping; minor units. */
  readonly shippingTax?: number
  readonly taxIncluded?: boolean
}

const lineOf = (index: number, taxIncluded: boolean): InvoiceContent["lines"][number] => {
  const [unitPrice, quantity] = [1_250 + 375 * index, (index % 3) + 1]
  const discount = index % 2 === 0 ? 100 : 0
  const rate = index % 4 === 3 ? 0.09 : 0.21
  const base = unitPrice * quantity - discount
  const tax = taxIncluded ? base - Math.round(base / (1 + rate)) : Math.round(base * rate)
  const title = titles[index % titles.length] ?? ""
  const sku = index % 5 === 4 ? null : `SKU-${index}`
  return { title, sku, quantity, unitPrice, discount, tax, amount: taxIncluded ? base : base + tax }
}

/** An invoice over so many lines of two rates of tax, in euros, that adds up. */
export const anInvoice = ({ lines: count, shippingTax = 0, taxIncluded = false }: Spec): InvoiceContent => {
  const lines = Array.from({ length: count }, (_, index) => lineOf(index, taxIncluded))
  const sum = (of: (line: InvoiceContent["lines"][number]) => number) =>
    lines.reduce((total, line) => total + of(line), 0)
  const subtotal = sum(({ quantity, unitPrice }) => quantity * unitPrice)
  const discountTotal = sum(({ discount }) => discount)
  const taxTotal = sum(({ tax }) => tax) + shippingTax
  const shippingTotal = 500
  return {
    seller: {
      name: "Mugs & Co — Кружки и Κούπες",
      lines: ["1 Main Street", "1234 AB Town", "Netherlands"],
      taxNumber: "NL001234567B01",
      notes: ["IBAN NL00 BANK 0123 4567 89 · payable within 14 days"]
    },
    billTo: ["Ann Lee", "2 Side Street", "4321 CD Village", "NL", "ann@home.example"],
    shipTo: ["Άννα Παπαδοπούλου", "Οδός Αθηνάς 3", "105 51 Αθήνα", "GR"],
    orderNumber: "ORD-2026-000042",
    placedAt: new Date("2026-11-20T10:00:00Z"),
    currency: "EUR",
    locale: "en",
    lines,
    subtotal,
    discountTotal,
    shippingTotal,
    taxTotal,
    taxIncluded,
    grandTotal: subtotal - discountTotal + shippingTotal + (taxIncluded ? 0 : taxTotal)
  }
}
