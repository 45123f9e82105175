import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { freshDatabase } from "../support/Postgres.ts"
import { addTo, aGuestCart, aProduct, type GuestCart, putInto } from "../support/Purchase.ts"
import { type SentStatement, type StatementTap, tapOn } from "../support/StatementTap.ts"
import { type Answer, api, asAdmin, at, live, testAppOn } from "../support/TestApp.ts"
import { aTaxRate, to } from "../tax/TaxedShop.ts"
import { changeLogAtRest } from "../tenancy/Footprint.ts"

/** Every statement that the service sends. */
class Tap extends Context.Service<Tap, StatementTap>()("stoa/test/checkout/StatementCounts/Tap") {}

const tapped = Layer.unwrap(Effect.gen(function*() {
  const { url } = yield* freshDatabase
  const tap = yield* tapOn(url)
  const app = testAppOn(tap.url, { jobs: { autorun: { enabled: false } } })
  return Layer.merge(app, Layer.succeed(Tap, tap))
}))

/**
 * What goes on beside requests: runners and their messages, scheduled jobs, statistics, now and then a block of order numbers
 * or a grant of requests; and the frames of transactions.
 */
const beside =
  /cluster_|pg_locks|advisory|^(begin|commit|savepoint|release)|pg_stat_user|order_counters|rate_limit_counters|process_lock|from checkout_runs where started_at|from holds where state = 'held' and expires_at/i

/** Jobs that look every half minute for refunds, captures, payments and carts that wait too long, and for totals of lists. */
const scheduled =
  /^update refunds set attempts|set (payment|capture)_due_at = case|^update collected_payments set status = 'returning'|^with abandoned as|^select c\.id, .* not exists \(select 1 from checkout_runs|delete from list_(changes|totals)/

/** The relay of the change log, which emits a change after it was made, asks first and works in a transaction then. */
const ofRelay = /from outbox_events where position is null|outbox_cursors|outbox_relay/

/** Takes out what the relay did: from its statements on to the end of their transaction, connection by connection. */
const withoutRelay = (sent: ReadonlyArray<SentStatement>): ReadonlyArray<SentStatement> => {
  const relaying = new Set<number>()
  return sent.filter(({ connection, text }) => {
    if (/outbox_cursors/.test(text)) relaying.add(connection)
    if (/^(commit|rollback)$/i.test(text)) relaying.delete(connection)
    return !ofRelay.test(text) && !relaying.has(connection)
  })
}

/** What a request sends until it is answered, in the first words of each statement. */
const sentBy = Effect.fnUntraced(function*<R>(request: Effect.Effect<Answer, never, R>) {
  const tap = yield* Tap
  yield* changeLogAtRest
  tap.take()
  const answer = yield* request
  const statements = withoutRelay(tap.take()).map(({ text }) => text).filter((text) =>
    !beside.test(text) && !scheduled.test(text)
  )
  assert.include([200, 201], answer.status, JSON.stringify(answer.body))
  return { answer, statements: statements.map((text) => text.slice(0, 120)) }
})

/** Everything that decides a price is there: modifiers, promotions by themselves and by code, zones and rates, tax. */
const aShop = Effect.gen(function*() {
  const post = (path: string, body: object) => Effect.asVoid(api("POST", `/api/${path}`, { as: asAdmin, body }))
  yield* post("pricing/modifiers", { name: "A tenth off", type: "percentage_discount", value: 10 })
  for (const [code, isAutomatic] of [["SPRING", true], ["CODE", false]] as const) {
    yield* post("promotions", { code, name: code, type: "percentage_off_order", value: 5, isAutomatic })
  }
  const zone = yield* api("POST", "/api/shipping/zones", { as: asAdmin, body: { name: "NL", countries: ["NL"] } })
  yield* post("shipping/rates", { zoneId: zone.text("data.id"), name: "Post", currency: "USD", amount: 490 })
  yield* aTaxRate({ country: "NL", rateBps: 2_100 })
})

const bodyOf = (more: object) => ({ currency: "USD", promotionCodes: ["CODE"], ...to("NL"), ...more })

/** Sends each request about a cart of so many lines, and gives what each of them sent to the database. */
const purchase = Effect.fnUntraced(function*(products: ReadonlyArray<string>) {
  const cart: GuestCart = yield* aGuestCart()
  for (const id of products.slice(1)) yield* putInto(cart, id)
  const add = yield* sentBy(addTo(cart, products[0] ?? ""))
  const addTotalled = yield* sentBy(addTo(cart, products[0] ?? "", 1, "?include=totals"))
  const view = yield* sentBy(api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }))
  const quoted = (body: object) => sentBy(api("POST", "/api/orders/quote", { as: asAdmin, body: bodyOf(body) }))
  const quote = yield* quoted({ cartId: cart.id })
  const unbound = yield* quoted({ lineItems: products.map((entityId) => ({ entityId, quantity: 1 })) })
  const rates = yield* sentBy(
    api("POST", "/api/shipping/quotes", { headers: cart.headers, body: { cartId: cart.id, ...to("NL") } })
  )
  const checkout = yield* sentBy(
    api("POST", "/api/checkout", {
      headers: cart.headers,
      body: bodyOf({ cartId: cart.id, paymentMethodId: "test" })
    })
  )
  const { answer: order } = checkout
  for (const field of ["discountTotal", "shippingTotal", "taxTotal"]) assert.isAbove(order.number(`data.${field}`), 0)
  assert.strictEqual(quote.answer.at("data.grandTotal"), order.at("data.grandTotal"))
  const path = `/api/orders/${order.text("data.id")}`
  const read = yield* sentBy(api("GET", path, { as: asAdmin }))
  const lines = order.list("data.lineItems").map((line) => ({
    lineItemId: at(line, "id"),
    quantity: at(line, "quantity")
  }))
  assert.strictEqual(lines.length, products.length)
  const refund = yield* sentBy(api("POST", `${path}/refunds`, { as: asAdmin, body: { lines, shipping: true } }))
  assert.strictEqual(refund.answer.at("data.amount"), order.at("data.grandTotal"))
  const sent = { add, addTotalled, view, quote, unbound, rates, checkout, read, refund }
  return Object.fromEntries(Object.entries(sent).map(([name, { statements }]) => [name, statements]))
})

/** The most that each request may send; docs/performance.md has the same figures. */
const most: Readonly<Record<string, number>> = {
  add: 2,
  addTotalled: 3,
  view: 2,
  quote: 3,
  unbound: 3,
  rates: 4,
  checkout: 5,
  read: 1,
  refund: 11
}

layer(tapped, live)("with promotions, shipping and tax", (it) => {
  it.effect("every request about a purchase sends as many statements for fifty lines as for one", () =>
    Effect.gen(function*() {
      yield* aShop
      const products = yield* Effect.forEach(Array.from({ length: 52 }), () => aProduct(), { concurrency: 4 })
      // The first purchase reads the rules of tax and shipping, which are cached then. The stock entity caches what it has
      // sold, so each purchase is of other products.
      yield* purchase(products.slice(0, 1))
      const one = yield* purchase(products.slice(1, 2))
      const fifty = yield* purchase(products.slice(2))
      for (const [name, statements] of Object.entries(one)) {
        assert.deepStrictEqual(fifty[name], statements, `${name}: ${fifty[name]?.join("\n")}`)
        assert.isAtMost(statements.length, most[name] ?? 0, `${name}: ${statements.join("\n")}`)
      }
    }))
})
