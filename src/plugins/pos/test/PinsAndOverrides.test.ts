import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { testStaffActor, withPermissions } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { cashier, code, manager, openTills, outsider, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.2 and A.8, contract-plugins 17.9 and 17.13. */
describe("PINs, logins and approvals at a till", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills()
  })
  afterAll(() => shop.close())

  const pin = "2580"
  const operator = async (body: object = {}) => {
    const operatorId = await shop.member()
    await shop.done("PUT", "/auth/pin", { operatorId, pin, ...body })
    const as = withPermissions(["pos:operate"], { ...testStaffActor, userId: operatorId })
    return { operatorId, as }
  }
  const login = (operatorId: string, body: object = {}) =>
    shop.ask("POST", "/pos/auth/pin-login", { operatorId, pin, ...body })
  /** An operator with an open shift and the key of their login. */
  const loggedIn = async () => {
    const { as, operatorId } = await operator()
    const till = await shop.till({}, 0, as)
    const got = await login(operatorId)
    assert.strictEqual(got.status, 201, JSON.stringify(got.body))
    return { as, operatorId, till, got, key: got.text("data.apiKey") }
  }
  const isAlive = async (key: string) => (await shop.withKey(key, "GET", "/pos/transactions")).status === 200

  it("are set by admins, of 4 to 8 digits that are not easy to guess", async () => {
    const operatorId = await shop.member()
    const set = await shop.done("PUT", "/auth/pin", { operatorId, pin: "73915", canOverride: true })
    assert.deepStrictEqual([set.status, set.at("data")], [200, { operatorId, canOverride: true }])
    const plain = await shop.done("PUT", "/auth/pin", { operatorId, pin: "7391" })
    assert.isBoolean(plain.at("data.canOverride"))
    for (const weak of ["1111", "00000000", "1234", "9876", "23456", "123", "123456789", "12a4", ""]) {
      const got = await shop.ask("PUT", "/pos/auth/pin", { operatorId, pin: weak })
      assert.strictEqual(code(got), "422 VALIDATION_FAILED", weak)
    }
    assert.include([404, 422], (await shop.ask("PUT", "/pos/auth/pin", { operatorId: randomUUID(), pin })).status)
    const rows = await shop.app.db.query("select pin_hash from pos_operator_pins where operator_id = $1", [operatorId])
    assert.strictEqual(rows.length, 1)
    assert.notInclude(String(rows[0]?.["pin_hash"]), "7391")
  })

  it("give a key of the operator's for their open shift, which works at tills alone, also if they may do all", async () => {
    const { as, got, key, operatorId, till } = await loggedIn()
    assert.deepStrictEqual(picked(got, "operatorId", "shiftId", "terminalId"), [
      operatorId,
      till.shiftId,
      till.terminalId
    ])
    assert.isTrue(key.startsWith("pos_shift_"))
    const hours = (Date.parse(got.text("data.expiresAt")) - shop.app.clock.now()) / 3_600_000
    assert.approximately(hours, 12, 0.1)
    const body = { shiftId: till.shiftId, terminalId: till.terminalId }
    const begun = await shop.withKey(key, "POST", "/pos/transactions", body)
    assert.deepStrictEqual([begun.status, begun.at("data.operatorId")], [201, operatorId], JSON.stringify(begun.body))
    for (const path of ["/orders", "/pos/devices"]) {
      assert.strictEqual((await shop.withKey(key, "GET", path)).status, 403)
    }
    assert.strictEqual((await shop.withKey(key, "GET", "/pos/shifts/current")).at("data.id"), till.shiftId)
    const trail = "select distinct actor_id from outbox_events where entity_id = $1"
    const actors = await shop.app.db.query(trail, [begun.text("data.id")])
    assert.deepStrictEqual(actors, [{ actor_id: operatorId }])
    await shop.done("POST", `/transactions/${begun.text("data.id")}/void`, { reason: "x" })
    await shop.done("POST", `/shifts/${till.shiftId}/close`, { closingCount: 0 }, as)
    assert.isFalse(await isAlive(key))
  })

  it("give a key that ends with logout, with the dismissal of its operator, and after its time", async () => {
    const [out, gone, old] = [await loggedIn(), await loggedIn(), await loggedIn()]
    assert.isTrue(await isAlive(out.key))
    const left = await shop.withKey(out.key, "POST", "/pos/auth/logout")
    assert.deepStrictEqual([left.status, left.at("data.loggedOut")], [201, true])
    assert.isFalse(await isAlive(out.key))
    await shop.app.db.query("delete from members where user_id = $1::uuid", [gone.operatorId])
    assert.isFalse(await isAlive(gone.key))
    assert.strictEqual((await login(gone.operatorId)).status, 401)
    await shop.app.db.query("update api_keys set expires_at = now() - interval '1 second' where reference_id = $1", [
      old.operatorId
    ])
    assert.isFalse(await isAlive(old.key))
    assert.isTrue(await isAlive((await loggedIn()).key))
  })

  it("give a key that ends within the hour when the process that closed the shift died", async () => {
    const { as, key, till } = await loggedIn()
    const { query } = shop.app.db
    await query("create function die() returns trigger language plpgsql as $$ begin raise 'dead'; end $$")
    await query("create trigger die before delete on pos_logins for each row execute function die()")
    await query("create trigger die before update or delete on api_keys for each row execute function die()")
    const died = await shop.ask("POST", `/pos/shifts/${till.shiftId}/close`, { closingCount: 0 }, as)
    assert.strictEqual(died.status, 500)
    assert.isTrue(await isAlive(key))
    await query("drop function die() cascade")
    await shop.app.serviceRegistry.enqueue("pos/end-logins", {})
    await waitFor("the key ends", async () => !(await isAlive(key)))
  })

  it("come before the shift that the operator opens, and name no shift of others", async () => {
    const { operatorId } = await operator()
    assert.deepStrictEqual(picked(await login(operatorId), "shiftId"), [null])
    assert.strictEqual(code(await login(operatorId, { shiftId: randomUUID() })), "404 NOT_FOUND")
    const other = await shop.till()
    assert.strictEqual(code(await login(operatorId, { shiftId: other.shiftId })), "404 NOT_FOUND")
  })

  it("are 401 five times, then 429 for 15 minutes, for the right one too", async () => {
    const { as, operatorId } = await operator()
    await shop.till({}, 0, as)
    for (let tries = 0; tries < 5; tries++) {
      assert.strictEqual(code(await login(operatorId, { pin: "9999" })), "401 UNAUTHORIZED")
    }
    const locked = await login(operatorId)
    assert.strictEqual(locked.status, 429, JSON.stringify(locked.body))
    assert.strictEqual(locked.at("error.code"), "PIN_LOCKED")
    const wait = Number(locked.headers.get("retry-after"))
    assert.isTrue(wait > 0 && wait <= 900, String(wait))
    const approval = await shop.ask("POST", "/pos/auth/override", { operatorId, pin, action: "void" })
    assert.strictEqual(approval.status, 429)
    shop.app.clock.advance("16 minutes")
    assert.strictEqual((await login(operatorId)).status, 201)
  })

  it("are counted before they are looked at, so that guesses at once gain nothing", async () => {
    const { as, operatorId } = await operator()
    await shop.till({}, 0, as)
    const guess = (index: number) => login(operatorId, { pin: String(3_000 + index * 7) })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => guess(index)))
    const counts = [401, 429].map((status) => answers.filter((one) => one.status === status).length)
    assert.deepStrictEqual(counts, [5, 7])
  })

  it("of unknown operators and of none answer alike", async () => {
    assert.strictEqual(code(await login(randomUUID())), "401 UNAUTHORIZED")
    assert.strictEqual(code(await login(await shop.member())), "401 UNAUTHORIZED")
    assert.strictEqual(code(await login("")), "422 VALIDATION_FAILED")
    const { operatorId } = await operator()
    const elsewhere = await shop.ask("POST", "/pos/auth/pin-login", { operatorId, pin }, outsider)
    assert.strictEqual(code(elsewhere), "401 UNAUTHORIZED")
  })

  it("reset their count with the right one", async () => {
    const { as, operatorId } = await operator()
    await shop.till({}, 0, as)
    for (let round = 0; round < 2; round++) {
      for (let tries = 0; tries < 4; tries++) await login(operatorId, { pin: "9999" })
      assert.strictEqual((await login(operatorId)).status, 201)
    }
  })

  it("approve an action once, within a minute, for what they name", async () => {
    const till = await shop.till({}, 0, cashier)
    const sales = await Promise.all([1, 2, 3, 4].map(() => shop.start(till, {}, cashier)))
    const [one, another, third, fourth] = sales.map(({ path }) => `${path}/void`)
    const approve = async (body: object = {}) => (await shop.override("void", body)).token
    const given = await shop.override("void")
    assert.deepInclude(given.given.at("data"), { approved: true, operatorId: given.operatorId, action: "void" })
    assert.isNotNaN(Date.parse(given.given.text("data.approvedAt")))
    const reason = { reason: "x" }
    const asked = await shop.refused("403 OVERRIDE_REQUIRED", "POST", one ?? "", reason, cashier)
    assert.isString(asked.at("error.message"))
    const voided = await shop.withToken(given.token, "POST", one ?? "", reason)
    assert.deepStrictEqual([voided.status, ...picked(voided, "overrideBy")], [201, given.operatorId])
    const invalid = async (token: string, path = another, body: object = reason) => {
      const got = await shop.withToken(token, "POST", path ?? "", body)
      assert.strictEqual(code(got), "403 OVERRIDE_INVALID")
    }
    await invalid(given.token)
    await invalid("no-token-at-all")
    const old = await approve()
    shop.app.clock.advance("61 seconds")
    await invalid(old)
    await invalid((await shop.override("no-sale")).token)
    const named = await approve({ transactionId: sales[2]?.id })
    await invalid(named)
    assert.strictEqual((await shop.withToken(named, "POST", third ?? "", reason)).status, 201)
    const token = await approve()
    const both = await Promise.all([another, fourth].map((path) => shop.withToken(token, "POST", path ?? "", reason)))
    assert.deepStrictEqual(both.map(({ status }) => status).sort(), [201, 403])
    const stored = await shop.app.db.query("select to_jsonb(t)::text as row from pos_overrides t")
    assert.notInclude(JSON.stringify(stored), token)
  })

  it("approve nothing without canOverride, and are not needed by managers", async () => {
    const { operatorId } = await operator({ canOverride: false })
    await shop.refused("403 FORBIDDEN", "POST", "/auth/override", { operatorId, pin, action: "void" })
    await shop.refused("401 UNAUTHORIZED", "POST", "/auth/override", { operatorId, pin: "9999", action: "void" })
    await shop.refused("422 VALIDATION_FAILED", "POST", "/auth/override", { operatorId, pin, action: "refunds" })
    const till = await shop.till({}, 0, manager)
    const { path } = await shop.start(till, {}, manager)
    await shop.done("POST", `${path}/void`, { reason: "x" }, manager)
  })

  it("are typed into devices, whose key opens lookups, logins and offline sales alone", async () => {
    const { as, operatorId } = await operator()
    const till = await shop.till({}, 0, as)
    const paired = await shop.done("POST", `/terminals/${till.terminalId}/devices`, { name: "iPad" })
    const key = paired.text("data.key")
    assert.isTrue(key.startsWith("pos_device_"))
    assert.deepStrictEqual(picked(paired, "terminalId", "name", "revokedAt"), [till.terminalId, "iPad", null])
    const entityId = await shop.product()
    const by = (method: string, path: string, body?: object) => shop.withKey(key, method, `/pos${path}`, body)
    assert.strictEqual((await by("GET", "/lookup/search?q=zzzz")).status, 200)
    assert.strictEqual((await by("GET", `/lookup/stock/${entityId}`)).status, 200)
    assert.strictEqual((await by("POST", "/auth/pin-login", { operatorId, pin })).status, 201)
    const sales = [{
      id: randomUUID(),
      shiftId: till.shiftId,
      at: new Date(shop.app.clock.now()).toISOString(),
      operatorId,
      items: [{ entityId, quantity: 1 }],
      payments: [{ method: "cash", amount: 1_000 }]
    }]
    const synced = await by("POST", "/sync", { sales })
    assert.deepStrictEqual([synced.status, synced.at("data.0.status")], [201, "ok"], JSON.stringify(synced.body))
    for (const path of ["/transactions", "/shifts/current", "/closings", "/terminals"]) {
      assert.strictEqual((await by("GET", path)).status, 403, path)
    }
    const list = await shop.read(`/devices?terminalId=${till.terminalId}`)
    assert.strictEqual(list.at("meta.pagination.total"), 1)
    assert.notInclude(JSON.stringify(list.body), key)
    await shop.done("DELETE", `/devices/${paired.text("data.id")}`)
    assert.strictEqual((await by("GET", "/lookup/search?q=zzzz")).status, 401)
    await shop.refused("404 NOT_FOUND", "POST", `/terminals/${randomUUID()}/devices`, { name: "x" })
    await shop.refused("422 VALIDATION_FAILED", "POST", `/terminals/${till.terminalId}/devices`, {})
  })
})
