import { Effect, Schema } from "effect"
import type { Invoice, InvoiceLine } from "./InvoiceBook.ts"
import { currency } from "./InvoiceFile.ts"
import { readAll, reading, type Shop } from "./ShopClient.ts"

/** What of an order is compared with its invoice. Amounts in pence. */
export const PlacedOrder = Schema.Struct({
  id: Schema.String,
  orderNumber: Schema.String,
  currency: Schema.String,
  subtotal: Schema.Int,
  grandTotal: Schema.Int,
  amountCaptured: Schema.NullOr(Schema.Int),
  idempotencyKey: Schema.NullOr(Schema.String),
  lineItems: Schema.Array(Schema.Struct({ quantity: Schema.Int }))
})
export type PlacedOrder = typeof PlacedOrder.Type

const WithId = Schema.Struct({ data: Schema.Struct({ id: Schema.String }) })
const OneOrder = Schema.Struct({ data: PlacedOrder })

/** The idempotency key of an invoice's checkout: a repeated replay finds the first order. */
export const checkoutKey = (invoice: string): string => `replay-${invoice}`

/** Orders that earlier runs placed, by the key of their checkout. */
export const ordersPlaced = Effect.fnUntraced(function*(shop: Shop) {
  const orders = (yield* readAll(shop, "/api/orders", Schema.Array(PlacedOrder))).flat()
  return new Map(orders.flatMap((order) => order.idempotencyKey === null ? [] : [[order.idempotencyKey, order]]))
})

export const readOrder = (shop: Shop, id: string) =>
  Effect.map(
    Effect.flatMap(shop({ method: "GET", path: `/api/orders/${id}` }), reading(OneOrder)),
    ({ data }) => data
  )

/**
 * Cart, lines, checkout: each step under a key that follows from the invoice, so that a run that broke off anywhere is
 * taken up where it ended. The id of the order, or why the service refused the checkout.
 */
export const purchase = Effect.fnUntraced(
  function*(shop: Shop, { country, customer, date, lines, number }: Invoice, idOf: (slug: string) => string) {
    const key = checkoutKey(number)
    const cart = yield* shop({ method: "POST", path: "/api/carts", body: { currency }, key: `${key}-cart` })
    const cartId = (yield* reading(WithId)(cart)).data.id
    for (const [index, { quantity, slug }] of lines.entries()) {
      const body = { entityId: idOf(slug), quantity }
      yield* shop({ method: "POST", path: `/api/carts/${cartId}/items`, body, key: `${key}-line-${index}` })
    }
    const metadata = { invoice: number, date, customer, country }
    const body = { cartId, currency, paymentMethodId: "test", metadata }
    const done = yield* shop({ method: "POST", path: "/api/checkout", body, key, expected: [422] })
    return done.status === 422
      ? { _tag: "Refused", reason: JSON.stringify(done.body) } as const
      : { _tag: "Created", id: (yield* reading(WithId)(done)).data.id } as const
  }
)

/** One product, one price at a time: what stands in the way of buying two invoices side by side. */
const conflicts = (prices: ReadonlyMap<string, number>, lines: ReadonlyArray<InvoiceLine>): boolean =>
  lines.some(({ slug, unitPrice }) => (prices.get(slug) ?? unitPrice) !== unitPrice)

/**
 * Invoices in the order of the file, in rounds that can be bought side by side: within a round every product has one
 * price, which is set before the round begins, and no round begins before the one before it has ended.
 */
export function* rounds(invoices: ReadonlyArray<Invoice>, most: number): Generator<ReadonlyArray<Invoice>> {
  let round: Array<Invoice> = []
  let prices = new Map<string, number>()
  for (const invoice of invoices) {
    if (round.length === most || conflicts(prices, invoice.lines)) {
      yield round
      round = []
      prices = new Map()
    }
    round.push(invoice)
    for (const { slug, unitPrice } of invoice.lines) prices.set(slug, unitPrice)
  }
  if (round.length > 0) yield round
}
