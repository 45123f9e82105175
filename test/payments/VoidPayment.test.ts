import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { checkoutFailed } from "../checkout/CheckoutFixtures.ts"
import { scriptedProvider, silence } from "../checkout/ScriptedProvider.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

const provider = scriptedProvider()

/** Makes the next look for a provider die, as whatever a durable process touches may when the database is away. */
let hiccup = false

const stumbling = {
  ...scriptedProvider().adapter,
  get providerId() {
    if (hiccup) {
      hiccup = false
      throw new Error("connection reset")
    }
    return "stumbling"
  }
}

const withHiccups = layer(testAppLayer({ payments: { adapters: [stumbling, provider.adapter] } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

withHiccups("a payment that has to be voided later", (it) => {
  it.effect("is voided also when something else than its provider dies on the way", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      provider.obstruct("broke_hiccup", (operation, nth) =>
        operation !== "cancel" || nth > 3 ? Effect.void : Effect.andThen(
          Effect.sync(() => {
            hiccup = nth === 3
          }),
          silence
        ))
      checkoutFailed(yield* checkOut(cart, { paymentMethodId: "scripted", paymentMethodToken: "broke_hiccup" }))
      yield* Effect.promise(() =>
        waitFor("the payment to be voided", () =>
          provider.paymentOf("broke_hiccup")?.status === "canceled", 20_000)
      )
      assert.isFalse(hiccup)
    }))
})
