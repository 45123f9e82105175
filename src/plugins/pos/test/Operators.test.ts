import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { aMember } from "../../../../test/auth/Visitors.ts"
import { onDatabase, refused } from "../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import { api, asAdmin, live, TestApp, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aSale, aTill, get, post } from "./Till.ts"

const app = testAppLayer({
  plugins: [pos()],
  auth: {
    requireEmailVerification: false,
    apiKeys: { enabled: true },
    roles: { cashier: ["pos:operate"], supervisor: ["pos:operate", "pos:manage"] }
  },
  email: { send: () => Effect.void }
}, { logLevel: "none" })

const shop = layer(app, live)

const setPin = (operatorId: string, pin: string, canOverride = false) =>
  api("PUT", "/api/pos/auth/pin", { as: asAdmin, body: { operatorId, pin, canOverride } })

/** A cashier with the PIN 7294, and a device of a till. */
const aCashier = Effect.fnUntraced(function*(role = "cashier", canOverride = false) {
  const { userId } = yield* aMember(role)
  const made = yield* setPin(userId, "7294", canOverride)
  assert.strictEqual(made.status, 200, JSON.stringify(made.body))
  return userId
})

const aDevice = Effect.fnUntraced(function*(terminalId: string) {
  const paired = yield* post(`/terminals/${terminalId}/devices`, { name: "iPad" })
  assert.match(paired.text("data.key"), /^pos_device_/)
  return { id: paired.text("data.id"), key: paired.text("data.key") }
})

const withKey = (
  method: "GET" | "POST",
  path: string,
  key: string,
  body: object = {},
  headers: Record<string, string> = {}
) =>
  api(method, `/api/pos${path}`, { headers: { "x-api-key": key, ...headers }, ...(method === "POST" ? { body } : {}) })

const logIn = (key: string, operatorId: string, pin = "7294") =>
  withKey("POST", "/auth/pin-login", key, { operatorId, pin })

shop("people at a till", (it) => {
  it.effect("log in by PIN on a device, act as themselves, and log out", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const device = yield* aDevice(till.terminalId)
      const cashier = yield* aCashier()
      refused(yield* withKey("POST", "/transactions", device.key, till), 403, "FORBIDDEN")
      const login = yield* logIn(device.key, cashier)
      assert.strictEqual(login.status, 201, JSON.stringify(login.body))
      const key = login.text("data.apiKey")
      assert.match(key, /^pos_shift_/)
      assert.deepStrictEqual([login.at("data.terminalId"), login.at("data.shiftId")], [till.terminalId, null])
      yield* post(`/shifts/${till.shiftId}/close`, { closingCount: 0 })
      const shift = yield* withKey("POST", "/shifts/open", key, { terminalId: till.terminalId, openingFloat: 0 })
      assert.strictEqual(shift.at("data.operatorId"), cashier)
      const trail = yield* onDatabase((sql) =>
        sql`select actor_id from outbox_events where entity_id = ${shift.text("data.id")} limit 1`
      )
      assert.strictEqual(trail[0]?.["actor_id"], cashier)
      assert.strictEqual((yield* withKey("POST", "/auth/logout", key)).at("data.loggedOut"), true)
      refused(yield* withKey("GET", "/shifts/current", key), 401, "UNAUTHORIZED")
    }))

  it.effect("lose the key with the shift and with their dismissal", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      yield* post(`/shifts/${till.shiftId}/close`, { closingCount: 0 })
      const device = yield* aDevice(till.terminalId)
      const cashier = yield* aCashier()
      const key = (yield* logIn(device.key, cashier)).text("data.apiKey")
      const shift = yield* withKey("POST", "/shifts/open", key, { terminalId: till.terminalId, openingFloat: 0 })
      yield* withKey("POST", `/shifts/${shift.text("data.id")}/close`, key, { closingCount: 0 })
      refused(yield* withKey("GET", "/shifts/current", key), 401, "UNAUTHORIZED")
      const other = (yield* logIn(device.key, cashier)).text("data.apiKey")
      yield* onDatabase((sql) => sql`delete from members where user_id = ${cashier}::uuid`)
      yield* eventually(
        "the key to end",
        Effect.map(withKey("GET", "/shifts/current", other), ({ status }) => status === 401 ? true : undefined)
      )
      refused(yield* logIn(device.key, cashier), 401, "UNAUTHORIZED")
    }))

  it.effect("lose it with the device that they logged in on, and with their PIN", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const [first, second] = [yield* aDevice(till.terminalId), yield* aDevice(till.terminalId)]
      const cashier = yield* aCashier()
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
      const [device, cashier] = [yield* aDevice(till.terminalId), yield* aCashier()]
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

  it.effect("are locked for 15 minutes after five wrong PINs, of twenty guesses at once too", () =>
    Effect.gen(function*() {
      const device = yield* aDevice((yield* aTill()).terminalId)
      const cashier = yield* aCashier()
      const guesses = yield* Effect.all(
        Array.from({ length: 20 }, (_, n) => logIn(device.key, cashier, String(1_000 + n))),
        { concurrency: 20 }
      )
      assert.deepStrictEqual(
        [401, 429].map((status) => guesses.filter((one) => one.status === status).length),
        [5, 15],
        JSON.stringify(guesses.map(({ status }) => status))
      )
      const right = yield* logIn(device.key, cashier)
      refused(right, 429, "PIN_LOCKED")
      assert.isTrue(Number(right.headers.get("retry-after")) > 800)
      yield* onDatabase((sql) => sql`update pos_pin_attempts set locked_until = now() where operator_id = ${cashier}`)
      assert.strictEqual((yield* logIn(device.key, cashier)).status, 201)
      refused(yield* logIn(device.key, cashier, "1111"), 401, "UNAUTHORIZED")
      refused(yield* logIn(device.key, "00000000-0000-4000-8000-000000000000"), 401, "UNAUTHORIZED")
    }))

  it.effect("have no weak PIN, and only people of the staff have one", () =>
    Effect.gen(function*() {
      const { userId } = yield* aMember("cashier")
      for (const pin of ["1111", "1234", "9876", "123", "123456789", "12a4"]) {
        refused(yield* setPin(userId, pin), 422, "VALIDATION_FAILED", pin)
      }
      refused(yield* setPin("00000000-0000-4000-8000-000000000000", "7294"), 422, "VALIDATION_FAILED")
      const row = yield* onDatabase((sql) =>
        sql`select count(*)::int as count from pos_operator_pins where operator_id = ${userId}`
      )
      assert.strictEqual(row[0]?.["count"], 0)
    }))

  it.effect("need a supervisor's token for what they may not do, once, within a minute, for its action", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const device = yield* aDevice(till.terminalId)
      const [cashier, supervisor] = [yield* aCashier(), yield* aCashier("supervisor", true)]
      const key = (yield* logIn(device.key, cashier)).text("data.apiKey")
      const [sale, other] = [yield* aSale(till), yield* aSale(till)]
      const voiding = (path: string, token?: string) =>
        withKey("POST", `${path}/void`, key, { reason: "x" }, token === undefined ? {} : { "x-pos-override": token })
      refused(yield* voiding(sale.path), 403, "OVERRIDE_REQUIRED")
      const ask = (operatorId: string, body: object) =>
        withKey("POST", "/auth/override", device.key, { operatorId, pin: "7294", action: "void", ...body })
      refused(yield* ask(cashier, {}), 403, "FORBIDDEN")
      refused(yield* ask(supervisor, { pin: "0000" }), 401, "UNAUTHORIZED")
      const other1 = (yield* ask(supervisor, { action: "price" })).text("data.token")
      refused(yield* voiding(sale.path, other1), 403, "OVERRIDE_INVALID")
      const bound = (yield* ask(supervisor, { transactionId: other.id })).text("data.token")
      refused(yield* voiding(sale.path, bound), 403, "OVERRIDE_INVALID")
      const late = (yield* ask(supervisor, {})).text("data.token")
      yield* onDatabase((sql) => sql`update pos_overrides set expires_at = now() where used_at is null`)
      refused(yield* voiding(sale.path, late), 403, "OVERRIDE_INVALID")
      const token = (yield* ask(supervisor, {})).text("data.token")
      const voided = yield* voiding(sale.path, token)
      assert.deepStrictEqual([voided.at("data.status"), voided.at("data.overrideBy")], ["voided", supervisor])
      refused(yield* voiding(other.path, token), 403, "OVERRIDE_INVALID")
      const stored = yield* onDatabase((sql) => sql`select string_agg(o::text, '') as text from pos_overrides o`)
      assert.notInclude(String(stored[0]?.["text"]), token)
    }))

  it.effect("discount and price with a permission or a token, above the threshold with pos:admin", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const device = yield* aDevice(till.terminalId)
      const [cashier, supervisor] = [yield* aCashier(), yield* aCashier("supervisor", true)]
      const [plain, high] = [
        (yield* logIn(device.key, cashier)).text("data.apiKey"),
        (yield* logIn(device.key, supervisor)).text("data.apiKey")
      ]
      const { itemId, path } = yield* aSale(till)
      const change = (key: string, body: object, headers: Record<string, string> = {}) =>
        api("PATCH", `/api/pos${path}/items/${itemId}`, { headers: { "x-api-key": key, ...headers }, body })
      refused(yield* change(plain, { unitPrice: 900 }), 403, "OVERRIDE_REQUIRED")
      refused(yield* change(high, { discountPercent: 10 }), 422, "VALIDATION_FAILED")
      const ten = yield* change(high, { discountPercent: 10, reason: "Scratched" })
      assert.deepStrictEqual(
        [ten.at("data.discountAmount"), ten.at("data.transaction.total")],
        [100, 900],
        JSON.stringify(ten.body)
      )
      refused(yield* change(high, { discountPercent: 21, reason: "Friend" }), 403, "OVERRIDE_REQUIRED")
      const { text } = yield* withKey("POST", "/auth/override", device.key, {
        operatorId: supervisor,
        pin: "7294",
        action: "discount"
      })
      const large = yield* change(plain, { discountAmount: 300, reason: "Friend" }, {
        "x-pos-override": text("data.token")
      })
      assert.deepStrictEqual([large.at("data.transaction.total"), large.at("data.overrideBy")], [700, supervisor])
      assert.strictEqual((yield* change(high, { unitPrice: 500, discountAmount: 0 })).at("data.transaction.total"), 500)
      assert.strictEqual((yield* change(high, { unitPrice: null })).at("data.transaction.total"), 1_000)
      assert.strictEqual((yield* get(path)).at("data.items.0.isCustomPrice"), false)
    }))
})
