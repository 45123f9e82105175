import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "./Audit.ts"
import { persistently } from "./ServiceCalls.ts"
import { type Answer, api, type TestApp } from "./TestApp.ts"

/** The answers to shoppers: the orders that the shop confirmed, and the refusals by their text. */
export interface Reported {
  readonly orders: Array<string>
  readonly refusals: Map<string, number>
}

export const unannounced = (): Reported => ({ orders: [], refusals: new Map() })

/** One purchase by a shopper who repeats every request until it has an outcome, through failures of the service. */
const buy = Effect.fnUntraced(function*(product: string, paymentMethodId: string) {
  const made = yield* persistently(api("POST", "/api/carts", { body: { currency: "USD" } }))
  const cartId = made.text("data.id")
  const headers = { "x-cart-secret": made.text("data.secret") }
  // Without a key: a repeat may add a second piece, which the shopper does not mind.
  const added = yield* persistently(
    api("POST", `/api/carts/${cartId}/items`, { headers, body: { entityId: product, quantity: 1 } })
  )
  assert.strictEqual(added.status, 201, JSON.stringify(added.body))
  return yield* persistently(api("POST", "/api/checkout", {
    headers: { ...headers, "idempotency-key": `buy-${cartId}` },
    body: { cartId, paymentMethodId, currency: "USD" }
  }))
})

const note = (recorded: Reported, answer: Answer) => {
  if (answer.status === 201) recorded.orders.push(answer.text("data.id"))
  else {
    assert.strictEqual(answer.at("error.code"), "CHECKOUT_FAILED", `${answer.status} ${JSON.stringify(answer.body)}`)
    const message = answer.text("error.message")
    recorded.refusals.set(message, (recorded.refusals.get(message) ?? 0) + 1)
  }
}

/** So many shoppers buy one after the other until they are stopped; each takes the methods of payment in turn. */
export const shoppers = (
  count: number,
  product: string,
  recorded: Reported,
  done: () => boolean,
  methods: ReadonlyArray<string> = ["test"]
): Effect.Effect<void, never, TestApp> =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => n),
    Effect.fnUntraced(function*(n) {
      for (let turn = n; !done(); turn++) note(recorded, yield* buy(product, methods[turn % methods.length] ?? "test"))
    }),
    { concurrency: "unbounded", discard: true }
  )

/** Asserts that every confirmed order is there, once, and lives. */
export const auditConfirmed = Effect.fnUntraced(function*(url: string, { orders }: Reported) {
  const kept = yield* onDatabase(
    url,
    (sql) => sql<{ id: string }>`select id::text as id from orders where status <> 'cancelled'`
  )
  const ids = new Set(kept.map(({ id }) => id))
  assert.deepStrictEqual(orders.filter((id) => !ids.has(id)), [])
  assert.strictEqual(new Set(orders).size, orders.length)
})
