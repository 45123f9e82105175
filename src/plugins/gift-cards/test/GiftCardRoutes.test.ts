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
    const { code, id, made } = await shop.issue(5_000, {
      senderName: "Ann",
      personalMessage: "For you",
      metadata: { campaign: "spring" }
    })
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
    assert.deepInclude(read.at("data.transactions.0"), {
      type: "credit",
      activity: "issue",
      amount: 5_000,
      balanceAfter: 5_000,
      note: "Initial load"
    })
    assert.notInclude(JSON.stringify(read.body), code)
  })

  it("refuse what cannot be issued, and have codes that use all signs alike", async () => {
    const tooMuch = await shop.asAdmin("POST", "/gift-cards", { amount: 10_001, currency: "USD" })
    assert.deepStrictEqual([tooMuch.status, tooMuch.at("error.code")], [422, "VALIDATION_FAILED"])
    for (
      const [body, status] of [
        [{ amount: 0, currency: "USD" }, 422],
        [{ amount: 5, currency: "XXX" }, 422],
        [{ amount: 5, currency: "USD", recipientEmail: "nobody" }, 422],
        [{ amount: 5, currency: "USD", personalMessage: "x".repeat(501) }, 422],
        [{ amount: 5, currency: "USD", purchaserId: randomUUID() }, 404]
      ] as const
    ) {
      assert.strictEqual((await shop.asAdmin("POST", "/gift-cards", body)).status, status)
    }
    const counts = new Map<string, number>()
    for (const sign of newCode("X".repeat(31_000))) counts.set(sign, (counts.get(sign) ?? 0) + 1)
    assert.strictEqual(counts.size, 31)
    for (const count of counts.values()) assert.approximately(count, 1_000, 200)
  })

  it("are listed by status, customer, currency and last four signs", async () => {
    const purchaserId = (await shop.asAdmin("POST", "/customers", { email: "list@example.com" })).text("data.id")
    const of = { purchaserId }
    const [active, disabled, exhausted] = [await shop.issue(5, of), await shop.issue(5, of), await shop.issue(5, of)]
    const expired = await shop.issue(5, { ...of, expiresAt: "2020-01-01" })
    await shop.asAdmin("POST", `${disabled.path}/disable`)
    await shop.asAdmin("POST", `${exhausted.path}/adjust`, { delta: -5, note: "lost" })
    for (const [status, { id }] of Object.entries({ active, disabled, exhausted, expired })) {
      const found = await shop.asAdmin("GET", `/gift-cards?status=${status}&purchaserId=${purchaserId}`)
      assert.deepStrictEqual([found.at("data.0.id"), found.at("data.0.status"), found.at("meta.pagination.total")], [
        id,
        status,
        1
      ])
    }
    const both = await shop.asAdmin("GET", `/gift-cards?currency=usd&lastFour=${active.code.slice(-4)}`)
    assert.strictEqual(both.at("data.0.id"), active.id)
    assert.strictEqual((await shop.asAdmin("GET", "/gift-cards?status=new")).status, 422)
  })

  it("are corrected within what they were issued with, topped up to the maximum, and disabled for good", async () => {
    const { id, path } = await shop.issue(5_000)
    const post = async (action: string, body: object = {}) => (await shop.asAdmin("POST", `${path}/${action}`, body))
    for (const delta of [1, -5_001, 0]) {
      assert.strictEqual((await post("adjust", { delta, note: "no" })).status, 422, String(delta))
    }
    const down = await post("adjust", { delta: -2_000, note: "damaged goods" })
    assert.deepStrictEqual([down.status, down.at("data.balance"), down.at("data.version")], [201, 3_000, 2])
    assert.strictEqual((await post("top-up", { amount: 7_001 })).status, 422)
    const up = await post("top-up", { amount: 7_000, note: "thanks" })
    assert.deepStrictEqual([up.at("data.balance"), up.at("data.initialAmount")], [10_000, 12_000])
    assert.deepInclude((await shop.card(id)).at("data.transactions.1"), {
      type: "debit",
      activity: "adjust",
      amount: 2_000
    })
    assert.strictEqual((await post("disable")).at("data.status"), "disabled")
    assert.strictEqual((await post("disable")).status, 201)
    assert.strictEqual((await post("adjust", { delta: -1, note: "no" })).status, 409)
    assert.strictEqual((await post("top-up", { amount: 1 })).status, 409)
    for (const action of ["disable", "adjust", "top-up"]) {
      const unknown = await shop.asAdmin("POST", `/gift-cards/${randomUUID()}/${action}`, {
        delta: 1,
        amount: 1,
        note: "x"
      })
      assert.deepStrictEqual([unknown.status, unknown.at("error.code")], [404, "NOT_FOUND"])
    }
    assert.strictEqual((await shop.card(randomUUID())).status, 404)
  })

  it("lose nothing when eight correct one at once", async () => {
    const { id, path } = await shop.issue(5_000)
    const adjust = () => shop.asAdmin("POST", `${path}/adjust`, { delta: -700, note: "race" })
    const answers = await Promise.all(Array.from({ length: 8 }, adjust))
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [...Array(7).fill(201), 422])
    assert.strictEqual(await shop.balance(id), 100)
  })

  it("tell their balance to who has the code, however it is written", async () => {
    const { code } = await shop.issue(5_000)
    const written = `${code.slice(0, 5).toLowerCase()}-${code.slice(5)}`
    const expected = { data: { balance: 5_000, currency: "USD", status: "active" } }
    const posted = await shop.ask("POST", "/gift-cards/check-balance", { body: { code: written } })
    assert.deepStrictEqual([posted.status, posted.body], [201, expected])
    assert.deepStrictEqual((await shop.ask("GET", `/gift-cards/${written}/balance`)).body, expected)
    const unknown = await shop.ask("POST", "/gift-cards/check-balance", { body: { code: "ABCD-EFGH-JKMN-PQRS" } })
    assert.deepStrictEqual([unknown.status, unknown.at("error.code")], [404, "NOT_FOUND"])
    assert.strictEqual((await shop.ask("GET", "/gift-cards/ABCD-EFGH/balance")).status, 404)
    for (const code of ["abc", "x".repeat(31), 7]) {
      assert.strictEqual((await shop.ask("POST", "/gift-cards/check-balance", { body: { code } })).status, 422)
    }
    const elsewhere = { as: inOrganization("org_other", testAdminActor), body: { code } }
    assert.strictEqual((await shop.ask("POST", "/gift-cards/check-balance", elsewhere)).status, 404)
  })

  it("are seen by the customer whose they are, without codes", async () => {
    const me = await shop.ask("GET", "/me/profile", { as: testCustomerActor })
    const { code, id } = await shop.issue(5_000, { purchaserId: me.text("data.id") })
    const mine = await shop.ask("GET", "/me/gift-cards", { as: testCustomerActor })
    assert.deepStrictEqual([mine.at("data.0.id"), mine.at("data.0.maskedCode"), mine.at("meta.pagination.total")], [
      id,
      `****-${code.slice(-4)}`,
      1
    ])
    assert.notInclude(JSON.stringify(mine.body), code)
    const others = await shop.ask("GET", "/me/gift-cards", { as: { ...testCustomerActor, userId: "another" } })
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
    const check = (code: string) => shop.ask("POST", "/gift-cards/check-balance", { body: { code } })
    const tryAs = (subject: string) =>
      run(Effect.replicateEffect(services.guesses.admit("gift-card", `org_default/${subject}`), 1_000))
    assert.strictEqual((await check("AAAA-1")).status, 404)
    await tryAs("code/AAAA")
    const refused = await check("aa-aa2")
    assert.deepStrictEqual([refused.status, refused.at("error.code")], [429, "TOO_MANY_REQUESTS"])
    assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/)
    assert.strictEqual((await check("BBBB-1")).status, 404)
    await tryAs("ip/127.0.0.1")
    assert.strictEqual((await check("BBBB-2")).status, 429)
    assert.strictEqual((await shop.ask("GET", "/gift-cards/CCCC-1/balance")).status, 429, "both routes count together")
    await shop.close()
  }, 60_000)
})
