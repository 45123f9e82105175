import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { aMember } from "../../../../test/auth/Visitors.ts"
import { onDatabase, refused } from "../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin, live, TestApp, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aTill, post } from "./Till.ts"

const shop = layer(
  testAppLayer({
    plugins: [pos()],
    auth: { requireEmailVerification: false, apiKeys: { enabled: true }, roles: { cashier: ["pos:operate"] } },
    email: { send: () => Effect.void }
  }, { logLevel: "none" }),
  live
)

/** A cashier with the PIN 7294. */
const aCashier = Effect.gen(function*() {
  const { userId: operatorId } = yield* aMember("cashier")
  const made = yield* api("PUT", "/api/pos/auth/pin", { as: asAdmin, body: { operatorId, pin: "7294" } })
  assert.strictEqual(made.status, 200, JSON.stringify(made.body))
  return operatorId
})

const aDevice = Effect.fnUntraced(function*(terminalId: string) {
  const paired = yield* post(`/terminals/${terminalId}/devices`, { name: "iPad" })
  return { id: paired.text("data.id"), key: paired.text("data.key") }
})

const withKey = (method: "GET" | "POST", path: string, key: string, body: object = {}) =>
  api(method, `/api/pos${path}`, { headers: { "x-api-key": key }, ...(method === "POST" ? { body } : {}) })

const logIn = (key: string, operatorId: string) => withKey("POST", "/auth/pin-login", key, { operatorId, pin: "7294" })

shop("people at a till", (it) => {
  it.effect("lose their key with the device that they logged in on, and with their PIN", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const [first, second] = [yield* aDevice(till.terminalId), yield* aDevice(till.terminalId)]
      const cashier = yield* aCashier
      const [here, there] = [
        (yield* logIn(first.key, cashier)).text("data.apiKey"),
        (yield* logIn(second.key, cashier)).text("data.apiKey")
      ]
      const statuses = Effect.forEach([here, there], (key) =>
        Effect.map(withKey("GET", "/shifts/current", key), ({ status }) => status))
      assert.deepStrictEqual(yield* statuses, [200, 200])
      yield* api("DELETE", `/api/pos/devices/${first.id}`, { as: asAdmin })
      assert.deepStrictEqual(yield* statuses, [401, 200])
      refused(yield* logIn(first.key, cashier), 401, "UNAUTHORIZED")
      assert.strictEqual((yield* api("DELETE", `/api/pos/auth/pin/${cashier}`, { as: asAdmin })).status, 200)
      assert.deepStrictEqual(yield* statuses, [401, 401])
      refused(yield* logIn(second.key, cashier), 401, "UNAUTHORIZED")
    }))

  it.effect("have no key of a shift that is closed while they log in", () =>
    Effect.gen(function*() {
      const [app, till] = [yield* TestApp, yield* aTill()]
      yield* post(`/shifts/${till.shiftId}/close`, { closingCount: 0 })
      const [device, cashier] = [yield* aDevice(till.terminalId), yield* aCashier]
      const first = (yield* logIn(device.key, cashier)).text("data.apiKey")
      const shift = yield* withKey("POST", "/shifts/open", first, { terminalId: till.terminalId, openingFloat: 0 })
      const fork = <A>(work: Effect.Effect<A, never, TestApp>) =>
        Effect.forkDetach(Effect.provideService(work, TestApp, app))
      const [login, close] = yield* onDatabase((sql) =>
        sql.withTransaction(Effect.gen(function*() {
          yield* sql`lock table pos_logins in share mode`
          const waiting =
            sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
          const login = yield* fork(logIn(device.key, cashier))
          yield* Effect.repeat(waiting, { until: ({ length }) => length > 0 })
          const close = yield* fork(post(`/shifts/${shift.text("data.id")}/close`, { closingCount: 0 }))
          const isStuck = Effect.map(waiting, ({ length }) => length > 1 || close.pollUnsafe() !== undefined)
          yield* Effect.repeat(isStuck, { until: (stuck) => stuck })
          return [login, close] as const
        }))
      )
      const { text } = yield* Fiber.join(login)
      assert.strictEqual((yield* Fiber.join(close)).status, 201)
      refused(yield* withKey("GET", "/shifts/current", text("data.apiKey")), 401, "UNAUTHORIZED")
    }))
})
