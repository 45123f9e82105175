import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { scriptedProvider } from "../checkout/ScriptedProvider.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { api, asAdmin, TestApp, testAppLayer } from "../support/TestApp.ts"

const named = (providerId: string, secret?: string) => ({ ...scriptedProvider(secret).adapter, providerId })

const adapters = [named("first", "first"), named("second", "second")]

/** A pending order that was paid through a provider. */
const orderOf = (provider: string) =>
  Effect.flatMap(TestApp, ({ databaseUrl }) =>
    Effect.provide(
      buildOrder({ captured: null, provider }),
      sharedClient(databaseUrl)
    ))

/** The provider's report that an order is paid, signed with a secret. */
const paid = (order: Effect.Success<ReturnType<typeof orderOf>>, secret: string) => {
  const metadata = { orderId: order.id, organizationId: order.organizationId }
  const object = { id: order.intentId, amount: order.grandTotal, currency: "usd", metadata }
  const body = JSON.stringify({ id: newId(), type: "payment_intent.succeeded", data: { object } })
  return api("POST", "/api/payments/webhook", { body, headers: { "x-payment-signature": signTestEvent(secret, body) } })
}

const statusOf = (order: { readonly id: string }) =>
  Effect.map(api("GET", `/api/orders/${order.id}`, { as: asAdmin }), (answer) => answer.text("data.status"))

layer(testAppLayer({ payments: { adapters } }), { excludeTestServices: true, timeout: "60 seconds" })(
  "events of several payment providers",
  (it) => {
    it.effect("are accepted from each of them, and move only orders of the one that signed", () =>
      Effect.gen(function*() {
        for (const provider of ["first", "second", "test"]) {
          const order = yield* orderOf(provider)
          const [another = ""] = ["second", "first"].filter((one) => one !== provider)
          assert.strictEqual((yield* paid(order, another)).status, 200)
          assert.strictEqual(yield* statusOf(order), "pending", `${provider}, signed by ${another}`)
          assert.strictEqual((yield* paid(order, provider)).status, 200)
          assert.strictEqual(yield* statusOf(order), "confirmed", provider)
        }
      }))

    it.effect("are refused when nobody's secret signed them, or none did", () =>
      Effect.gen(function*() {
        const forged = yield* paid(yield* orderOf("second"), "guessed")
        assert.deepStrictEqual([forged.status, forged.at("error.code")], [400, "WEBHOOK_VERIFICATION_FAILED"])
        const unsigned = yield* api("POST", "/api/payments/webhook", { body: {} })
        assert.deepStrictEqual([unsigned.status, unsigned.at("error.code")], [400, "WEBHOOK_SIGNATURE_MISSING"])
      }))
  }
)
