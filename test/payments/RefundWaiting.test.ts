import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { scriptedProvider, silence } from "../checkout/ScriptedProvider.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, type TestApp, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

const provider = scriptedProvider()

const withProvider = layer(testAppLayer({ payments: { adapters: [provider.adapter] } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

withProvider("a request that waits for a refund", (it) => {
  it.effect("answers without it after a while; the refund goes on", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      let silent = true
      provider.obstruct("slow_refund", (operation) => operation === "refund" && silent ? silence : Effect.void)
      const made = yield* checkOut(cart, { paymentMethodId: "scripted", paymentMethodToken: "slow_refund" })
      const path = `/api/orders/${made.text("data.id")}`
      const answer = yield* api("PATCH", `${path}/status`, { as: asAdmin, body: { status: "cancelled" } })
      assert.deepStrictEqual([answer.at("data.status"), answer.at("data.refundedTotal")], ["cancelled", 0])
      silent = false
      const run = Effect.runPromiseWith(yield* Effect.context<TestApp>())
      yield* Effect.promise(() =>
        waitFor(
          "the money to be back",
          async () => (await run(api("GET", path, { as: asAdmin }))).at("data.refundedTotal") === 1_000,
          20_000
        )
      )
    }))
})
