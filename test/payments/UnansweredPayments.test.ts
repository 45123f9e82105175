import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { checkoutFailed } from "../checkout/CheckoutFixtures.ts"
import { scriptedProvider, silence } from "../checkout/ScriptedProvider.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const provider = scriptedProvider()

/** Makes the next look for a provider die, as a durable process may when the database is away. */
let dies = false

const dying = {
  ...scriptedProvider().adapter,
  get providerId() {
    if (dies) {
      dies = false
      throw new Error("connection reset")
    }
    return "dying"
  }
}

const buy = Effect.fnUntraced(function*(token: string) {
  return yield* checkOut(yield* aCartWith(yield* aProduct()), {
    paymentMethodId: "scripted",
    paymentMethodToken: token
  })
})

layer(testAppLayer({ payments: { adapters: [dying, provider.adapter] } }), live)(
  "a provider that does not answer",
  (it) => {
    it.effect("voids the payment of a failed checkout in the end, also when something else dies on the way", () =>
      Effect.gen(function*() {
        provider.obstruct(
          "broke_dying",
          (operation, nth) =>
            operation !== "cancel" || nth > 3 ? Effect.void : Effect.andThen(
              Effect.sync(() => {
                dies = nth === 3
              }),
              silence
            )
        )
        checkoutFailed(yield* buy("broke_dying"))
        const voided = Effect.sync(() => provider.paymentOf("broke_dying")?.status === "canceled")
        yield* eventually("the payment to be voided", voided)
        assert.isFalse(dies)
      }))

    it.effect("answers a cancellation although its provider is silent, and refunds later", () =>
      Effect.gen(function*() {
        let silent = true
        provider.obstruct("slow_refund", (operation) => operation === "refund" && silent ? silence : Effect.void)
        const path = `/api/orders/${(yield* buy("slow_refund")).text("data.id")}`
        const answer = yield* api("PATCH", `${path}/status`, { as: asAdmin, body: { status: "cancelled" } })
        assert.deepStrictEqual([answer.at("data.status"), answer.at("data.refundedTotal")], ["cancelled", 0])
        silent = false
        const refunded = Effect.map(
          api("GET", path, { as: asAdmin }),
          (order) => order.at("data.refundedTotal") === 1_000
        )
        yield* eventually("the money to be back", refunded)
      }))
  }
)
