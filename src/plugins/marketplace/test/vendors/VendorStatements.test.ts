import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { freshDatabase } from "../../../../../test/support/Postgres.ts"
import { aGuestCart, aProduct, checkOut, putInto } from "../../../../../test/support/Purchase.ts"
import { type StatementTap, tapOn } from "../../../../../test/support/StatementTap.ts"
import { type Answer, api, testAppOn } from "../../../../../test/support/TestApp.ts"
import { marketplace } from "../../index.ts"
import { asVendor } from "../MarketBuilder.ts"
import { admin, anApprovedVendor } from "../VendorShop.ts"

/** Every statement that the service sends. */
class Tap extends Context.Service<Tap, StatementTap>()("stoa/plugins/marketplace/test/VendorStatements/Tap") {}

const tapped = Layer.unwrap(Effect.gen(function*() {
  const { url } = yield* freshDatabase
  const tap = yield* tapOn(url)
  return Layer.merge(testAppOn(tap.url, { plugins: [marketplace()] }), Layer.succeed(Tap, tap))
}))

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
})
