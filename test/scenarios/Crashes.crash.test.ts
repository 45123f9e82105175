import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  type FaultPoint,
  faultPoints,
  tenderFaultPoints,
  undoFaultPoints
} from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { audit, auditPayments, cartOf, onDatabase, soldOf } from "../support/Audit.ts"
import { MortalShop } from "../support/MortalShop.ts"
import { emulatedService, startEmulator } from "../support/PaymentEmulator.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aGuestCart, aProduct, checkOut, type GuestCart, putInto } from "../support/Purchase.ts"
import { restart, startService, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"

/** A single payment by this method of the provider. */
const by = (paymentMethodId: string) => ({ paymentMethodId })

/** Two payments of one order, of which this one pays the rest. */
const shared = (paymentMethodId: string) => ({
  paymentMethodId,
  tenders: [{ method: "emulated", token: "card", amount: 300 }]
})

const paidBy = (payment: object) => (cart: GuestCart) => checkOut(cart, payment)

const withKey = (payment: object) => (cart: GuestCart, key = `key-${cart.id}`) =>
  checkOut(cart, payment, { "idempotency-key": key })

/**
 * Two buyers, one with a key and one without, when the process dies at a step boundary of the first checkout that
 * gets there; then the same process without the fault. Gives the final answer to the buyer with the key.
 */
const dyingAt = Effect.fnUntraced(function*(faultPoint: FaultPoint, payment: object) {
  const shop = yield* MortalShop
  const { databaseUrl, emulator } = shop
  const before = yield* Effect.gen(function*() {
    const product = yield* aProduct({ stock: 10 })
    return { product, idempotent: yield* aCartWith(product), keyless: yield* aCartWith(product) }
  }).pipe(Effect.provide(shop.app()))
  const [first] = yield* shop.dyingAt(
    faultPoint,
    Effect.all([withKey(payment)(before.idempotent), paidBy(payment)(before.keyless)], {
      concurrency: "unbounded"
    })
  )
  assert.strictEqual(first.status, 0, "a dead process answers no request")
  const app = shop.app()
  const recorded = yield* withKey(payment)(before.idempotent).pipe(persistently, Effect.provide(app))
  yield* audit(databaseUrl)
  yield* auditPayments(databaseUrl, emulator)
  return { ...before, app, databaseUrl, emulator, recorded }
})

layer(MortalShop.layer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "a process that dies in the middle of a checkout",
  (it) => {
    const successes = [
      ...faultPoints.map((point) => [point, by("card")] as const),
      ...tenderFaultPoints.map((point) => [point, shared("card")] as const)
    ]

    it.effect.each(successes)(
      "at the boundary \"%s\" leaves one paid order for the one who asks again",
      ([point, payment]) =>
        Effect.gen(function*() {
          const { app, databaseUrl, emulator, idempotent, keyless, product, recorded } = yield* dyingAt(point, payment)
          assert.strictEqual(recorded.status, 201, JSON.stringify(recorded.body))
          assert.deepStrictEqual(yield* cartOf(databaseUrl, idempotent.id), { status: "checked_out", orders: 1 })
          const again = yield* withKey(payment)(idempotent).pipe(persistently, Effect.provide(app))
          assert.strictEqual(again.at("data.id"), recorded.at("data.id"))

          const cart = yield* cartOf(databaseUrl, keyless.id)
          if (cart.status === "active") {
            assert.strictEqual((yield* paidBy(by("card"))(keyless).pipe(Effect.provide(app))).status, 201)
          }
          assert.deepStrictEqual(yield* cartOf(databaseUrl, keyless.id), { status: "checked_out", orders: 1 })
          yield* audit(databaseUrl)
          yield* auditPayments(databaseUrl, emulator)
          assert.strictEqual(yield* soldOf(databaseUrl, product), 2)
        })
    )

    const failures = undoFaultPoints.flatMap((point) =>
      ["decline", "nocapture"].flatMap((method) => [
        [point, method, by(method)] as const,
        [point, `${method}, the second of two payments`, shared(method)] as const
      ])
    )

    it.effect.each(failures)(
      "at the boundary \"%s\" of one that fails by %s leaves nothing behind",
      ([point, _, payment]) =>
        Effect.gen(function*() {
          const { app, databaseUrl, emulator, idempotent, keyless, product, recorded } = yield* dyingAt(point, payment)
          assert.strictEqual(recorded.status, 422, JSON.stringify(recorded.body))
          assert.strictEqual(recorded.at("error.code"), "CHECKOUT_FAILED")
          assert.strictEqual(yield* soldOf(databaseUrl, product), 0)
          for (const { id } of [idempotent, keyless]) {
            assert.deepStrictEqual(yield* cartOf(databaseUrl, id), { status: "active", orders: 0 })
          }
          const second = yield* withKey(by("card"))(idempotent, "another-key").pipe(persistently, Effect.provide(app))
          assert.strictEqual(second.status, 201, JSON.stringify(second.body))
          yield* audit(databaseUrl)
          yield* auditPayments(databaseUrl, emulator)
        })
    )
  }
)

it.live(
  "an order that waits for its shopper ends some time also when its process died as it was placed",
  () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const emulator = yield* startEmulator
      const options = { databaseUrl, ...emulatedService(emulator) }
      const doomed = yield* startService({ ...options, faultPoint: "created" })
      const cart = yield* Effect.gen(function*() {
        const waiting = yield* aCartWith(yield* aProduct())
        assert.strictEqual((yield* withKey(by("3ds"))(waiting)).status, 0)
        return waiting
      }).pipe(Effect.provide(talkingTo(doomed, databaseUrl)))
      const app = talkingTo(yield* restart(doomed, options), databaseUrl)
      const recorded = yield* withKey(by("3ds"))(cart).pipe(persistently, Effect.provide(app))
      assert.deepStrictEqual(
        [recorded.status, recorded.at("data.status")],
        [201, "pending"],
        JSON.stringify(recorded.body)
      )
      const waiting = yield* onDatabase(
        databaseUrl,
        (sql) => sql`select 1 from orders where status = 'pending' and payment_due_at > now()`
      )
      assert.strictEqual(waiting.length, 1)
    })
)

it.live("a key whose process died before it started the checkout is as good as new", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const app = talkingTo(yield* startService({ databaseUrl: url }), url)
    yield* Effect.gen(function*() {
      const cart = yield* aGuestCart()
      // As if a process had taken the key and died: the key stays taken, and the checkout it led to never existed.
      yield* onDatabase(url, (sql) => sql`create rule kept as on delete to idempotency_keys do instead nothing`)
      const refused = yield* withKey(by("test"))(cart, "left-behind")
      assert.strictEqual(refused.at("error.message"), "The cart is empty.")
      yield* onDatabase(url, (sql) => sql`delete from cluster_messages`)
      const taken = yield* onDatabase(url, (sql) =>
        sql`select 1 from idempotency_keys where status = 'running' and locked_until > now()`)
      assert.strictEqual(taken.length, 1)
      yield* putInto(cart, yield* aProduct())
      const recorded = yield* withKey(by("test"))(cart, "left-behind").pipe(persistently)
      assert.strictEqual(recorded.status, 201, JSON.stringify(recorded.body))
    }).pipe(Effect.provide(app))
    yield* audit(url)
  }))
