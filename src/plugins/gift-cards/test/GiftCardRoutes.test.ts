import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { contractOf, inOrganization, ledgerOf, testAdminActor, testCustomerActor } from "stoa/plugin/testing"
import { money } from "../GiftCard.ts"
import { newCode } from "../GiftCardCode.ts"
import { openShop, type Shop } from "./GiftCardShop.ts"

describe("gift cards", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ defaultExpiryDays: 30, maxBalancePerCard: 10_000 })
  })
  afterAll(() => shop.close())

  it("are issued with a code that only this answer has", async () => {
    const gift = { senderName: "Ann", personalMessage: "For you", metadata: { campaign: "spring" } }
    const { code, id, made } = await shop.issue(5_000, gift)
    assert.match(code, /^[A-HJKMNP-Z2-9]{16}$/)
    assert.strictEqual(made.text("data.displayCode").replaceAll("-", ""), code)
    const read = await shop.card(id)
    assert.deepInclude(read.at("data"), {
      lastFour: code.slice(-4),
      maskedCode: `****-${code.slice(-4)}`,
      status: "active",
      initialAmount: 5_000,
      balance: 5_000,
      senderName: "Ann",
      metadata: { campaign: "spring" }
    })
    const days = (Date.parse(read.text("data.expiresAt")) - Date.now()) / 86_400_000
    assert.approximately(days, 30, 0.1)
    const load = { type: "credit", activity: "issue", amount: 5_000, balanceAfter: 5_000, note: "Initial load" }
    assert.deepInclude(read.at("data.transactions.0"), load)
    assert.notInclude(JSON.stringify(read.body), code)
  })

  it("refuse what cannot be issued, and have codes that use all signs alike", async () => {
    const whole = { amount: 5, currency: "USD" }
    for (
      const wrong of [
        { amount: 10_001 },
        { amount: 0 },
        { currency: "XXX" },
        { recipientEmail: "no address" },
        { personalMessage: "x".repeat(501) }
      ]
    ) await shop.refused("422 VALIDATION_FAILED", "POST", "", { ...whole, ...wrong })
    await shop.refused("404 NOT_FOUND", "POST", "", { ...whole, purchaserId: randomUUID() })
    const counts = new Map<string, number>()
    for (const sign of newCode("X".repeat(31_000))) counts.set(sign, (counts.get(sign) ?? 0) + 1)
    assert.strictEqual(counts.size, 31)
    for (const count of counts.values()) assert.approximately(count, 1_000, 200)
  })

  it("are listed by status, customer, currency and last four signs", async () => {
    const purchaserId = (await shop.ask("POST", "/customers", { email: "list@example.com" })).text("data.id")
    const of = { purchaserId }
    const [active, disabled, exhausted] = [await shop.issue(5, of), await shop.issue(5, of), await shop.issue(5, of)]
    const expired = await shop.expired(5, of)
    await shop.done("POST", `${disabled.path}/disable`)
    await shop.done("POST", `${exhausted.path}/adjust`, { delta: -5, note: "lost" })
    for (const [status, { id }] of Object.entries({ active, disabled, exhausted, expired })) {
      const found = await shop.done("GET", `?status=${status}&purchaserId=${purchaserId}`)
      assert.deepInclude(found.at("data.0"), { id, status })
      assert.strictEqual(found.at("meta.pagination.total"), 1)
    }
    const both = await shop.done("GET", `?currency=usd&lastFour=${active.code.slice(-4)}`)
    assert.strictEqual(both.at("data.0.id"), active.id)
    await shop.refused("422 VALIDATION_FAILED", "GET", "?status=new")
  })

  it("last through the day of their end, and are refused where they would never be valid", async () => {
    const until = (await shop.issue(5, { expiresAt: "2999-12-31" })).made.text("data.expiresAt")
    assert.strictEqual(until, "3000-01-01T00:00:00.000Z")
    for (const wrong of [{ expiresAt: "2020-01-01" }, { deliverAt: "2999-01-02", expiresAt: "2999-01-01" }]) {
      await shop.refused("422 VALIDATION_FAILED", "POST", "", { amount: 5, currency: "USD", ...wrong })
    }
  })

  it("are corrected within what they were issued with, topped up to the maximum, and disabled for good", async () => {
    const { id, path } = await shop.issue(5_000)
    const post = (action: string, body: object = {}) => shop.done("POST", `${path}/${action}`, body)
    const refused = (expected: string, action: string, body: object) =>
      shop.refused(expected, "POST", `${path}/${action}`, body)
    for (const delta of [1, -5_001, 0]) await refused("422 VALIDATION_FAILED", "adjust", { delta, note: "no" })
    const down = await post("adjust", { delta: -2_000, note: "damaged goods" })
    assert.deepStrictEqual([down.status, down.at("data.balance"), down.at("data.version")], [201, 3_000, 2])
    await refused("422 VALIDATION_FAILED", "top-up", { amount: 7_001 })
    const up = await post("top-up", { amount: 7_000, note: "thanks" })
    assert.deepInclude(up.at("data"), { balance: 10_000, initialAmount: 12_000 })
    const debit = { type: "debit", activity: "adjust", amount: 2_000 }
    assert.deepInclude((await shop.card(id)).at("data.transactions.1"), debit)
    assert.strictEqual((await post("disable")).at("data.status"), "disabled")
    assert.strictEqual((await post("disable")).status, 201)
    await refused("409 CONFLICT", "adjust", { delta: -1, note: "no" })
    await refused("409 CONFLICT", "top-up", { amount: 1 })
    const unknown = { disable: {}, adjust: { delta: 1, note: "x" }, "top-up": { amount: 1, note: "x" } }
    for (const [action, body] of Object.entries(unknown)) {
      await shop.refused("404 NOT_FOUND", "POST", `/${randomUUID()}/${action}`, body)
    }
    await shop.refused("404 NOT_FOUND", "GET", `/${randomUUID()}`)
  })

  it("lose nothing when eight correct one at once", async () => {
    const { id, path } = await shop.issue(5_000)
    const adjust = () => shop.ask("POST", `/gift-cards${path}/adjust`, { delta: -700, note: "race" })
    const answers = await Promise.all(Array.from({ length: 8 }, adjust))
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [...Array(7).fill(201), 422])
    assert.strictEqual(await shop.balance(id), 100)
  })

  it("tell their balance to who has the code, however it is written", async () => {
    const { code } = await shop.issue(5_000)
    const written = `${code.slice(0, 5).toLowerCase()}-${code.slice(5)}`
    const expected = { data: { balance: 5_000, currency: "USD", status: "active" } }
    const posted = await shop.done("POST", "/check-balance", { code: written }, null)
    assert.deepStrictEqual([posted.status, posted.body], [201, expected])
    assert.deepStrictEqual((await shop.done("GET", `/${written}/balance`, undefined, null)).body, expected)
    await shop.refused("404 NOT_FOUND", "POST", "/check-balance", { code: "ABCD-EFGH-JKMN-PQRS" }, null)
    await shop.refused("404 NOT_FOUND", "GET", "/ABCD-EFGH/balance", undefined, null)
    for (const code of ["abc", "x".repeat(31), 7]) {
      await shop.refused("422 VALIDATION_FAILED", "POST", "/check-balance", { code }, null)
    }
    const elsewhere = inOrganization("org_other", testAdminActor)
    await shop.refused("404 NOT_FOUND", "POST", "/check-balance", { code }, elsewhere)
  })

  it("are seen by the customer whose they are, without codes", async () => {
    const me = await shop.ask("GET", "/me/profile", undefined, testCustomerActor)
    const { code, id } = await shop.issue(5_000, { purchaserId: me.text("data.id") })
    const mine = await shop.ask("GET", "/me/gift-cards", undefined, testCustomerActor)
    assert.deepInclude(mine.at("data.0"), { id, maskedCode: `****-${code.slice(-4)}` })
    assert.strictEqual(mine.at("meta.pagination.total"), 1)
    assert.notInclude(JSON.stringify(mine.body), code)
    const others = await shop.ask("GET", "/me/gift-cards", undefined, { ...testCustomerActor, userId: "another" })
    assert.deepStrictEqual(others.at("data"), [])
  })

  it("keep the rules of every plugin and of every ledger", { timeout: 120_000 }, async () => {
    const row = () => ({ codeDigest: randomUUID(), lastFour: "7K2M", initialAmount: 100, currency: "USD" })
    const samples = { gift_cards: { initialAmount: 1 }, gift_card_holds: { amount: 1 } }
    for (const { name, run } of [...ledgerOf(shop.app, money, row), ...contractOf(shop.app, { samples, bodies: 8 })]) {
      await run().catch((error) => assert.fail(`${name}: ${error}`))
    }
  })
})

describe("balances of gift cards", () => {
  it("may be asked for ten times a minute by an address, and with one beginning of a code", async () => {
    // Outside of production limits are a thousand times as high.
    const shop = await openShop({}, { rateLimits: { strict: 1 } })
    const { run, services } = shop.app.serviceRegistry
    const check = (expected: string, code: string) => shop.refused(expected, "POST", "/check-balance", { code }, null)
    const tryAs = (subject: string) =>
      run(Effect.replicateEffect(services.guesses.admit("gift-card", `org_default/${subject}`), 1_000))
    /** A new minute of this subject begins. */
    const newMinute = async (subject: string) => {
      const { resetsInMs } = await run(services.guesses.admit("gift-card", `org_default/${subject}`))
      shop.app.clock.advance(resetsInMs)
    }
    await newMinute("code/AAAA")
    await check("404 NOT_FOUND", "AAAA-1")
    await tryAs("code/AAAA")
    const refused = await check("429 TOO_MANY_REQUESTS", "aa-aa2")
    assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/)
    await check("404 NOT_FOUND", "BBBB-1")
    await newMinute("ip/127.0.0.1")
    await tryAs("ip/127.0.0.1")
    await check("429 TOO_MANY_REQUESTS", "BBBB-2")
    // Both routes count together.
    await shop.refused("429 TOO_MANY_REQUESTS", "GET", "/CCCC-1/balance", undefined, null)
    await shop.close()
  })
})
