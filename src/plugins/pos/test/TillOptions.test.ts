import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { testAdminActor, testStaffActor, withPermissions } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { cashier, code, manager, openTills, picked, type TillShop } from "./TillShop.ts"

/** contract-plugins §2.4 and rule 15 of §16: an option exists with a test that shows its effect. */
describe("options of the plugin for tills", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills({
      refundTo: "original",
      giftCards: true,
      discountOverrideThreshold: 50,
      maxHoldHours: 1,
      pinAuth: { refuseWeak: false, lockoutMaxAttempts: 2, lockoutWindowMinutes: 1, credentialTtlSeconds: 3_600 }
    })
  })
  afterAll(() => shop.close())

  const returnOf = async (method: string, as = manager) => {
    const till = await shop.till({}, 10_000, as)
    const sold = await shop.sold(await shop.till())
    const items = [{ originalLineItemId: sold.lineId, quantity: 1, reason: "other" }]
    const { shiftId, terminalId } = till
    return { shiftId, terminalId, originalOrderId: sold.orderId, items, payment: { method } }
  }

  it("refundTo original forbids other means without an approval", async () => {
    const body = await returnOf("cash")
    const refused = await shop.ask("POST", "/pos/returns", body, manager)
    assert.strictEqual(code(refused), "403 OVERRIDE_REQUIRED", refused.text("error.message"))
    const { token } = await shop.override("refund")
    const approved = await shop.withToken(token, "POST", "/returns", body, manager)
    assert.strictEqual(approved.status, 201, JSON.stringify([refused.body, approved.body]))
    const original = await returnOf("original")
    assert.strictEqual((await shop.ask("POST", "/pos/returns", original, manager)).status, 201)
  })

  const exchangeOf = async (as = testAdminActor) => {
    const till = await shop.till({}, 10_000, as)
    const card = await shop.giftCard(1_000)
    const payment = { method: "gift_card", reference: card.code }
    const sold = await shop.sold(await shop.till(), 1_000, 1, { payment })
    const body = {
      shiftId: till.shiftId,
      terminalId: till.terminalId,
      originalOrderId: sold.orderId,
      returnItems: [{ originalLineItemId: sold.lineId, quantity: 1, reason: "other", restockingFee: 50 }],
      replacementItems: [{ entityId: await shop.product({ price: 400 }), quantity: 1 }]
    }
    return { body, card, sold, till }
  }

  it("refundTo original gives the rest of an exchange back to the payments of the order", async () => {
    const { body, card, sold, till } = await exchangeOf()
    const got = await shop.done("POST", "/exchanges", body)
    assert.deepStrictEqual(picked(got, "netDelta", "transaction.status", "transaction.payout"), [
      -550,
      "completed",
      "original"
    ])
    assert.strictEqual(await card.balance(), 550)
    const order = await shop.core("GET", `/orders/${sold.orderId}`)
    assert.strictEqual(order.at("data.refundedTotal"), 950)
    const report = await shop.read(`/shifts/${till.shiftId}/report`)
    assert.deepStrictEqual(picked(report, "refundsTotal", "cash.expected"), [950, 10_000])
  })

  it("refundTo original forbids other means for the rest of an exchange, which is then undone", async () => {
    const { body, card, sold } = await exchangeOf(manager)
    const refused = await shop.ask("POST", "/pos/exchanges", { ...body, payment: { method: "cash" } }, manager)
    assert.strictEqual(code(refused), "403 OVERRIDE_REQUIRED")
    assert.strictEqual((await shop.core("GET", `/orders/${sold.orderId}`)).at("data.refundedTotal"), 0)
    const { token } = await shop.override("refund")
    const sent = { ...body, payment: { method: "gift_card" } }
    const got = await shop.withToken(token, "POST", "/exchanges", sent, manager)
    assert.strictEqual(got.status, 201, JSON.stringify(got.body))
    const made = await shop.core("GET", `/gift-cards/${got.text("data.giftCard.id")}`)
    assert.strictEqual(made.at("data.balance"), 550)
    const paid = await shop.sale(await shop.till(), 550)
    await shop.pay(paid.path, 550, { method: "gift_card", reference: got.text("data.giftCard.code") })
    await shop.complete(paid.path)
    assert.strictEqual(await card.balance(), 0)
  })

  it("refundTo original asks cashiers for one approval, not two", async () => {
    const body = await returnOf("cash", cashier)
    const statuses: Array<number> = []
    for (const action of ["return", "refund"]) {
      const { token } = await shop.override(action)
      statuses.push((await shop.withToken(token, "POST", "/returns", body)).status)
    }
    assert.include(statuses, 201)
  })

  it("discountOverrideThreshold sets from where a discount needs an approval", async () => {
    const till = await shop.till({}, 0, manager)
    const { path } = await shop.start(till, {}, manager)
    const entityId = await shop.product()
    await shop.add(path, { entityId, discountPercent: 50, reason: "x" }, manager)
    const more = { entityId, discountPercent: 51, reason: "x" }
    await shop.refused("403 OVERRIDE_REQUIRED", "POST", `${path}/items`, more, manager)
  })

  it("pinAuth sets weak PINs, tries, the time of the lock and of keys", async () => {
    const operatorId = await shop.member()
    await shop.done("PUT", "/auth/pin", { operatorId, pin: "1111" })
    await shop.till({}, 0, withPermissions(["pos:operate"], { ...testStaffActor, userId: operatorId }))
    const login = (pin: string) => shop.ask("POST", "/pos/auth/pin-login", { operatorId, pin })
    const good = await login("1111")
    const minutes = (Date.parse(good.text("data.expiresAt")) - shop.app.clock.now()) / 60_000
    assert.approximately(minutes, 60, 1)
    assert.deepStrictEqual([code(await login("9")), (await login("9999")).status, (await login("9999")).status], [
      "422 VALIDATION_FAILED",
      401,
      401
    ])
    assert.strictEqual((await login("1111")).status, 429)
    shop.app.clock.advance("61 seconds")
    assert.strictEqual((await login("1111")).status, 201)
  })

  it("maxHoldHours void held sales by the job, which gives their payments back", async () => {
    const till = await shop.till()
    const card = await shop.giftCard(400)
    const old = await shop.sale(till)
    await shop.pay(old.path, 400, { method: "gift_card", reference: card.code })
    await shop.done("POST", `${old.path}/hold`, { label: "x" })
    shop.app.clock.advance("61 minutes")
    const id = await shop.app.serviceRegistry.enqueue("pos/expire-held", {})
    assert.isString(id)
    const ended = await waitFor("the held sale to expire", async () => {
      const read = await shop.read(old.path)
      return read.at("data.status") === "voided" ? read : undefined
    })
    assert.strictEqual(ended.at("data.voidReason"), "expired")
    assert.strictEqual(await card.balance(), 400)
  })

  // contract-tills-channels A.1 and A.10: the chain of records, and what others get to know.
  it("leave fiscal records a chain without gaps, and events of sales, voids, returns and closings", async () => {
    const till = await shop.till()
    const sold = await shop.sold(till)
    await shop.sold(till)
    const voided = await shop.sale(till)
    await shop.done("POST", `${voided.path}/void`, { reason: "x" })
    await shop.done("POST", "/returns", {
      shiftId: till.shiftId,
      terminalId: till.terminalId,
      originalOrderId: sold.orderId,
      items: [{ originalLineItemId: sold.lineId, quantity: 1, reason: "other" }],
      payment: { method: "original" }
    })
    await shop.done("POST", `/shifts/${till.shiftId}/close`, { closingCount: 12_000 })
    await shop.done("POST", "/closings", { terminalId: till.terminalId })
    const records = await shop.app.db.query(
      "select number, hash, previous_hash from pos_fiscal_records where terminal_id = $1 order by number",
      [till.terminalId]
    )
    assert.isAtLeast(records.length, 4)
    records.forEach((record, index) => {
      assert.strictEqual(record["number"], index + 1)
      if (index > 0) assert.strictEqual(record["previous_hash"], records[index - 1]?.["hash"])
    })
    const events = await shop.app.db.query("select distinct type from outbox_events where type like 'pos.%'")
    const names = events.map(({ type }) => String(type))
    for (const name of ["pos.completed", "pos.voided", "pos.returned", "pos.shift_closed", "pos.closing"]) {
      assert.include(names, name)
    }
  })
})
