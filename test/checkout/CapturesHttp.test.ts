import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import {
  api,
  asAdmin,
  asCustomer,
  asStaff,
  inOrganization,
  live,
  type TestApp,
  testAppLayer
} from "../support/TestApp.ts"
import { onDatabase } from "./CheckoutFixtures.ts"
import { refusal, scriptedProvider } from "./ScriptedProvider.ts"

const provider = scriptedProvider("scripted")

/** An order of two units at 5.00 whose checkout has authorized its payment by this instrument. */
const authorized = Effect.fnUntraced(function*(token: string, type = "product") {
  const cart = yield* aCartWith(yield* aProduct({ price: 500, type }), 2)
  const made = yield* checkOut(cart, { paymentMethodId: "scripted", paymentMethodToken: token })
  assert.deepStrictEqual([made.status, made.at("data.status"), made.at("data.amountCaptured")], [201, "pending", null])
  assert.strictEqual(provider.callsOf(token, "capture"), 0)
  return {
    id: made.text("data.id"),
    intentId: made.text("data.paymentIntentId"),
    line: made.text("data.lineItems.0.id")
  }
})

const capture = (id: string, body: object = {}, as: typeof asAdmin = asStaff) =>
  api("POST", `/api/orders/${id}/capture`, { as, body })

layer(testAppLayer({ payments: { adapters: [provider.adapter], capture: "manual" } }), live)(
  "a deployment where an operator captures",
  (it) => {
    it.effect("captures once for parallel and repeated requests, confirms the order and delivers its digital lines", () =>
      Effect.gen(function*() {
        const { id } = yield* authorized("whole", "course")
        const answers = yield* Effect.replicateEffect(capture(id), 4, { concurrency: "unbounded" })
        assert.isTrue(answers.every(({ status }) => status === 200 || status === 409), JSON.stringify(answers))
        const won = answers.find(({ status }) => status === 200)
        assert.deepStrictEqual([won?.at("data.status"), won?.at("data.amountCaptured")], ["confirmed", 1_000])
        assert.strictEqual(provider.callsOf("whole", "capture"), 1)
        const again = yield* capture(id)
        assert.deepStrictEqual([again.status, again.at("error.code")], [409, "CONFLICT"])
        const after = yield* api("GET", `/api/orders/${id}`, { as: asAdmin })
        assert.strictEqual(after.at("data.lineItems.0.fulfillmentStatus"), "fulfilled")
      }))

    it.effect("captures once for one Idempotency-Key, and repeats its answer", () =>
      Effect.gen(function*() {
        const { id } = yield* authorized("repeated")
        const headers = { "idempotency-key": newId() }
        const ask = api("POST", `/api/orders/${id}/capture`, { as: asStaff, headers })
        const [first, again] = [yield* ask, yield* ask]
        assert.deepStrictEqual([first.status, first.at("data.status")], [200, "confirmed"])
        assert.deepStrictEqual(again.body, first.body)
        assert.strictEqual(provider.callsOf("repeated", "capture"), 1)
      }))

    it.effect("captures one of two partial amounts at once, and refunds exactly that amount", () =>
      Effect.gen(function*() {
        const { id, line } = yield* authorized("part")
        const answers = yield* Effect.all([capture(id, { amount: 333 }), capture(id, { amount: 334 })], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
        const taken = answers.find(({ status }) => status === 200)?.number("data.amountCaptured") ?? 0
        assert.strictEqual(provider.paymentOf("part")?.captured, taken)
        const amounts: Array<number> = []
        for (let unit = 0; unit < 2; unit++) {
          const body = { lines: [{ lineItemId: line, quantity: 1 }] }
          const made = yield* api("POST", `/api/orders/${id}/refunds`, { as: asStaff, body })
          amounts.push(made.number("data.amount"))
        }
        assert.strictEqual(amounts.reduce((sum, amount) => sum + amount, 0), taken)
        assert.strictEqual(provider.paymentOf("part")?.refunded, taken)
      }))

    it.effect("leaves an order authorized when the provider refuses, so that it can be tried again or cancelled", () =>
      Effect.gen(function*() {
        const { id } = yield* authorized("broke")
        for (const calls of [1, 2]) {
          const refused = yield* capture(id)
          assert.deepStrictEqual([refused.status, refused.at("error.code")], [422, "PAYMENT_CAPTURE_FAILED"])
          assert.strictEqual(provider.callsOf("broke", "capture"), calls)
        }
        assert.strictEqual((yield* api("GET", `/api/orders/${id}`, { as: asAdmin })).text("data.status"), "pending")
        yield* api("PATCH", `/api/orders/${id}/status`, { as: asAdmin, body: { status: "cancelled" } })
        assert.strictEqual(provider.paymentOf("broke")?.status, "canceled")
        assert.strictEqual((yield* capture(id)).status, 409)
      }))

    it.effect("captures after a refusal under another key than the refused one", () =>
      Effect.gen(function*() {
        provider.obstruct(
          "second try",
          (operation, nth) => operation === "capture" && nth === 1 ? refusal : Effect.void
        )
        const { id } = yield* authorized("second try")
        assert.strictEqual((yield* capture(id)).status, 422)
        assert.deepInclude((yield* capture(id)).at("data"), { status: "confirmed", amountCaptured: 1_000 })
      }))

    it.effect("gives the money back when the order is cancelled while it is captured", () =>
      Effect.gen(function*() {
        const { id } = yield* authorized("meanwhile")
        const cancel = onDatabase((sql) => sql`update orders set status = 'cancelled' where id = ${id}::uuid`).pipe(
          Effect.provide(yield* Effect.context<TestApp>())
        )
        provider.obstruct("meanwhile", (operation) => operation === "capture" ? Effect.asVoid(cancel) : Effect.void)
        const answer = yield* capture(id)
        assert.deepStrictEqual([answer.status, answer.at("error.code")], [409, "CONFLICT"])
        assert.deepInclude(provider.paymentOf("meanwhile"), { status: "canceled", captured: 1_000, refunded: 1_000 })
      }))

    it.effect("waits for the shopper's confirmation first, and then for an operator only", () =>
      Effect.gen(function*() {
        const { id, intentId } = yield* authorized("asks by hand")
        assert.strictEqual((yield* capture(id)).status, 409)
        provider.confirm("asks by hand")
        const metadata = { orderId: id, organizationId: "org_default" }
        const body = JSON.stringify({
          id: newId(),
          type: "payment_intent.amount_capturable_updated",
          data: { object: { id: intentId, amount: 1_000, currency: "usd", metadata } }
        })
        const headers = { "x-payment-signature": signTestEvent("scripted", body) }
        assert.strictEqual((yield* api("POST", "/api/payments/webhook", { body, headers })).status, 200)
        const due = yield* onDatabase((sql) => sql`select payment_due_at from orders where id = ${id}::uuid`)
        assert.deepStrictEqual(due, [{ payment_due_at: null }])
        assert.strictEqual(provider.callsOf("asks by hand", "capture"), 0)
        assert.strictEqual((yield* capture(id)).at("data.amountCaptured"), 1_000)
      }))

    it.effect("refuses visitors, other tenants and amounts that cannot be captured", () =>
      Effect.gen(function*() {
        const { id } = yield* authorized("guarded")
        const answers = [
          yield* api("POST", `/api/orders/${id}/capture`, { body: {} }),
          yield* capture(id, {}, asCustomer("u1")),
          yield* capture(id, {}, inOrganization("org_else", asAdmin)),
          yield* capture(newId())
        ]
        assert.deepStrictEqual(answers.map(({ status }) => status), [401, 403, 404, 404])
        for (const amount of [0, 1.5, 1_001, "1"]) assert.strictEqual((yield* capture(id, { amount })).status, 422)
        assert.strictEqual(provider.callsOf("guarded", "capture"), 0)
      }))
  }
)
