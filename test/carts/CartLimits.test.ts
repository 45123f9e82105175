import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { beforeHook } from "../../src/domain/platform/hooks/Hook.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { clientAs } from "../rpc/Calls.ts"
import { aGuestCart, aProduct, type GuestCart } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, at, testAppLayer, withSharedApp } from "../support/TestApp.ts"

const add = (cart: GuestCart, body: object) =>
  api("POST", `/api/carts/${cart.id}/items`, { body: { quantity: 1, ...body }, headers: cart.headers })

const linesOf = (cart: GuestCart) =>
  Effect.map(api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }), (found) => found.list("data.lineItems"))

/** A cart with so many lines of a product that differ by their metadata. */
const aLongCart = Effect.fnUntraced(function*(entityId: string, lines: number) {
  const cart = yield* aGuestCart()
  yield* add(cart, { entityId })
  yield* onDatabase((sql) =>
    sql`insert into cart_lines_with_metadata
        (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency, metadata, metadata_hash)
      select gen_random_uuid(), organization_id, cart_id, entity_id, 1, unit_price_snapshot, currency, j, md5(j::text)
      from cart_lines, generate_series(2, ${lines}::int) n, jsonb_build_object('n', n) j
      where cart_id = ${cart.id}::uuid`
  )
  return cart
})

const isFull = (answer: Answer, message: string) => {
  refused(answer, 422, "VALIDATION_FAILED")
  assert.deepStrictEqual(
    [answer.at("error.details.issues.0.code"), answer.at("error.details.issues.0.message")],
    ["too_many_lines", message]
  )
}

const cartOf500 = "A cart can have at most 500 lines. Remove one, or put the item into another cart."
const orderOf500 = "An order can have at most 500 lines. Remove one, or create another order."

withSharedApp("the lines of a cart", (it) => {
  it.effect("are 500 at most, and more of what is in the cart can still be added", () =>
    Effect.gen(function*() {
      const [entityId, another] = [yield* aProduct(), yield* aProduct()]
      const cart = yield* aLongCart(entityId, 500)
      for (const body of [{ entityId: another }, { entityId, metadata: { n: 501 } }]) {
        isFull(yield* add(cart, body), cartOf500)
      }
      for (const metadata of [{}, { n: 7 }]) {
        const more = yield* add(cart, { entityId, metadata, quantity: 2 })
        assert.deepStrictEqual([more.status, more.at("data.quantity")], [201, 3])
      }
      const [line] = yield* linesOf(cart)
      yield* api("DELETE", `/api/carts/${cart.id}/items/${String(at(line, "id"))}`, { headers: cart.headers })
      assert.strictEqual((yield* add(cart, { entityId: another })).status, 201)
      assert.strictEqual((yield* linesOf(cart)).length, 500)
    }))

  it.effect("are exactly 500 after fifty parallel adds to a cart with 499", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aLongCart(entityId, 499)
      const answers = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, n) => ({ entityId, metadata: { n: 1_000 + n } })),
        // A busy machine answers 503 to adds that waited for too long for their turn.
        (body) => Effect.repeat(add(cart, body), { while: ({ status }) => status === 503 }),
        { concurrency: "unbounded" }
      )
      const [made, ...others] = answers.toSorted((one, other) => one.status - other.status)
      assert.strictEqual(made?.status, 201)
      for (const answer of others) isFull(answer, cartOf500)
      assert.strictEqual((yield* linesOf(cart)).length, 500)
    }))

  it.effect("are not added by an edit to an order that has 500", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 1_000 })
      const lineItems = Array.from({ length: 500 }, (_, n) => ({ entityId, quantity: 1, metadata: { n } }))
      const order = yield* api("POST", "/api/orders", { as: asAdmin, body: { currency: "USD", lineItems } })
      const edit = (metadata: object) =>
        api("POST", `/api/orders/${order.text("data.id")}/line-items`, {
          as: asAdmin,
          body: { entityId, quantity: 1, metadata }
        })
      isFull(yield* edit({ n: 500 }), orderOf500)
      const more = yield* edit({ n: 499 })
      assert.deepStrictEqual([more.status, more.list("data.lineItems").length], [201, 500], JSON.stringify(more.body))
    }))
})

/** Lines of up to three, whose metadata a hook may replace by more than a request could send. */
const short = testAppLayer({
  cart: { maxLines: 3 },
  hooks: [
    beforeHook(
      "cart.beforeAddItem",
      ({ data }) => data.metadata?.["large"] === true ? { metadata: { x: "x".repeat(4_096) } } : {}
    )
  ]
})

layer(short, { excludeTestServices: true, timeout: "60 seconds" })("a deployment with cart.maxLines: 3", (it) => {
  it.effect("refuses a fourth line by HTTP, by /rpc and of an order that is ordered again", () =>
    Effect.gen(function*() {
      const as = asCustomer("orders-again")
      const goods = yield* Effect.forEach(Array.from({ length: 4 }), () => aProduct())
      const customerId = (yield* api("GET", "/api/me/profile", { as })).text("data.id")
      const lineItems = goods.map((entityId) => ({ entityId, quantity: 1 }))
      const body = { currency: "USD", customerId, lineItems }
      const order = yield* api("POST", "/api/orders", { as: asAdmin, body })
      const again = yield* api("POST", `/api/me/orders/${order.text("data.id")}/reorder`, { as })
      const message = "A cart can have at most 3 lines. Remove one, or put the item into another cart."
      assert.deepStrictEqual([again.at("data.itemsAdded"), again.at("data.itemsFailed.0.reason")], [3, message])
      const cartId = again.text("data.cartId")
      const item = { entityId: goods[3] ?? "", quantity: 1 }
      isFull(yield* api("POST", `/api/carts/${cartId}/items`, { as, body: item }), message)
      const rpc = yield* clientAs(as)
      const failed = yield* Effect.flip(rpc["carts.addItem"](Object({ cartId, item })))
      assert.include(JSON.stringify(failed), message)
    }))

  it.effect("refuses metadata from a hook that is larger than a request may send", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      refused(yield* add(cart, { entityId, metadata: { large: true } }), 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(yield* linesOf(cart), [])
    }))
})
