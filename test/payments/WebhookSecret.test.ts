import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { api, testAppLayer } from "../support/TestApp.ts"

const withoutSecret = testAppLayer({ payments: { test: { webhookSecret: "" } } })

layer(withoutSecret, { excludeTestServices: true, timeout: "60 seconds" })("without a secret", (it) => {
  it.effect("no event can be believed: 503, so that the provider comes again", () =>
    Effect.gen(function*() {
      const answer = yield* api("POST", "/api/payments/webhook", { body: {}, headers: { "x-payment-signature": "00" } })
      assert.deepStrictEqual([answer.status, answer.at("error.code")], [503, "WEBHOOK_SECRET_MISSING"])
      assert.strictEqual(answer.headers.get("retry-after"), "1")
    }))
})
