import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aCartWith, aProduct } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, type Call, withApp } from "../support/TestApp.ts"

/** JSON of very many values, as text: building it costs the test nothing. */
const many = (count: number, entry: string) => `[${Array.from({ length: count }, () => entry).join(",")}]`

const size = (answer: Answer) => Buffer.byteLength(JSON.stringify(answer.body))

/** A refusal that cost little: an answer of 4 kB at most, with 50 issues at most. */
const assertCheapRefusal = (answer: Answer) => {
  assert.deepStrictEqual([answer.status, answer.at("error.code")], [422, "VALIDATION_FAILED"])
  const issues = answer.list("error.details.issues")
  assert.isAtLeast(issues.length, 1)
  assert.isAtMost(issues.length, 50)
  assert.isAtMost(size(answer), 4_096)
}

const uuid = "0197a8f0-0000-7000-8000-000000000000"

/** Bodies of nearly 1 MB that a visitor can send, with the field that is too long. */
const tooLong: ReadonlyArray<readonly [path: string, field: string, body: string]> = [
  ["/api/shipping/quotes", "promotionCodes", `{"cartId":"${uuid}","promotionCodes":${many(500_000, "1")}}`],
  ["/api/promotions/validate", "lineItems", `{"code":"A","lineItems":${many(340_000, "{}")}}`],
  ["/api/promotions/validate", "customerGroupIds", `{"code":"A","customerGroupIds":${many(500_000, "1")}}`],
  ["/api/orders", "lineItems", `{"currency":"EUR","lineItems":${many(340_000, "{}")}}`],
  ["/api/checkout", "promotionCodes", `{"currency":"EUR","promotionCodes":${many(500_000, "1")}}`]
]

const rpcCall = (tag: string, payload: string) =>
  `{"_tag":"Request","id":1,"tag":"${tag}","payload":${payload},"headers":[]}`

withApp("large bodies", (it) => {
  for (const [path, field, body] of tooLong) {
    it.effect(`POST ${path} refuses ${field} by their number, before it looks at any of them`, () =>
      Effect.gen(function*() {
        const call: Call = path === "/api/orders" ? { as: asAdmin, body } : { body }
        const answer = yield* api("POST", path, call)
        assertCheapRefusal(answer)
        const issues = answer.list("error.details.issues")
        assert.strictEqual(issues.length, 1)
        assert.strictEqual(answer.text("error.details.issues.0.path"), field)
        assert.match(answer.text("error.message"), /must have at most \d+ entries/)
      }))
  }

  it.effect("an array within its bound that is wrong everywhere is answered with 50 issues at most", () =>
    Effect.gen(function*() {
      assertCheapRefusal(
        yield* api("POST", "/api/promotions/validate", { body: `{"code":"A","lineItems":${many(1_000, "{}")}}` })
      )
    }))

  it.effect("a record with very many keys is refused by their number", () =>
    Effect.gen(function*() {
      const order = Object.fromEntries(Array.from({ length: 60_000 }, (_, key) => [`m${key}`, 1]))
      const answer = yield* api("POST", "/api/analytics/query", {
        as: asAdmin,
        body: { measures: ["Orders.count"], order }
      })
      assertCheapRefusal(answer)
      assert.strictEqual(answer.at("error.message"), "order must have at most 50 keys.")
    }))

  it.effect("very many keys that a body may not have are answered in 4 kB", () =>
    Effect.gen(function*() {
      const unknown = Object.fromEntries(Array.from({ length: 60_000 }, (_, key) => [`m${key}`, 1]))
      assertCheapRefusal(
        yield* api("POST", "/api/analytics/query", { as: asAdmin, body: { measures: ["Orders.count"], ...unknown } })
      )
    }))

  it.effect("a key as long as a body is truncated in the answer", () =>
    Effect.gen(function*() {
      const key = "\u0001\u20ac".repeat(80_000)
      assertCheapRefusal(
        yield* api("POST", "/api/analytics/query", { as: asAdmin, body: { measures: ["Orders.count"], [key]: 1 } })
      )
    }))

  it.effect("a call at /rpc refuses an array by its number", () =>
    Effect.gen(function*() {
      const answer = yield* api("POST", "/rpc", {
        headers: { "x-api-key": "dev-admin-key" },
        body: rpcCall("inventory.check", `{"entityIds":${many(500_000, "1")}}`)
      })
      const text = JSON.stringify(answer.body)
      assert.include(text, "must have at most 100 entries")
      assert.isAtMost(text.length, 4_096)
    }))

  it.effect("messages name what is expected in plain words, and no schema of ours", () =>
    Effect.gen(function*() {
      const message = (path: string, body: string) =>
        Effect.map(api("POST", path, { as: asAdmin, body }), (answer) => answer.at("error.message"))
      const { id } = yield* aCartWith(yield* aProduct())
      assert.strictEqual(yield* message("/api/orders", "5"), "The request must be an object.")
      assert.strictEqual(yield* message("/api/orders/quote", "[]"), "The request must be an object.")
      assert.strictEqual(
        yield* message(`/api/orders/${id}/capture`, "\"all\""),
        "The request must be an object or null."
      )
      assert.strictEqual(yield* message("/api/admin/api-keys", "false"), "The request must be an object.")
    }))
})
