import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { type Hook, HookRefusal } from "../../src/domain/platform/hooks/Hook.ts"
import { type BuiltOrder, orderInApp as given } from "../support/OrderBuilder.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

/** A slow hook has been reached, and may go on. */
const [reached, goOn] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]

const seen: Array<readonly [key: string, value: object]> = []

const hooks: ReadonlyArray<Hook> = [
  {
    key: "orders.beforeStatusChange",
    before: ({ data }) =>
      Effect.gen(function*() {
        seen.push(["before", data])
        if (Reflect.get(data, "reason") === "slow") {
          yield* Deferred.succeed(reached, undefined)
          yield* Deferred.await(goOn)
        }
        if (Reflect.get(data, "reason") === "forbidden") return yield* Effect.fail(new HookRefusal("Not on a Friday."))
        if (Reflect.get(data, "reason") === "refunded_in_full") return yield* Effect.fail(new HookRefusal("It stays."))
        return { ...data, reason: `${String(Reflect.get(data, "reason"))} (checked)` }
      })
  },
  {
    key: "orders.afterStatusChange",
    after: ({ result: order }) => Effect.sync(() => void seen.push(["after", order]))
  },
  { key: "orders.afterStatusChange", after: () => Effect.die(new Error("broken plugin")) },
  { key: "orders.afterGet", after: ({ result: order }) => Effect.sync(() => void seen.push(["get", order])) }
]

const change = ({ id }: BuiltOrder, body: object) => api("PATCH", `/api/orders/${id}/status`, { as: asAdmin, body })

layer(testAppLayer({ hooks }), live)("hooks of orders", (it) => {
  it.effect("run before and after a change of status, and change nothing when they fail afterwards", () =>
    Effect.gen(function*() {
      const order = yield* given()
      seen.length = 0
      assert.strictEqual((yield* change(order, { status: "confirmed", reason: "paid" })).status, 200)
      assert.deepStrictEqual(seen.map(([key]) => key), ["before", "after"])
      const data = { orderId: order.id, fromStatus: "pending", newStatus: "confirmed", reason: "paid" }
      assert.deepStrictEqual(seen[0]?.[1], data)
      assert.strictEqual(Reflect.get(seen[1]?.[1] ?? {}, "status"), "confirmed")
    }))

  it.effect("do not block other changes of the order while they run", () =>
    Effect.gen(function*() {
      const order = yield* given()
      const slow = yield* Effect.forkChild(change(order, { status: "confirmed", reason: "slow" }))
      yield* Deferred.await(reached)
      const quick = yield* change(order, { status: "cancelled", reason: "quick" })
      assert.deepStrictEqual([quick.status, quick.at("data.status")], [200, "cancelled"])
      yield* Deferred.succeed(goOn, undefined)
      const late = yield* Fiber.join(slow)
      assert.deepStrictEqual([late.status, late.at("error.code")], [409, "CONFLICT"])
    }))

  it.effect("refuse a change with their text and leave the order as it was", () =>
    Effect.gen(function*() {
      const order = yield* given()
      const answer = yield* change(order, { status: "cancelled", reason: "forbidden" })
      assert.strictEqual(answer.status, 422)
      assert.include(answer.text("error.message"), "Not on a Friday.")
      const after = yield* api("GET", `/api/orders/${order.id}`, { as: asAdmin })
      assert.strictEqual(after.text("data.status"), "pending")
    }))

  it.effect("can keep the status of an order whose full refund is done", () =>
    Effect.gen(function*() {
      const order = yield* given({ status: "fulfilled" })
      seen.length = 0
      const made = yield* api("POST", `/api/orders/${order.id}/refund`, { as: asAdmin, body: {} })
      assert.deepStrictEqual([made.status, made.at("data.status")], [201, "completed"])
      const after = yield* api("GET", `/api/orders/${order.id}`, { as: asAdmin })
      assert.deepInclude(after.at("data"), { status: "fulfilled", refundedTotal: 1_000 })
      assert.deepStrictEqual(seen.map(([key]) => key), ["before", "get"])
    }))

  it.effect("do not run for a refused transition, and run after a read", () =>
    Effect.gen(function*() {
      const order = yield* given({ status: "cancelled" })
      seen.length = 0
      yield* change(order, { status: "confirmed" })
      assert.deepStrictEqual(seen, [])
      yield* api("GET", `/api/orders/${order.orderNumber}`, { as: asAdmin })
      assert.deepStrictEqual(seen.map(([key]) => key), ["get"])
    }))
})
