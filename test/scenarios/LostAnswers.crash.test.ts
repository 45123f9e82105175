import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { fileURLToPath } from "node:url"
import { stockOf } from "../checkout/CheckoutFixtures.ts"
import { audit, onDatabase } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aGuestCart, aProduct, aWarehouse, checkOut } from "../support/Purchase.ts"
import { restart, startService, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { api, asAdmin, type Call, type TestApp } from "../support/TestApp.ts"

interface Request {
  readonly method: string
  readonly path: string
  readonly call: Call
  /** What the request changes. */
  readonly effect: Effect.Effect<unknown, never, TestApp>
  readonly once: unknown
  /** The hook stands inside of the change's transaction, which its process takes with it: the repeat is the change. */
  readonly undone?: boolean
}

/** Requests by the hook that runs when their change has been made and their answer has not been stored. */
const requests: Readonly<Record<string, () => Effect.Effect<Request, never, TestApp>>> = {
  "cart.afterAddItem": Effect.fnUntraced(function*() {
    const { headers, id } = yield* aGuestCart()
    const call = { headers, body: { entityId: yield* aProduct(), quantity: 2 } }
    const quantity = Effect.map(
      api("GET", `/api/carts/${id}`, { headers }),
      (cart) => cart.list("data.lineItems").map((_, n) => cart.at(`data.lineItems.${n}.quantity`))
    )
    return { method: "POST", path: `/api/carts/${id}/items`, call, effect: quantity, once: [2] }
  }),
  "inventory.afterAdjust": Effect.fnUntraced(function*() {
    const entityId = yield* aProduct({ stock: 0 })
    const body = { entityId, warehouseId: yield* aWarehouse(), type: "restock", quantity: 7 }
    const once = { onHand: 7, reserved: 0 }
    return {
      method: "POST",
      path: "/api/inventory/adjust",
      call: { as: asAdmin, body },
      effect: stockOf(entityId),
      once,
      undone: true
    }
  }),
  "orders.afterStatusChange": Effect.fnUntraced(function*() {
    const id = (yield* checkOut(yield* aCartWith(yield* aProduct()))).text("data.id")
    const order = Effect.map(
      api("GET", `/api/orders/${id}`, { as: asAdmin }),
      (read) => [read.at("data.status"), read.at("data.amountCaptured")]
    )
    const call = { as: asAdmin, body: { status: "cancelled" } }
    return { method: "PATCH", path: `/api/orders/${id}/status`, call, effect: order, once: ["cancelled", 1_000] }
  })
}

describe("a process that dies after it changed something and before it could answer", () => {
  it.live.each(Object.entries(requests))(
    "(%s) leaves one change, however often its client asks again",
    ([hook, prepare]) =>
      Effect.gen(function*() {
        const { url: databaseUrl } = yield* freshDatabase
        const program = fileURLToPath(new URL("../support/serveDying.ts", import.meta.url))
        const doomed = yield* startService({ databaseUrl, program, environment: { STOA_TEST_DIE_AFTER: hook } })
        const request = yield* prepare().pipe(Effect.provide(talkingTo(doomed, databaseUrl)))
        const send = api(request.method, request.path, {
          ...request.call,
          headers: { ...request.call.headers, "idempotency-key": randomUUID() }
        })
        const recorded = yield* send.pipe(
          Effect.repeat({ until: ({ status }) => status !== 503, schedule: Schedule.spaced("100 millis") }),
          Effect.provide(talkingTo(doomed, databaseUrl))
        )
        assert.strictEqual(recorded.status, 0, "a dead process answers no request")
        assert.strictEqual((yield* Effect.promise(() => doomed.ended)).signal, "SIGKILL")
        const app = talkingTo(yield* restart(doomed, { databaseUrl }), databaseUrl)
        const again = yield* send.pipe(persistently, Effect.provide(app))
        assert.strictEqual(again.status, request.undone === true ? 200 : 409, JSON.stringify(again.body))
        if (request.undone !== true) assert.match(again.text("error.message"), /was carried out/)
        assert.deepStrictEqual(yield* request.effect.pipe(Effect.provide(app)), request.once)
        yield* audit(databaseUrl)
        const refunds = yield* onDatabase(databaseUrl, (sql) => sql`select 1 from refunds`)
        assert.strictEqual(refunds.length, hook === "orders.afterStatusChange" ? 1 : 0)
      })
  )
})
