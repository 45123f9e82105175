import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { testCustomerActor } from "stoa/plugin/testing"
import { openShop, type Shop } from "./GiftCardShop.ts"

describe("gift cards that people have already", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ maxBalancePerCard: 10_000 })
  })
  afterAll(() => shop.close())

  const customer = async (email: string) => {
    const as = { ...testCustomerActor, userId: email, email }
    await shop.ask("GET", "/me/profile", undefined, as)
    return as
  }
  const own = (method: string, path: string, body: object | undefined, as: typeof testCustomerActor) =>
    shop.ask(method, `/me/gift-cards${path}`, body, as)
  const idsOf = async (as: typeof testCustomerActor) =>
    Object((await own("GET", "/added", undefined, as)).at("data")).map((card: { id: string }) => card.id)

  it("are imported with their codes, once each, and can be spent", async () => {
    const cards = [
      { code: "abcd-1234", amount: 700, currency: "USD" },
      { code: "LEGACY 0000 1111", amount: 10_000, currency: "USD", expiresAt: "2999-12-31" }
    ]
    const imported = await shop.done("POST", "/import", { cards })
    assert.deepStrictEqual(imported.at("data"), { imported: 2, known: 0 })
    const again = await shop.done("POST", "/import", { cards: [...cards, { ...cards[0], code: "ABCD1235" }] })
    assert.deepStrictEqual(again.at("data"), { imported: 1, known: 2 })
    assert.strictEqual((await shop.done("GET", "/legacy00001111/balance")).at("data.balance"), 10_000)
    assert.strictEqual((await shop.buy(500, ["ABCD1234"])).status, 201)
    assert.strictEqual((await shop.done("POST", "/check-balance", { code: "abcd 1234" })).at("data.balance"), 200)
    assert.lengthOf(shop.mails, 0)
  })

  it("are imported all or none, and a refusal says which", async () => {
    const good = { code: "GOOD-0001", amount: 5, currency: "USD" }
    for (
      const [wrong, path] of [
        [{ ...good, code: "SHORT-1" }, "cards.1.code"],
        [{ ...good, code: "good 0001" }, "cards.1.code"],
        [{ ...good, code: "GOOD-0002", amount: 10_001 }, "cards.1.amount"],
        [{ ...good, code: "GOOD-0002", recipientEmail: "a@example.com" }, "cards.1.recipientEmail"]
      ] as const
    ) {
      const refused = await shop.ask("POST", "/gift-cards/import", { cards: [good, wrong] })
      assert.deepInclude(
        [refused.status, refused.at("error.details.issues.0.path")],
        path,
        JSON.stringify(refused.body)
      )
    }
    await shop.refused("404 NOT_FOUND", "GET", "/GOOD0001/balance")
  })

  it("are added to an account by their code, and removed, without showing who bought them", async () => {
    const [ada, bob] = [await customer("ada@example.com"), await customer("bob@example.com")]
    const buyer = (await shop.ask("POST", "/customers", { email: "buyer@example.com" })).text("data.id")
    const { code, id, path } = await shop.issue(500, {
      purchaserId: buyer,
      recipientEmail: "ada@example.com",
      personalMessage: "For you"
    })
    for (const _ of [1, 2]) {
      const added = await own("POST", "", { code }, ada)
      assert.deepInclude(added.at("data"), {
        id,
        balance: 500,
        personalMessage: "For you",
        purchaserId: null,
        recipientEmail: null
      })
    }
    assert.deepStrictEqual([await idsOf(ada), await idsOf(bob)], [[id], []])
    assert.isNull((await own("GET", "/added", undefined, ada)).at("data.0.purchaserId"))
    assert.strictEqual((await own("POST", "", { code: "AAAABBBBCCCCDDDD" }, bob)).status, 404)
    assert.strictEqual((await own("DELETE", `/${id}`, undefined, bob)).status, 404)
    assert.isBelow((await own("DELETE", `/${id}`, undefined, ada)).status, 300)
    assert.deepStrictEqual(await idsOf(ada), [])
    await shop.done("POST", `${path}/disable`)
    assert.strictEqual((await own("POST", "", { code }, ada)).status, 409)
  })

  it("are sent again with another code, to the address that staff names", async () => {
    const { code, path } = await shop.issue(500)
    await shop.refused("422 VALIDATION_FAILED", "POST", `${path}/send`, {})
    await shop.done("POST", `${path}/send`, { recipientEmail: "cy@example.com" })
    await shop.run("deliver")
    const mailed = () => shop.mails.filter(({ to }) => to === "cy@example.com")
    await expect.poll(mailed, { timeout: 60_000 }).toHaveLength(1)
    const sent = String(mailed()[0]?.data["displayCode"])
    assert.notStrictEqual(sent.replaceAll("-", ""), code)
    await shop.refused("404 NOT_FOUND", "GET", `/${code}/balance`)
    assert.strictEqual((await shop.done("POST", "/check-balance", { code: sent })).at("data.balance"), 500)
    await shop.done("POST", `${path}/disable`)
    await shop.refused("409 CONFLICT", "POST", `${path}/send`, {})
  })
})
