import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin, withSharedApp } from "../support/TestApp.ts"

const write = (body: object, headers = {}) =>
  api("POST", "/api/orders", { as: asAdmin, body: { currency: "USD", ...body }, headers })

withSharedApp("orders that staff writes with a key", (it) => {
  it.effect("are made once for one idempotencyKey, in the body as in the header, and are held to their request", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 10 })
      const idempotencyKey = newId()
      const lineItems = [{ entityId, quantity: 1 }]
      const answers = yield* Effect.all(Array.from({ length: 4 }, () => write({ lineItems, idempotencyKey })), {
        concurrency: "unbounded"
      })
      assert.isTrue(answers.every(({ status }) => status === 201 || status === 409), JSON.stringify(answers))
      const first = yield* write({ lineItems, idempotencyKey })
      assert.strictEqual(first.status, 201)
      assert.deepStrictEqual(
        new Set(answers.filter(({ status }) => status === 201).map((answer) => answer.text("data.id"))),
        new Set([first.text("data.id")])
      )
      assert.strictEqual((yield* stockOf(entityId)).reserved, 1)
      const inHeader = yield* write({ lineItems, idempotencyKey }, { "idempotency-key": idempotencyKey })
      assert.strictEqual(inHeader.text("data.id"), first.text("data.id"))
      const other = yield* write({ lineItems: [{ entityId, quantity: 2 }], idempotencyKey })
      refused(other, 422, "VALIDATION_FAILED")
      assert.strictEqual(other.at("error.details.issues.0.code"), "key_reused")
      const short = yield* write({ lineItems, idempotencyKey: "short" })
      assert.strictEqual(
        short.at("error.message"),
        "idempotencyKey: Expected 8 to 255 visible ASCII characters"
      )
      const another = yield* write({ lineItems, idempotencyKey: newId() })
      assert.notStrictEqual(another.text("data.id"), first.text("data.id"))
    }))
})
