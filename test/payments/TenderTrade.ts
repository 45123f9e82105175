import { assert } from "@effect/vitest"
import { Effect, Struct } from "effect"
import type { PaymentAdapter } from "../../src/domain/payments/PaymentAdapter.ts"
import { testProvider } from "../../src/layers/payments/TestProvider.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Chance, chanceOf } from "../pricing-properties/Chance.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { api, asAdmin, testAppLayer } from "../support/TestApp.ts"

interface Book {
  captured: number
  refunded: number
}

/** What the providers have of each payment, each key once. */
const books = new Map<string, Book>()
const keys = new Set<string>()

const note = (intentId: string, key: string, write: (book: Book) => void): void => {
  const book = books.get(intentId) ?? { captured: 0, refunded: 0 }
  books.set(intentId, book)
  if (!keys.has(key)) write(book)
  keys.add(key)
}

const plain = testProvider({ webhookSecret: "counted" })

const counted = (providerId: string): PaymentAdapter => ({
  ...Struct.omit(plain, ["verifyWebhook"]),
  providerId,
  isStoredValue: providerId === "balance",
  authorize: (request) => plain.authorize({ ...request, idempotencyKey: `${providerId} ${request.idempotencyKey}` }),
  capture: (id, amount, key) =>
    Effect.tap(
      plain.capture(id, amount, key),
      () => Effect.sync(() => note(id, `capture ${id} ${key}`, (book) => void (book.captured += amount)))
    ),
  refund: (id, amount, reason, key) =>
    Effect.tap(
      plain.refund(id, amount, reason, key),
      () => Effect.sync(() => note(id, `refund ${id} ${key}`, (book) => void (book.refunded += amount)))
    )
})

/** A store with two providers that count, one of them of stored value. */
export const countingStore = testAppLayer({
  payments: { adapters: [counted("counted"), counted("balance")] },
  jobs: { autorun: { enabled: false } }
}, { logLevel: "none" })

/** None to three payments before the main one; their amounts may be more than what is left. */
const anyTenders = (chance: Chance, total: number) =>
  Array.from({ length: chance.between(0, 3) }, (_, n) => ({
    method: chance.oneOf(["counted", "balance"]),
    token: `token-${n}`,
    ...(chance.inHundred(80) ? { amount: chance.between(1, total) } : {})
  }))

/** Refunds of amounts and units, more than is left among them, and sometimes the end of the order. */
const giveBack = Effect.fnUntraced(function*(chance: Chance, id: string, lineItemId: string, total: number) {
  for (let turn = chance.between(0, 3); turn > 0; turn--) {
    const part = chance.inHundred(50)
      ? { amount: chance.between(1, total) }
      : { lines: [{ lineItemId, quantity: chance.between(1, 3) }] }
    const headers = { "idempotency-key": `${id}-${turn}` }
    const answer = yield* persistently(api("POST", `/api/orders/${id}/refunds`, { as: asAdmin, body: part, headers }))
    assert.include([201, 409, 422], answer.status, JSON.stringify(answer.body))
  }
  if (chance.inHundred(20)) {
    yield* api("PATCH", `/api/orders/${id}/status`, { as: asAdmin, body: { status: "cancelled" } })
  }
})

/** Orders whose payments and refunds do not add up to what the order says. */
const unbalanced = onDatabase((sql) =>
  sql`select o.id from orders o
    join (select order_id, sum(amount) as amount, sum(captured) as captured, sum(refunded) as refunded
      from order_tenders_read group by order_id) t on t.order_id = o.id
    left join (select order_id, sum(given) as given from refunds group by order_id) r on r.order_id = o.id
    where (t.amount, t.captured, t.refunded, coalesce(r.given, 0))
      is distinct from (o.grand_total, o.amount_captured, o.refunded_total, o.refunded_total)`
)

/** Payments as the service has them. */
const payments = onDatabase((sql) =>
  sql<Book & { readonly intent: string }>`select intent_id as intent, captured::float8, refunded::float8
    from order_tenders_read where captured > 0`
)

const noneUnderWay = eventually(
  "all refunds to end",
  Effect.map(
    onDatabase((sql) => sql`select 1 from refunds where status = 'pending' limit 1`),
    ({ length }) => length === 0
  )
)

/**
 * Buys so many carts with one to four payments each and gives a part of them back. Nothing is lost and nothing is made up:
 * payments, refunds, orders and the books of the providers say the same, to the unit.
 */
export const tradeWithTenders = Effect.fnUntraced(function*(seed: number, purchases: number) {
  const setup = chanceOf(seed)
  const prices = Array.from({ length: 5 }, () => setup.between(3, 100_000))
  const products = yield* Effect.forEach(prices, (price) => aProduct({ price, stock: 1_000_000_000 }))
  const seen = { shared: 0, refunded: 0 }
  const buy = Effect.fnUntraced(function*(turn: number) {
    const chance = chanceOf(seed + 7_919 * (turn + 1))
    const product = chance.between(0, products.length - 1)
    const quantity = chance.between(1, 5)
    const total = (prices[product] ?? 0) * quantity
    const cart = yield* aCartWith(products[product] ?? "", quantity)
    const body = { paymentMethodId: "counted", tenders: anyTenders(chance, total) }
    const made = yield* persistently(checkOut(cart, body, { "idempotency-key": cart.id }))
    assert.strictEqual(made.status, 201, `purchase ${turn} of seed ${seed}: ${JSON.stringify(made.body)}`)
    assert.strictEqual(made.at("data.amountCaptured"), total, `purchase ${turn} of seed ${seed}`)
    if (made.list("data.tenders").length > 1) seen.shared += 1
    yield* giveBack(chance, made.text("data.id"), made.text("data.lineItems.0.id"), total)
  })
  const turns = Array.from({ length: purchases }, (_, turn) => turn)
  yield* Effect.forEach(turns, buy, { concurrency: 16, discard: true })
  yield* noneUnderWay
  assert.deepStrictEqual(yield* unbalanced, [])
  for (const { captured, intent, refunded } of yield* payments) {
    if (refunded > 0) seen.refunded += 1
    assert.deepStrictEqual(books.get(intent), { captured, refunded }, `payment ${intent} of seed ${seed}`)
  }
  return seen
})
