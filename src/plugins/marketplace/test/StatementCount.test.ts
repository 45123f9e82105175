import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { freshDatabase } from "../../../../test/support/Postgres.ts"
import { aGuestCart, aProduct, checkOut, putInto } from "../../../../test/support/Purchase.ts"
import { type StatementTap, tapOn } from "../../../../test/support/StatementTap.ts"
import { type Answer, api, asAdmin, asStaff, testAppOn } from "../../../../test/support/TestApp.ts"
import { marketplace } from "../index.ts"
import { anOrderOf, aProductOf, asVendor, aVendor } from "./MarketBuilder.ts"
import { admin, anApprovedVendor } from "./VendorShop.ts"

/** Every statement that the service sends. */
class Tap extends Context.Service<Tap, StatementTap>()("stoa/plugins/marketplace/test/Tap") {}

const tapped = Layer.unwrap(Effect.gen(function*() {
  const { url } = yield* freshDatabase
  const tap = yield* tapOn(url)
  return Layer.merge(
    testAppOn(tap.url, { plugins: [marketplace()], jobs: { autorun: { enabled: false } } }),
    Layer.succeed(Tap, tap)
  )
}))

/** Statements about tables of the plugin that a request sends. */
const sentBy = Effect.fnUntraced(function*<A, R>(request: Effect.Effect<A, never, R>) {
  const tap = yield* Tap
  tap.take()
  const answer = yield* request
  const taken = tap.take()
  // Whose a line of a cart is, is asked when it is added: not a matter of the order.
  const sent = taken.filter(({ text }) => /marketplace_/.test(text) && !text.startsWith("select l.entity_id"))
    .map(({ text }) => text.slice(0, 60))
  /** What the connection that created an order ran just before. */
  const [created] = taken.filter(({ text }) => text.includes("insert into orders ("))
  const [before] = taken.slice(0, created && taken.indexOf(created)).filter(({ connection }) =>
    connection === created?.connection
  ).reverse()
  return { answer, sent, created: created?.text ?? "", before: before?.text ?? "" }
})

const shop = layer(tapped, { excludeTestServices: true, timeout: "60 seconds" })

/** How many statements about vendors a request costs. */
const asked = Effect.fnUntraced(function*<R>(request: Effect.Effect<Answer, never, R>) {
  const tap = yield* Tap
  tap.take()
  const answer = yield* request
  assert.include([200, 201], answer.status, JSON.stringify(answer.body))
  return tap.take().filter(({ text }) => text.includes("marketplace_")).length
})

/** Products, each of another vendor. */
const goods = (count: number) =>
  Effect.forEach(
    Array.from({ length: count }),
    Effect.fnUntraced(function*() {
      const [vendorId, entityId] = [yield* anApprovedVendor(), yield* aProduct()]
      yield* admin("POST", `/${vendorId}/products`, { entityId })
      return entityId
    })
  )

shop("vendors", (it) => {
  it.effect("cost a page of the catalog one statement, however many of its things have one", () =>
    Effect.gen(function*() {
      yield* goods(6)
      for (const limit of [1, 6]) {
        assert.strictEqual(yield* asked(api("GET", `/api/catalog/entities?limit=${limit}`)), 1)
      }
      const vendorId = yield* anApprovedVendor()
      assert.strictEqual(yield* asked(api("GET", "/api/catalog/entities", { as: asVendor(vendorId) })), 1)
    }))

  it.effect("cost a line of a cart one statement, and a checkout as many of six lines as of one", () =>
    Effect.gen(function*() {
      const [first = "", ...others] = yield* goods(6)
      const small = yield* aGuestCart()
      assert.strictEqual(yield* asked(putInto(small, first)), 1)
      const ofOne = yield* asked(checkOut(small))
      const cart = yield* aGuestCart()
      for (const entityId of [first, ...others]) yield* putInto(cart, entityId)
      assert.strictEqual(yield* asked(checkOut(cart)), ofOne)
    }))

  it.effect("vendors are listed with as many statements as any page, searched or not", () =>
    Effect.gen(function*() {
      yield* Effect.all([anApprovedVendor(), anApprovedVendor(), anApprovedVendor()])
      assert.strictEqual(yield* asked(admin("GET", "?limit=1")), 2)
      assert.strictEqual(yield* asked(admin("GET", "?limit=100")), 2)
      assert.strictEqual(yield* asked(admin("GET", "?limit=100&search=vendor")), 2)
    }))

  it.effect("the statements about sub-orders are as many for an order of 24 lines and 8 vendors as for one line", () =>
    Effect.gen(function*() {
      const vendors = yield* Effect.forEach(Array.from({ length: 8 }), () => aVendor())
      const things = yield* Effect.forEach(
        vendors.flatMap((vendor) => [vendor, vendor, undefined]),
        (vendor) => vendor === undefined ? aProduct() : aProductOf(vendor)
      )
      const [thing = ""] = things
      const one = yield* sentBy(anOrderOf([[thing]]))
      const many = yield* sentBy(anOrderOf(things.map((id) => [id, 2] as const)))
      assert.deepStrictEqual(many.sent, one.sent)
      assert.include(one.created, "insert into marketplace_vendor_sub_orders", "created with their order")
      assert.notMatch(one.before, /^begin/i, "without a transaction around it, whose locks a frozen process would keep")
      assert.isAtMost(one.sent.length, 12, JSON.stringify(one.sent))
      const refund = (orderId: string) =>
        sentBy(api("POST", `/api/orders/${orderId}/refunds`, { as: asStaff, body: { amount: 1000 } }))
      const [small, large] = [yield* refund(one.answer), yield* refund(many.answer)]
      assert.deepStrictEqual(large.sent, small.sent)
      const list = sentBy(api("GET", "/api/marketplace/sub-orders", { as: asAdmin }))
      assert.isAtMost((yield* list).sent.length, 3)
    }))
})
