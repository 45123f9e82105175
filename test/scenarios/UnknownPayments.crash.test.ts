import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { audit, auditPayments, cartOf, soldOf } from "../support/Audit.ts"
import {
  emulatedProvider,
  emulatedService,
  type EmulatorMode,
  type PaymentEmulator,
  startEmulator
} from "../support/PaymentEmulator.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { restart, startService, talkingTo } from "../support/Service.ts"
import { TestApp, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

const nothingOpen = (emulator: PaymentEmulator) =>
  Effect.promise(() =>
    waitFor(
      "every payment to be voided",
      () => emulator.payments().length > 0 && emulator.payments().every(({ status }) => status === "canceled")
    )
  )

/** The answer is a failure, the stock and the cart are back, and the provider's silence changes nothing about it. */
const failsCleanly = Effect.fnUntraced(function*(cart: GuestCart, product: string, message: RegExp) {
  const { databaseUrl } = yield* TestApp
  const recorded = yield* checkOut(cart, { paymentMethodId: "card" })
  assert.strictEqual(recorded.status, 422, JSON.stringify(recorded.body))
  assert.strictEqual(recorded.at("error.code"), "CHECKOUT_FAILED")
  assert.match(recorded.text("error.message"), message)
  assert.deepStrictEqual(yield* cartOf(databaseUrl, cart.id), { status: "active", orders: 0 })
  assert.strictEqual(yield* soldOf(databaseUrl, product), 0)
  yield* audit(databaseUrl)
})

const cases: ReadonlyArray<readonly [string, EmulatorMode, "authorize" | "capture", RegExp]> = [
  ["an authorization that was heard and not answered", "hears", "authorize", /^The payment was refused/],
  ["an authorization that was never heard", "deaf", "authorize", /^The payment was refused/],
  ["an authorization that is answered too late", { late: 4_000 }, "authorize", /^The payment was refused/],
  ["a capture that was heard and not answered", "hears", "capture", /^The payment could not be captured/]
]

describe("a payment whose outcome is unknown", () => {
  it.live.each(cases)("%s fails the checkout, and the money goes back once the provider answers", (
    [, mode, towards, message]
  ) =>
    Effect.gen(function*() {
      const emulator = yield* startEmulator
      yield* Effect.gen(function*() {
        const { databaseUrl } = yield* TestApp
        const product = yield* aProduct({ stock: 1 })
        const cart = yield* aCartWith(product)
        emulator.behave(mode, towards)
        emulator.behave("deaf", "cancel")
        yield* failsCleanly(cart, product, message)
        assert.isFalse(emulator.payments().some(({ status }) => status === "canceled"), "the recovery undoes it later")

        const other = yield* checkOut(cart, { paymentMethodId: "test" })
        assert.strictEqual(other.status, 201, "the shopper is free to pay otherwise")
        emulator.behave("answers")
        yield* nothingOpen(emulator)
        assert.strictEqual(yield* soldOf(databaseUrl, product), 1)
        yield* audit(databaseUrl)
      }).pipe(Effect.provide(Layer.fresh(testAppLayer({ payments: { adapters: [emulatedProvider(emulator.url)] } }))))
    }))

  it.live("is undone also when the process died before the provider answered again", () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const emulator = yield* startEmulator
      const options = { databaseUrl, ...emulatedService(emulator) }
      const service = yield* startService(options)
      yield* Effect.gen(function*() {
        const product = yield* aProduct()
        emulator.behave("hears")
        yield* failsCleanly(yield* aCartWith(product), product, /^The payment was refused/)
      }).pipe(Effect.provide(talkingTo(service, databaseUrl)))
      service.kill("SIGKILL")
      yield* restart(service, options)
      emulator.behave("answers")
      yield* nothingOpen(emulator)
      yield* auditPayments(databaseUrl, emulator)
    }))
})
