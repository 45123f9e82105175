import type { Invoice } from "./InvoiceBook.ts"
import { currency } from "./InvoiceFile.ts"
import type { PlacedOrder } from "./Purchases.ts"

/** What an invoice of the file adds up to: pence, order lines (one per product) and units. */
export const invoiceTotals = ({ lines }: Invoice) => ({
  subtotal: lines.reduce((sum, { quantity, unitPrice }) => sum + quantity * unitPrice, 0),
  lines: new Set(lines.map(({ slug }) => slug)).size,
  units: lines.reduce((sum, { quantity }) => sum + quantity, 0)
})

/** In what an order differs from its invoice; a sentence for each difference. No tax and no shipping are expected. */
export const differences = (invoice: Invoice, order: PlacedOrder): ReadonlyArray<string> => {
  const wanted = invoiceTotals(invoice)
  const units = order.lineItems.reduce((sum, { quantity }) => sum + quantity, 0)
  const compared: ReadonlyArray<readonly [string, unknown, unknown]> = [
    ["currency", currency, order.currency],
    ["subtotal", wanted.subtotal, order.subtotal],
    ["lines", wanted.lines, order.lineItems.length],
    ["units", wanted.units, units],
    ["grand total", wanted.subtotal, order.grandTotal],
    ["amount paid", wanted.subtotal, order.amountCaptured]
  ]
  return compared.flatMap(([name, expected, found]) =>
    expected === found
      ? []
      : [`invoice ${invoice.number}, order ${order.orderNumber}: ${name} is ${found}, the invoice has ${expected}`]
  )
}
