import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { freshDatabase } from "../../../../test/support/Postgres.ts"
import { aGuestCart, aProduct, checkOut, putInto } from "../../../../test/support/Purchase.ts"
import { type SentStatement, type StatementTap, tapOn } from "../../../../test/support/StatementTap.ts"
import { type Answer, asAdmin, asStaff, live, testAppOn } from "../../../../test/support/TestApp.ts"
import { marketplace } from "../index.ts"
import { asVendor, done, type Who } from "./Calls.ts"
import { anOrderOf, aProductOf, aVendor } from "./Goods.ts"
import { withoutWorker } from "./Market.ts"

/** Every statement that the service sends. */
class Tap extends Context.Service<Tap, StatementTap>()("stoa/plugins/marketplace/test/Tap") {}

const tapped = Layer.unwrap(Effect.gen(function*() {
  const { url } = yield* freshDatabase
  const tap = yield* tapOn(url)
  return Layer.merge(testAppOn(tap.url, { plugins: [marketplace()], ...withoutWorker }), Layer.succeed(Tap, tap))
}))

/** What a request answers, and the statements that it sends. */
const tapping = Effect.fnUntraced(function*<A, R>(request: Effect.Effect<A, never, R>) {
  const tap = yield* Tap
  tap.take()
  const answer = yield* request
  return { answer, taken: tap.take() }
})

/** Whether a statement does more with tables of the plugin than the core's own, which look whether they have a row. */
const isOfPlugin = ({ text }: SentStatement) =>
  text.replaceAll(/select true from \w+|then '\w+' end/g, "").includes("marketplace_")

/** A statement with these words, and what its connection ran just before. */
const sending = (taken: ReadonlyArray<SentStatement>, words: string) => {
  const at = taken.findIndex(({ text }) => text.includes(words))
  const before = taken.slice(0, at).findLast(({ connection }) => connection === taken[at]?.connection)
  return { sent: taken[at]?.text ?? "", before: before?.text ?? "" }
}

/** Statements about tables of the plugin that a request sends. */
const sentBy = Effect.fnUntraced(function*<A, R>(request: Effect.Effect<A, never, R>) {
  const { answer, taken } = yield* tapping(request)
  // Whose a line of a cart is, is asked when it is added: not a matter of the order.
  const sent = taken.filter((one) => isOfPlugin(one) && !one.text.startsWith("select l.entity_id"))
    .map(({ text }) => text.slice(0, 60))
  const { before, sent: created } = sending(taken, "insert into orders (")
  return { answer, sent, created, before }
})

/** How many statements about vendors a request costs. */
const asked = Effect.fnUntraced(function*<R>(request: Effect.Effect<Answer, never, R>) {
  const { answer, taken } = yield* tapping(request)
  assert.include([200, 201], answer.status, JSON.stringify(answer.body))
  return taken.filter(isOfPlugin).length
})

/** Products, each of another vendor. */
const goods = (count: number) =>
  Effect.replicateEffect(Effect.flatMap(aVendor(), (vendorId) => aProductOf(vendorId)), count)

layer(tapped, live)("vendors", (it) => {
  it.effect("cost a page of the catalog one statement, however many of its things have one", () =>
    Effect.gen(function*() {
      yield* goods(6)
      const list = (limit: number, as: Who) => asked(done(as, `GET /api/catalog/entities?limit=${limit}`))
      const ofVendor = list(6, asVendor(yield* aVendor()))
      assert.deepStrictEqual(yield* Effect.all([list(1, asAdmin), list(6, asAdmin), ofVendor]), [1, 1, 1])
    }))

  it.effect("cost a line of a cart one statement, and a checkout as many of six lines as of one", () =>
    Effect.gen(function*() {
      const [first = "", ...others] = yield* goods(6)
      const [small, cart] = [yield* aGuestCart(), yield* aGuestCart()]
      assert.strictEqual(yield* asked(putInto(small, first)), 1)
      for (const entityId of [first, ...others]) yield* putInto(cart, entityId)
      assert.strictEqual(yield* asked(checkOut(small)), yield* asked(checkOut(cart)))
    }))

  it.effect("cost what is the store's own no statement and no transaction, from its page to its paid order", () =>
    Effect.gen(function*() {
      const [, own] = [yield* goods(1), yield* aProduct()]
      const { taken } = yield* tapping(Effect.gen(function*() {
        yield* done(undefined, "GET /api/catalog/entities?limit=1")
        yield* done(undefined, `GET /api/catalog/entities/${own}`)
        return yield* anOrderOf([[own]])
      }))
      assert.deepStrictEqual(taken.filter(isOfPlugin), [])
      for (const words of ["insert into orders (", "'payments.capture'"]) {
        const { before, sent } = sending(taken, words)
        assert.include(sent, "select true from marketplace_vendor_sub_orders", words)
        assert.notMatch(before, /^begin/i, words)
      }
    }))

  it.effect("are listed with as many statements as any page, searched or not", () =>
    Effect.gen(function*() {
      yield* Effect.replicateEffect(aVendor(), 3)
      for (const query of ["limit=1", "limit=100", "limit=100&search=vendor"]) {
        assert.strictEqual(yield* asked(done(asAdmin, `GET /vendors?${query}`)), 2)
      }
    }))

  it.effect("cost an order of 24 lines and 8 vendors as many statements about sub-orders as one line", () =>
    Effect.gen(function*() {
      const vendors = yield* Effect.replicateEffect(aVendor(), 8)
      const things = yield* Effect.forEach(
        vendors.flatMap((vendor) => [vendor, vendor, undefined]),
        (vendor) => vendor === undefined ? aProduct() : aProductOf(vendor)
      )
      const one = yield* sentBy(anOrderOf([[things[0] ?? ""]]))
      const many = yield* sentBy(anOrderOf(things.map((id) => [id, 2] as const)))
      assert.deepStrictEqual(many.sent, one.sent)
      assert.include(one.created, "insert into marketplace_vendor_sub_orders", "created with their order")
      assert.notMatch(one.before, /^begin/i, "without a transaction around it, whose locks a frozen process would keep")
      assert.isAtMost(one.sent.length, 12, JSON.stringify(one.sent))
      const refund = (orderId: string) => sentBy(done(asStaff, `POST /api/orders/${orderId}/refunds`, { amount: 1000 }))
      assert.deepStrictEqual((yield* refund(many.answer)).sent, (yield* refund(one.answer)).sent)
      assert.isAtMost((yield* sentBy(done(asAdmin, "GET /sub-orders"))).sent.length, 3)
    }))
})
