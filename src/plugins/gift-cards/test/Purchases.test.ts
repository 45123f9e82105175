import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { testCustomerActor, withPermissions } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { openShop, type Shop } from "./GiftCardShop.ts"

describe("a gift card that is bought", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ productType: "gift_card", codeFormat: "XXXXXXXX-XXXXXXXX" })
  })
  afterAll(() => shop.close())

  const cardsOf = (orderId: string) =>
    shop.app.db.query(
      `select id, unit, initial_amount::int4 as amount, balance::int4 as balance, recipient_email as email,
        personal_message as message, purchaser_id as customer from gift_cards where source_order_id = $1
        order by order_line_id, unit`,
      [orderId]
    )
  const ofCards = (lines: ReadonlyArray<object>, email = "buyer@example.com") =>
    shop.cartOf(2_500, lines, null, email, "gift_card")

  it("is one card for each unit, once, as soon as the order is paid", async () => {
    const cart = await ofCards([
      { quantity: 2, metadata: { recipientEmail: "bob@example.com", senderName: "Ann", personalMessage: "Enjoy" } },
      { quantity: 1 }
    ])
    const made = await shop.checkOut(cart, [])
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    const orderId = made.text("data.id")
    const cards = await cardsOf(orderId)
    assert.deepStrictEqual(cards.map(({ amount, balance }) => [amount, balance]), Array(3).fill([2_500, 2_500]))
    assert.deepStrictEqual(cards.map(({ email, message }) => `${email} ${message}`).sort(), [
      "bob@example.com Enjoy",
      "bob@example.com Enjoy",
      "buyer@example.com null"
    ])
    for (const status of ["confirmed", "processing", "fulfilled"]) {
      assert.strictEqual((await shop.ask("PATCH", `/orders/${orderId}/status`, { status })).status, 200)
    }
    assert.strictEqual((await shop.refund(orderId, 100)).status, 201)
    assert.deepStrictEqual(await cardsOf(orderId), cards)
  })

  it("is one of at most 100 of a line, in the cart and at the checkout", async () => {
    const cart = await ofCards([{ quantity: 99 }])
    const items = `/carts/${cart.id}/items`
    const [line] = await shop.app.db.query("select id, entity_id as entity from cart_lines where cart_id = $1", [
      cart.id
    ])
    const secret = cart.headers
    const add = (quantity: number) => shop.ask("POST", items, { entityId: line?.["entity"], quantity }, null, secret)
    const refused = await add(2)
    assert.strictEqual(refused.status, 422, JSON.stringify(refused.body))
    assert.include(
      refused.text("error.message"),
      "quantity must be at most 100: a line has no more units of this item."
    )
    assert.strictEqual((await add(1)).status, 201)
    const changed = await shop.ask("PATCH", `${items}/${line?.["id"]}`, { quantity: 101 }, null, secret)
    assert.strictEqual(changed.status, 422, JSON.stringify(changed.body))
    // Two additions at the same moment, or a cart of the version before.
    await shop.app.db.query("update cart_lines set quantity = 101 where id = $1", [line?.["id"]])
    const bought = await shop.checkOut(cart, [])
    assert.deepStrictEqual([bought.status, bought.at("error.code")], [422, "CHECKOUT_FAILED"])
    assert.match(bought.text("error.message"), /A line can have at most 100 units of /)
  })

  it("comes by mail to its receiver at the time that is asked for, and its code is forgotten then", async () => {
    const cart = await ofCards([
      { metadata: { recipientEmail: "now@example.com" } },
      { metadata: { recipientEmail: "later@example.com", deliverAt: new Date(Date.now() + 3_600_000).toISOString() } }
    ])
    const made = await shop.checkOut(cart, [])
    await shop.run("deliver")
    await waitFor("the mail of now", () => shop.mails.some(({ to }) => to === "now@example.com"))
    const mail = shop.mails.find(({ to }) => to === "now@example.com")
    assert.strictEqual(mail?.template, "gift-cards/gift-card-delivery")
    assert.match(String(mail?.data["displayCode"]), /^[A-Z2-9]{8}-[A-Z2-9]{8}$/)
    const codes = "select recipient_email as to from gift_cards where code is not null and source_order_id = $1"
    const kept = () => shop.app.db.query(codes, [made.text("data.id")])
    assert.deepStrictEqual(await kept(), [{ to: "later@example.com" }])
    shop.app.clock.advance("2 hours")
    await Promise.all([shop.run("deliver"), shop.run("deliver")])
    await waitFor("no code to be kept", async () => (await kept()).length === 0)
    await waitFor("the later mail", () => shop.mails.some(({ to }) => to === "later@example.com"))
    assert.strictEqual(shop.mails.filter(({ to }) => to === "later@example.com").length, 1)
    const spent = await shop.buy(2_000, [String(mail?.data["displayCode"])])
    assert.strictEqual(spent.at("data.tenders.0.amount"), 2_000, JSON.stringify(spent.body))
  })

  it("that waits for its mail is sent with the code that replaced its first one", async () => {
    const { code, path } = await shop.issue(700, { recipientEmail: "new@example.com" })
    const given = await shop.done("POST", `${path}/code`)
    await shop.run("deliver")
    const mail = await waitFor("the mail", () => shop.mails.find(({ to }) => to === "new@example.com"))
    assert.strictEqual(mail.data["displayCode"], given.at("data.displayCode"))
    assert.notStrictEqual(given.at("data.code"), code)
  })

  it("comes in one mail with all codes of its line to one receiver, and in another one for others", async () => {
    const [to, other] = ["batch@example.com", "single@example.com"]
    await shop.checkOut(await ofCards([{ quantity: 4, metadata: { personalMessage: "Enjoy" } }], to), [])
    await shop.checkOut(await ofCards([{ quantity: 1 }], other), [])
    await Promise.all([shop.run("deliver"), shop.run("deliver")])
    const mail = await waitFor("the mail", () => shop.mails.find((one) => one.to === to))
    await waitFor("the other mail", () => shop.mails.some((one) => one.to === other))
    const sent = Object(mail.data)
    assert.deepInclude(sent, { amount: 10_000, personalMessage: "Enjoy" })
    assert.deepStrictEqual(sent.cards.map(({ amount }: { amount: number }) => amount), Array(4).fill(2_500))
    assert.strictEqual(new Set(codesTo(to)).size, 4)
    assert.strictEqual(codesTo(to).join(", "), sent.displayCode)
    assert.strictEqual(shop.mails.filter((one) => one.to === to).length, 1)
    for (const code of codesTo(to)) assert.strictEqual((await shop.buy(2_500, [code])).status, 201)
  })

  /** The codes that were sent to an address. */
  const codesTo = (address: string) =>
    shop.mails.filter(({ to }) => to === address)
      .flatMap(({ data }) => String(data["displayCode"] ?? "").match(/[^, ]+/g) ?? [])

  /** Two cards of one line, whose codes came by mail. */
  const twoSold = async (email: string) => {
    const made = await shop.checkOut(await ofCards([{ quantity: 2 }], email), [])
    const [orderId, lineItemId] = [made.text("data.id"), made.text("data.lineItems.0.id")]
    await shop.run("deliver")
    const codes = await waitFor("two codes", () => {
      const found = codesTo(email)
      return found.length === 2 && found
    })
    assert.strictEqual(shop.mails.filter(({ to }) => to === email).length, 1)
    const refundUnit = (amount?: number) =>
      shop.ask("POST", `/orders/${orderId}/refunds`, { lines: [{ lineItemId, quantity: 1 }], amount })
    const states = async () => {
      const all = (await shop.done("GET", `?sourceOrderId=${orderId}`)).list("data").map(Object)
      return all.map(({ balance, status }) => `${status} ${balance}`).sort()
    }
    return { orderId, codes, refundUnit, states }
  }

  it("is withdrawn with the unit that is refunded, the one that is unspent first", async () => {
    const { codes: [code = ""], orderId, refundUnit, states } = await twoSold("units@example.com")
    await shop.buy(1_000, [code])
    assert.strictEqual((await refundUnit()).status, 201)
    assert.deepStrictEqual(await states(), ["active 1500", "disabled 0"])
    assert.strictEqual((await shop.buy(400, [code])).status, 201)
    const tooMuch = await refundUnit()
    assert.strictEqual(tooMuch.status, 422)
    assert.match(tooMuch.text("error.message"), /^2500 would be refunded for gift cards that have 1100 left/)
    assert.strictEqual((await refundUnit(1_101)).status, 422)
    assert.deepStrictEqual(await states(), ["active 1100", "disabled 0"])
    assert.strictEqual((await refundUnit(1_100)).status, 201)
    assert.deepStrictEqual(await states(), ["disabled 0", "disabled 0"])
    // The rest was spent.
    assert.strictEqual((await shop.refund(orderId)).status, 422)
    const refused = await shop.buy(400, [code])
    assert.match(refused.text("error.message"), /is disabled/)
    const taken = "select amount::int4 from gift_card_entries where type = 'withdraw' and order_id = $1 order by 1"
    assert.deepStrictEqual(await shop.app.db.query(taken, [orderId]), [{ amount: -2_500 }, { amount: -1_100 }])
    const { adjusted = 0, issued = 0, outstanding, redeemed = 0, refunded = 0 } = await shop.liability("USD")
    assert.strictEqual(outstanding, issued - redeemed + refunded + adjusted)
  })

  it("whose unit came back for less owes its rest, when the order is refunded later", async () => {
    const { codes: [code = ""], orderId, refundUnit, states } = await twoSold("fee@example.com")
    await shop.buy(1_000, [code])
    assert.strictEqual((await refundUnit(2_000)).status, 201)
    assert.strictEqual((await shop.refund(orderId)).status, 422, "the other card is spent")
    assert.strictEqual((await refundUnit(2_001)).status, 422, "1500 on the other card and 500 of the first")
    assert.strictEqual((await refundUnit(2_000)).status, 201)
    assert.deepStrictEqual(await states(), ["disabled 0", "disabled 0"])
    const unspent = await twoSold("fees@example.com")
    assert.strictEqual((await unspent.refundUnit(2_000)).status, 201)
    assert.strictEqual((await unspent.refundUnit(1_000)).status, 201)
    assert.strictEqual((await shop.refund(unspent.orderId)).at("data.amount"), 2_000)
  })

  it("is withdrawn when the whole order is refunded or cancelled, and brings no mail then", async () => {
    const cancel = (id: string) => shop.ask("PATCH", `/orders/${id}/status`, { status: "cancelled" })
    for (const [n, end] of [shop.refund, cancel].entries()) {
      const deliverAt = new Date(shop.app.clock.now() + 3_600_000).toISOString()
      const cart = await ofCards([{ quantity: 2, metadata: { deliverAt } }], `whole${n}@example.com`)
      const made = await shop.checkOut(cart, [])
      assert.isBelow((await end(made.text("data.id"))).status, 300)
      const left = await cardsOf(made.text("data.id"))
      assert.deepStrictEqual(left.map(({ balance }) => balance), [0, 0])
    }
    shop.app.clock.advance("2 hours")
    await shop.issue(500, { recipientEmail: "after@example.com" })
    await shop.run("deliver")
    await waitFor("the mail of a card behind them", () => shop.mails.some(({ to }) => to === "after@example.com"))
    assert.deepStrictEqual([0, 1].flatMap((n) => codesTo(`whole${n}@example.com`)), [])
  })

  it("is not withdrawn while an order holds a part of it, which would come back to a card that no one can spend", async () => {
    const { codes: [code = ""], refundUnit, states } = await twoSold("held@example.com")
    const waits = await shop.buy(3_000, [code], { paymentMethodId: "test_requires_action" })
    assert.strictEqual(waits.at("data.payment.status"), "requires_action", JSON.stringify(waits.body))
    assert.strictEqual((await refundUnit()).status, 201, "the other card")
    const refused = await refundUnit(1)
    assert.strictEqual(refused.status, 422)
    assert.match(refused.text("error.message"), /holds a part of this gift card/)
    await shop.ask("PATCH", `/orders/${waits.text("data.id")}/status`, { status: "cancelled" })
    await waitFor("the hold to end", async () => (await refundUnit()).status === 201)
    assert.deepStrictEqual(await states(), ["disabled 0", "disabled 0"])
  })

  it("keeps its order from being refunded or cancelled as a whole once it was spent", async () => {
    const { codes: [code = ""], orderId, states } = await twoSold("spent@example.com")
    const cancel = () => shop.ask("PATCH", `/orders/${orderId}/status`, { status: "cancelled" })
    await shop.buy(1_000, [code])
    assert.strictEqual((await shop.refund(orderId)).status, 422)
    assert.strictEqual((await shop.refund(orderId, 5_000)).status, 422)
    assert.deepStrictEqual([(await cancel()).status, (await cancel()).at("error.code")], [422, "INVALID_TRANSITION"])
    assert.strictEqual((await shop.refund(orderId, 4_000)).status, 201)
    assert.deepStrictEqual(await states(), ["active 1500", "active 2500"])
  })

  it("is usable again with what it had when its refund fails", async () => {
    const { codes: [code = ""], orderId, refundUnit, states } = await twoSold("fails@example.com")
    await shop.buy(1_000, [code])
    await shop.app.db.query("update orders set payment_intent_id = 'lost' where id = $1", [orderId])
    await refundUnit()
    await refundUnit(1_500)
    await waitFor("both to be back", async () => (await states()).join() === "active 1500,active 2500")
    assert.strictEqual((await shop.buy(1_500, [code])).status, 201)
  })

  it("is not sent any more once it is disabled, and its code is forgotten", async () => {
    // The scheduler must not deliver it before it is disabled.
    const { id, path } = await shop.issue(700, { recipientEmail: "disabled@example.com", deliverAt: "2100-01-01" })
    await shop.done("POST", `${path}/disable`)
    await shop.app.db.query("update gift_cards set deliver_at = now() where id = $1", [id])
    await shop.issue(700, { recipientEmail: "enabled@example.com" })
    await shop.run("deliver")
    await waitFor("the mail of a card behind it", () => codesTo("enabled@example.com").length === 1)
    assert.deepStrictEqual(codesTo("disabled@example.com"), [])
    const [row] = await shop.app.db.query("select code, delivered_at from gift_cards where id = $1", [id])
    assert.deepStrictEqual(row, { code: null, delivered_at: null })
  })

  it("is sent although the code of a card before it cannot be read", async () => {
    // The scheduler must not deliver it before its code is broken.
    const { id } = await shop.issue(500, { recipientEmail: "broken@example.com", deliverAt: "2100-01-01" })
    await shop.app.db.query("update gift_cards set code = 'lost:key', deliver_at = now() where id = $1", [id])
    await shop.issue(500, { recipientEmail: "behind@example.com" })
    await shop.run("deliver")
    await waitFor("the mail behind", () => shop.mails.some(({ to }) => to === "behind@example.com"))
    assert.isFalse(shop.mails.some(({ to }) => to === "broken@example.com"))
  })

  it("belongs to the customer who bought it, and not to a failed checkout", async () => {
    const buyer = withPermissions(["cart:create", "cart:read", "cart:update", "orders:create"], testCustomerActor)
    const cart = await shop.cartOf(2_500, [{}], buyer, undefined, "gift_card")
    const made = await shop.checkOut(cart, [])
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    const mine = await shop.ask("GET", "/me/gift-cards", undefined, testCustomerActor)
    assert.deepStrictEqual([mine.at("data.0.sourceOrderId"), mine.at("meta.pagination.total")], [made.at("data.id"), 1])
    await shop.checkOut(await ofCards([{}]), [], { paymentMethodId: "test_capture_fail" })
    const unpaid = await shop.app.db.query(
      `select (select count(*) from gift_cards where source_order_id = o.id)::int4 as n
      from orders o where o.amount_captured is null order by o.placed_at desc limit 1`
    )
    assert.deepStrictEqual(unpaid, [{ n: 0 }])
  })
})
