import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { atOnce } from "../support/AtOnce.ts"
import { aCartWith, addTo, aGuestCart, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { api, asCustomer, at, TestApp, withSharedApp } from "../support/TestApp.ts"

const claim = (as: ReturnType<typeof asCustomer>, { headers, id }: GuestCart) =>
  api("POST", `/api/carts/${id}/claim`, { as, headers })

const read = (as: ReturnType<typeof asCustomer>, id: string) => api("GET", `/api/carts/${id}`, { as })

const aBuyer = () => asCustomer(`buyer-${crypto.randomUUID()}`)

/** A cart that the buyer opened while signed in, with some units of an item. */
const ownCart = Effect.fnUntraced(function*(as: ReturnType<typeof asCustomer>, entityId: string, quantity: number) {
  const made = yield* api("POST", "/api/carts", { as, body: { currency: "USD" } })
  const id = made.text("data.id")
  yield* api("POST", `/api/carts/${id}/items`, { as, body: { entityId, quantity } })
  return { id, headers: { "x-cart-secret": made.text("data.secret") } }
})

const quantities = (body: unknown) =>
  Object.fromEntries(
    Object(at(body, "data.lineItems")).map((line: unknown) => [at(line, "entityId"), at(line, "quantity")])
  )

withSharedApp("a claimed cart", (it) => {
  it.effect("takes the units of the buyer's other cart at today's prices, and claims it once only", () =>
    Effect.gen(function*() {
      const as = aBuyer()
      const [both, other] = [yield* aProduct({ price: 1_000 }), yield* aProduct({ price: 500 })]
      const own = yield* ownCart(as, both, 2)
      yield* api("POST", `/api/carts/${own.id}/items`, {
        as,
        body: { entityId: other, quantity: 1, metadata: { engraving: "J" } }
      })
      const guest = yield* aCartWith(both, 3)
      const claimed = yield* claim(as, guest)
      assert.strictEqual(claimed.status, 200, JSON.stringify(claimed.body))
      assert.strictEqual(claimed.at("data.id"), guest.id)
      assert.isString(claimed.at("data.customerId"))
      assert.deepStrictEqual(quantities(claimed.body), { [both]: 5, [other]: 1 })
      assert.strictEqual(claimed.at("data.totals.grandTotal"), 5_500)
      assert.strictEqual((yield* read(as, own.id)).at("data.status"), "merged")
      const again = yield* claim(as, guest)
      assert.deepStrictEqual(again.at("data"), claimed.at("data"))
    }))

  it.effect("sets the prices of merged lines again", () =>
    Effect.gen(function*() {
      const as = aBuyer()
      const entityId = yield* aProduct({ price: 1_000 })
      yield* ownCart(as, entityId, 6)
      yield* api("POST", "/api/pricing/prices", {
        as: { ...asCustomer("pricing"), permissions: ["*:*"] },
        body: { entityId, currency: "USD", amount: 800, minQuantity: 10 }
      })
      const guest = yield* aCartWith(entityId, 4)
      const headers = { ...guest.headers, "idempotency-key": `claim-${guest.id}` }
      const claimed = yield* claim(as, { ...guest, headers })
      assert.deepStrictEqual((yield* claim(as, { ...guest, headers })).body, claimed.body)
      assert.deepInclude(claimed.at("data.lineItems.0"), { quantity: 10, unitPriceSnapshot: 800, priceChanged: false })
    }))

  it.effect("keeps each unit once when it is claimed by many requests at once", () =>
    Effect.gen(function*() {
      const as = aBuyer()
      const entityId = yield* aProduct()
      yield* ownCart(as, entityId, 1)
      const guests = yield* Effect.forEach([1, 2, 3], () => aCartWith(entityId, 1))
      const answers = yield* Effect.forEach([...guests, ...guests], (guest) => claim(as, guest), {
        concurrency: "unbounded"
      })
      for (const { status } of answers) assert.include([200, 409], status)
      const carts = yield* Effect.forEach(guests, ({ id }) => read(as, id))
      const active = carts.filter((one) => one.at("data.status") === "active")
      const units = active.flatMap(({ body }) => Object.values(quantities(body)))
      assert.deepStrictEqual(units, [4])
    }))

  it.effect("has the units that the buyer's other cart got while it was claimed", () =>
    Effect.gen(function*() {
      const as = aBuyer()
      const entityId = yield* aProduct()
      const own = yield* ownCart(as, entityId, 1)
      const guest = yield* aCartWith(entityId, 1)
      const { databaseUrl } = yield* TestApp
      const [claimed] = yield* atOnce(
        (sql) =>
          Effect.andThen(
            sql`update carts set version = version + 1 where id = ${own.id}::uuid`,
            sql`update cart_lines set quantity = 7 where cart_id = ${own.id}::uuid`
          ),
        [claim(as, guest)]
      ).pipe(Effect.provide(sharedClient(databaseUrl)), Effect.orDie)
      assert.deepStrictEqual(quantities(claimed?.body), { [entityId]: 8 })
    }))

  it.effect("leaves the buyer's carts of other currencies, and earlier ones, as they are", () =>
    Effect.gen(function*() {
      const as = aBuyer()
      const entityId = yield* aProduct()
      const earlier = yield* ownCart(as, entityId, 2)
      const latest = yield* ownCart(as, entityId, 1)
      const euros = yield* api("POST", "/api/carts", { as, body: { currency: "EUR" } })
      const claimed = yield* claim(as, yield* aCartWith(entityId, 1))
      assert.deepStrictEqual(quantities(claimed.body), { [entityId]: 2 })
      const statuses = yield* Effect.forEach(
        [earlier.id, latest.id, euros.text("data.id")],
        (id) => Effect.map(read(as, id), (cart) => cart.at("data.status"))
      )
      assert.deepStrictEqual(statuses, ["active", "merged", "active"])
    }))

  it.effect("is not given to visitors, without its secret, or to a second customer", () =>
    Effect.gen(function*() {
      const guest = yield* aCartWith(yield* aProduct())
      assert.strictEqual((yield* api("POST", `/api/carts/${guest.id}/claim`, { headers: guest.headers })).status, 401)
      assert.strictEqual(
        (yield* claim(aBuyer(), { ...guest, headers: { "x-cart-secret": "x".repeat(32) } })).status,
        404
      )
      assert.strictEqual((yield* claim(aBuyer(), guest)).status, 200)
      const other = aBuyer()
      const refused = yield* claim(other, guest)
      assert.strictEqual(refused.status, 409)
      assert.include(refused.text("error.message"), "belongs to another customer")
    }))

  it.effect("is refused once it is bought, and the buyer's other cart stays", () =>
    Effect.gen(function*() {
      const as = aBuyer()
      const entityId = yield* aProduct()
      const own = yield* ownCart(as, entityId, 1)
      const guest = yield* aCartWith(entityId)
      assert.strictEqual((yield* checkOut(guest)).status, 201)
      assert.strictEqual((yield* claim(as, guest)).status, 422)
      assert.strictEqual((yield* read(as, own.id)).at("data.status"), "active")
    }))

  it.effect("is bought by one of a claim and a checkout at once with its units", () =>
    Effect.gen(function*() {
      const as = aBuyer()
      const entityId = yield* aProduct()
      const own = yield* ownCart(as, entityId, 2)
      const guest = yield* aCartWith(entityId, 1)
      const [bought, claimed] = yield* Effect.all([checkOut(guest), claim(as, guest)], { concurrency: "unbounded" })
      assert.strictEqual(bought.status, 201, JSON.stringify(bought.body))
      const units = bought.at("data.lineItems.0.quantity")
      assert.strictEqual(units, claimed.status === 200 ? 3 : 1)
      assert.strictEqual((yield* read(as, own.id)).at("data.status"), claimed.status === 200 ? "merged" : "active")
    }))
})

withSharedApp("a cart's secret", (it) => {
  it.effect("opens the cart until another one replaces it", () =>
    Effect.gen(function*() {
      const guest = yield* aGuestCart()
      const entityId = yield* aProduct()
      const path = `/api/carts/${guest.id}`
      const replaced = yield* api("POST", `${path}/secret`, { headers: guest.headers })
      assert.strictEqual(replaced.status, 200, JSON.stringify(replaced.body))
      assert.strictEqual((yield* api("GET", path, { headers: guest.headers })).status, 404)
      assert.strictEqual((yield* addTo(guest, entityId)).status, 404)
      const headers = { "x-cart-secret": replaced.text("data.secret") }
      assert.strictEqual((yield* addTo({ ...guest, headers }, entityId)).status, 201)
      assert.strictEqual((yield* api("POST", `${path}/secret`)).status, 404)
    }))
})
