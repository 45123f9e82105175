import { imported, jsonl } from "./ImportCalls.ts"

/** An order of another system: two lines of 10.00 and 5.00, 3.00 off, 2.00 shipping, 1.20 tax on top; paid and sent. */
export const anOldOrder = (orderNumber: string, changes: object = {}) => ({
  orderNumber,
  status: "fulfilled",
  placedAt: "2021-03-04T05:06:07.089Z",
  email: "buyer@home.example",
  currency: "EUR",
  discountTotal: 300,
  shippingTotal: 200,
  taxTotal: 120,
  grandTotal: 2520,
  amountCaptured: 2520,
  lineItems: [
    { sku: "OLD-1", title: "Mug", quantity: 2, unitPrice: 1000 },
    { title: "Card", quantity: 1, unitPrice: 500, taxAmount: null }
  ],
  ...changes
})

/** Sends orders as lines of JSON. */
export const importedOrders = (
  orders: ReadonlyArray<object>,
  sent: { readonly as?: object; readonly query?: string } = {}
) => imported(jsonl(...orders), { ...sent, query: `kind=orders&format=jsonl${sent.query ?? ""}` })
