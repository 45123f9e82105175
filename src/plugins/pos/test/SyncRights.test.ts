import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { holding, onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../test/support/Purchase.ts"
import { type asAdmin, at, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aTill, post, type Till, tillOf } from "./Till.ts"

const shop = layer(testAppLayer({ plugins: [pos()] }, { logLevel: "none" }), live)

const cashier = { ...holding("pos:operate"), userId: "cashier-1" }
const other = { ...holding("pos:operate"), userId: "cashier-2" }

const offline = (till: Till, id: string, entityId: string, body: object = {}) => ({
  id,
  shiftId: till.shiftId,
  at: new Date().toISOString(),
  items: [{ entityId, quantity: 1 }],
  payments: [{ method: "cash", amount: 1_000 }],
  ...body
})

shop("sales of devices", (it) => {
  it.effect("are refused with rounding that the till does not have, and codes are not stored", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const entityId = yield* aProduct({ price: 1_000, stock: 50 })
      const answer = yield* post("/sync", {
        sales: [
          offline(till, `${till.shiftId}-r`, entityId, { payments: [{ method: "cash", amount: 600, rounding: -400 }] }),
          offline(till, `${till.shiftId}-c`, entityId, {
            payments: [{ method: "card", amount: 1_100, changeGiven: 100 }]
          }),
          offline(till, `${till.shiftId}-v`, entityId, {
            voidReason: "x",
            payments: [{ method: "cash", amount: 1, changeGiven: 2 }]
          }),
          offline(till, `${till.shiftId}-e`, entityId, { items: [], payments: [] }),
          offline(till, `${till.shiftId}-ve`, entityId, { voidReason: "x", items: [], payments: [] }),
          offline(till, `${till.shiftId}-vc`, entityId, {
            voidReason: "x",
            customerId: "00000000-0000-4000-8000-000000000000"
          }),
          offline(till, `${till.shiftId}-cc`, entityId, { customerId: "00000000-0000-4000-8000-000000000000" }),
          offline(till, `${till.shiftId}-vg`, entityId, {
            voidReason: "x",
            payments: [{ method: "gift_card", amount: 5, reference: "SECRETCODE" }]
          }),
          offline(till, `${till.shiftId}-ok`, entityId)
        ]
      })
      assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
      assert.deepStrictEqual(answer.list("data").map((one) => at(one, "error.code")), [
        "VALIDATION_FAILED",
        "VALIDATION_FAILED",
        "VALIDATION_FAILED",
        "VALIDATION_FAILED",
        undefined,
        "VALIDATION_FAILED",
        "CHECKOUT_FAILED",
        "OFFLINE_PAYMENT",
        undefined
      ])
      const [row] = yield* onDatabase((sql) => sql`select string_agg(p::text, '') as text from pos_payments p`)
      assert.notInclude(String(row?.["text"]), "SECRETCODE")
    }))

  it.effect("are of cashiers too, without given prices and in their shifts only", () =>
    Effect.gen(function*() {
      const till = yield* tillOf(cashier)
      const entityId = yield* aProduct({ price: 1_000, stock: 50 })
      const priced = { items: [{ entityId, quantity: 1, unitPrice: 1 }], payments: [{ method: "cash", amount: 1 }] }
      const send = (as: typeof asAdmin, id: string, body: object = {}) =>
        Effect.map(post("/sync", { sales: [offline(till, `${till.shiftId}${id}`, entityId, body)] }, as), (answer) =>
          answer.at("data.0.error.code"))
      assert.deepStrictEqual([
        yield* send(cashier, "-1", priced),
        yield* send(other, "-2"),
        yield* send(cashier, "-3", { voidReason: "x" }),
        yield* send(cashier, "-4")
      ], ["FORBIDDEN", "FORBIDDEN", "FORBIDDEN", undefined])
    }))
})
