import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { testAdminActor } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { money } from "../GiftCard.ts"
import { openShop, type Shop } from "./GiftCardShop.ts"

describe("a gift card in a checkout", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  const failed = ({ at, body, status, text }: Awaited<ReturnType<Shop["buy"]>>, message: RegExp) => {
    assert.deepStrictEqual([status, at("error.code")], [422, "CHECKOUT_FAILED"], JSON.stringify(body))
    assert.match(text("error.message"), message)
  }

  it("pays what it has, and another payment the rest; what is refunded goes to it last", async () => {
    const { code, id } = await shop.issue(3_000)
    const made = await shop.buy(10_000, [code.toLowerCase()])
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    assert.deepInclude(made.at("data.tenders.0"), {
      method: "gift-card",
      label: `Gift card ending in ${code.slice(-4)}`,
      amount: 3_000,
      status: "captured"
    })
    assert.deepStrictEqual([made.at("data.grandTotal"), made.at("data.amountDue")], [10_000, 0])
    const orderId = made.text("data.id")
    const read = await shop.card(id)
    assert.deepInclude(read.at("data"), { balance: 0, held: 0, status: "exhausted" })
    assert.deepInclude(read.at("data.transactions.0"), { type: "debit", activity: "redeem", amount: 3_000, orderId })
    await shop.refund(orderId, 8_000)
    assert.strictEqual(await shop.balance(id), 1_000)
    await shop.refund(orderId)
    const after = await shop.card(id)
    assert.deepInclude(after.at("data"), { balance: 3_000, status: "active" })
    assert.deepInclude(after.at("data.transactions.0"), { type: "refund", amount: 2_000, orderId })
  })

  it("leaves its code nowhere", async () => {
    const { code } = await shop.issue(3_000)
    await shop.buy(1_000, [code])
    const tables = await shop.app.db.query("select tablename from pg_tables where schemaname = current_schema()")
    for (const { tablename } of tables) {
      const found = await shop.app.db.query(`select 1 from "${tablename}" t where t::text like $1`, [`%${code}%`])
      assert.deepStrictEqual(found, [], String(tablename))
    }
  })

  it("fails the checkout with its last four signs where it cannot pay", async () => {
    const [disabled, empty] = [await shop.issue(), await shop.issue(1_000)]
    const expired = await shop.expired(5_000)
    const foreign = await shop.issue(5_000, { currency: "EUR" })
    await shop.done("POST", `${disabled.path}/disable`)
    await shop.buy(1_000, [empty.code])
    for (
      const [code, why] of [
        ["ABCD-EFGH-JKMN-7K2M", "The code is unknown."],
        [disabled.code, "It is disabled."],
        [expired.code, "It is expired."],
        [empty.code, "It has no balance left."],
        [foreign.code, "It is in EUR and not in USD."]
      ] as const
    ) failed(await shop.buy(1_000, [code]), new RegExp(`ending in ${code.slice(-4)} cannot pay. ${why}`))
  })

  it("is spent once, unit by unit, by eight checkouts at the same time", async () => {
    const { code, id } = await shop.issue(5_000)
    const carts = await Promise.all(Array.from({ length: 8 }, () => shop.cartOf(1_000)))
    const answers = await Promise.all(carts.map((cart) => shop.checkOut(cart, [code])))
    const paid = answers.filter(({ status }) => status === 201)
    const byCard = paid.map(({ number }) => number("data.tenders.0.amount")).reduce((sum, one) => sum + one, 0)
    assert.strictEqual(byCard, 5_000, JSON.stringify(answers.map(({ body }) => body)))
    assert.deepInclude((await shop.card(id)).at("data"), { balance: 0, held: 0 })
  })

  it("is free again when another payment of the checkout is declined or cannot be captured", async () => {
    const { code, id } = await shop.issue(3_000)
    failed(await shop.buy(10_000, [code], { paymentMethodId: "test_decline" }), /declined/)
    failed(await shop.buy(10_000, [code], { paymentMethodId: "test_capture_fail" }), /could not be captured/)
    assert.deepInclude((await shop.card(id)).at("data"), { balance: 3_000, held: 0 })
  })

  it("is free again after the time of a hold that no process has ended", async () => {
    const { id } = await shop.issue(3_000)
    const left = { accountId: id, amount: 2_000, reference: "left by a dead process", expiresAt: new Date(0) }
    await shop.app.serviceRegistry.run(shop.app.tables.use(money).hold(left))
    await shop.run("release-holds")
    await waitFor("the hold to end", async () => (await shop.card(id)).at("data.held") === 0)
  })

  it("that can pay nothing any more is replaced by a new one when an order is refunded", async () => {
    const { code, id, path } = await shop.issue(3_000, { recipientEmail: "ann@example.com" })
    const made = await shop.buy(2_000, [code])
    const orderId = made.text("data.id")
    await shop.done("POST", `${path}/disable`)
    await shop.refund(orderId, 500)
    await shop.refund(orderId)
    const found = await shop.done("GET", "?limit=2")
    for (const [n, amount] of [[1, 500], [0, 1_500]] as const) {
      assert.deepInclude(found.at(`data.${n}`), {
        initialAmount: amount,
        balance: amount,
        sourceOrderId: orderId,
        status: "active",
        recipientEmail: "ann@example.com",
        metadata: { replaces: id }
      })
    }
    assert.strictEqual(await shop.balance(id), 1_000)
    await shop.run("deliver")
    // The schedule may have sent the first card before it was disabled.
    const replacements = () => shop.mails.filter(({ data, to }) => to === "ann@example.com" && data["amount"] !== 3_000)
    await waitFor("two mails", () => replacements().length === 2)
    const again = await shop.buy(400, [String(replacements().at(-1)?.data["displayCode"])])
    assert.strictEqual(again.status, 201, JSON.stringify(again.body))
  })

  it("that replaces another one for a guest without an address has its code from staff", async () => {
    const [{ code, path }, price] = [await shop.issue(2_000), 2_000]
    const orderId = (await shop.buy(price, [code])).text("data.id")
    await shop.done("POST", `${path}/disable`)
    await shop.refund(orderId)
    const found = await shop.done("GET", `?sourceOrderId=${orderId}`)
    const id = found.text("data.0.id")
    const [first, second] = [await shop.done("POST", `/${id}/code`), await shop.done("POST", `/${id}/code`)]
    assert.deepStrictEqual([first.status, first.at("data.balance"), found.at("data.1")], [201, price, undefined])
    failed(await shop.buy(500, [first.text("data.code")]), /is unknown/)
    const spent = await shop.buy(500, [second.text("data.displayCode")])
    assert.strictEqual(spent.at("data.tenders.0.amount"), 500, JSON.stringify(spent.body))
    const updates = `select actor_id, payload::text as payload from outbox_events
      where type = 'gift-cards/gift_cards.update' and entity_id = $1`
    const entries = await shop.app.db.query(updates, [id])
    assert.deepStrictEqual(entries.map(({ actor_id }) => actor_id), Array(2).fill(testAdminActor.userId))
    assert.notInclude(JSON.stringify(entries), second.text("data.code"))
    await shop.refused("409 CONFLICT", "POST", `${path}/code`)
    await shop.refused("404 NOT_FOUND", "POST", `/${randomUUID()}/code`)
  })

  it("gives everything back when its order is cancelled, also after a part was refunded", async () => {
    const { code, id } = await shop.issue(3_000)
    const made = await shop.buy(5_000, [code])
    await shop.refund(made.text("data.id"), 2_500)
    await shop.ask("PATCH", `/orders/${made.text("data.id")}/status`, { status: "cancelled" })
    await waitFor("the money to be back", async () => (await shop.balance(id)) === 3_000)
  })

  it("is issued, redeemed and refunded in a random year so that the liability is what is on all cards", async () => {
    const random = (below: number) => Math.floor(Math.random() * below)
    const all = [await shop.issue(2_000, { currency: "GBP" }), await shop.issue(9_000, { currency: "GBP" })]
    const orders: Array<string> = []
    for (let day = 0; day < 40; day++) {
      const one = all[random(all.length)]
      if (one === undefined) continue
      const what = random(8)
      if (what === 0) all.push(await shop.issue(1 + random(5_000), { currency: "GBP" }))
      const post = (action: string, body?: object) => shop.ask("POST", `/gift-cards${one.path}/${action}`, body)
      if (what === 1) await post("adjust", { delta: random(2_000) - 1_000, note: "year" })
      if (what === 2) await post("top-up", { amount: 1 + random(500) })
      if (what === 3 && day % 2 === 0) await post("disable")
      if (what > 3 && what < 7) {
        const made = await shop.buyIn("GBP", 500 + random(2_000), [one.code])
        if (made.status === 201) orders.push(made.text("data.id"))
      }
      const order = orders[random(orders.length)]
      if (what === 7 && order !== undefined) await shop.refund(order, 1 + random(800))
    }
    const { adjusted = 0, issued = 0, outstanding, redeemed = 0, refunded = 0 } = await shop.liability("GBP")
    assert.strictEqual(outstanding, issued - redeemed + refunded + adjusted)
    const [row] = await shop.app.db.query("select sum(balance)::float8 as sum from gift_cards where currency = 'GBP'")
    assert.strictEqual(outstanding, row?.["sum"])
    assert.isAbove(redeemed, 0)
  })
})
