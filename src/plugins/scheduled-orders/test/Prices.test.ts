import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inspect } from "node:util"
import { beforeHook, definePlugin } from "stoa/plugin"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ann, type BoxShop, customer, openBoxShop } from "./BoxShop.ts"

const day = 24
const deliveryAddress = { line1: "Main 1", city: "Town", postalCode: "10001", country: "US" }
const buyer = { ...ann, permissions: [...ann.permissions, "orders:create"] }

describe("an order whose price may rise by ten percent", () => {
  let shop: BoxShop
  const mails: Array<{ readonly template: string; readonly text: string }> = []
  /** What happens once, while a product is put into a cart, or while an order is quoted. */
  const meanwhile = new Map<string, () => Promise<unknown>>()
  const happen = (id: unknown) =>
    Effect.promise(async () => {
      const run = meanwhile.get(String(id))
      meanwhile.delete(String(id))
      await run?.()
      return undefined
    })
  beforeAll(async () => {
    const send = async ({ template, text }: { readonly template: string; readonly text: string }) =>
      void mails.push({ template, text })
    const look = beforeHook("cart.beforeAddItem", ({ data }) => Effect.as(happen(data.entityId), data))
    const decide = ({ metadata }: { readonly metadata: object }) => happen(Reflect.get(metadata, "scheduledOrderId"))
    const options = { maxPriceIncreasePercent: 10, priceReviewDays: 5, retryMinutes: [60] }
    const held = { holdGoods: "scheduling", maxHoldDays: 30, maxHeldUnits: 100_000 } as const
    shop = await openBoxShop({ ...options, ...held }, { email: { send }, shipping: { type: "flat", flatRate: 490 } }, [
      definePlugin({ id: "meanwhile", version: "1.0.0", hooks: () => [look], checkoutExtension: () => ({ decide }) })
    ])
  })
  afterAll(() => shop.close())

  /** A product that costs 10.00 every seven days, its order and what it costs from then on. */
  const boxEvery = async (more: object = {}, as = ann) => {
    const product = await shop.product({ price: 1_000, stock: 1_000 })
    const made = await shop.done("POST", "", shop.wish(await shop.cart(as, product), { everyDays: 7, ...more }), as)
    const raise = async (amount: number) => {
      const { status } = await shop.ask("POST", "/pricing/prices", { entityId: product, currency: "USD", amount })
      assert.strictEqual(status, 201)
    }
    return { product, raise, id: made.text("data.id"), cartId: made.text("data.cartId"), made: Object(made.at("data")) }
  }
  const next = async (cartId: string) => (await shop.rows(`cartId=${cartId}&status=scheduled`))[0]
  const hoursTo = (at: string) => (Date.parse(at) - shop.clock.now()) / 3_600_000
  const charged = async (orderId: string) => (await shop.ask("GET", `/orders/${orderId}`)).at("data.amountCaptured")
  const reserved = async (product: string) =>
    (await shop.db.query("select sum(reserved)::int as n from stock_levels where entity_id = $1", [product]))[0]?.["n"]
  const ordersOf = (id: string) =>
    shop.db.query("select 1 from orders where status <> 'cancelled' and metadata->>'scheduledOrderId' = $1", [id])
  const mailed = (template: string) => mails.filter((mail) => mail.template === `scheduled-orders/${template}`)
  const accept = (id: string, body?: object, as = ann) =>
    shop.ask("POST", `/scheduled-orders/${id}/accept-price`, body, as)

  it("is ordered up to that, and each total is what the next one may rise from", async () => {
    const { cartId, id, made, raise } = await boxEvery()
    assert.deepInclude(made, { maxPriceIncreasePercent: 10, agreedTotal: 1_000, quotedTotal: null })
    let order = Object({ id, scheduledFor: made.scheduledFor })
    for (const amount of [1_100, 1_210, 1_331]) {
      await raise(amount)
      const { orderId } = await shop.due(order.id, "completed", hoursTo(order.scheduledFor))
      assert.strictEqual(await charged(orderId), amount)
      order = await next(cartId)
      assert.deepInclude(order, { agreedTotal: amount, quotedTotal: null, maxPriceIncreasePercent: 10 })
    }
    await raise(1_465)
    await shop.due(order.id, "price_review", hoursTo(order.scheduledFor))
    assert.isEmpty(await ordersOf(order.id))
  })

  it("waits above that until its customer, who got a mail, accepts the price, and goes on at once", async () => {
    const { cartId, id, raise } = await boxEvery()
    await raise(1_101)
    const before = mailed("price-review").length
    const waiting = await shop.due(id, "price_review")
    assert.deepInclude(waiting, { agreedTotal: 1_000, quotedTotal: 1_101, checkoutCartId: null, orderId: null })
    const mail = await waitFor("the mail", () => mailed("price-review").at(before))
    assert.match(mail.text, /costs \$11\.01 in all today\. You have agreed to \$10\.00\./)
    const [event] = await shop.db.query(
      "select payload from outbox_events where type = 'scheduled_order.price_review' and entity_id = $1",
      [id]
    )
    assert.deepInclude(Object(event?.["payload"]), { currency: "USD", agreedTotal: 1_000, quotedTotal: 1_101 })
    await shop.tick()
    assert.isUndefined(await next(cartId))
    const body = { cartId, paymentMethodId: "test", currency: "USD" }
    assert.strictEqual((await shop.ask("POST", "/checkout", body, buyer)).status, 422)
    await shop.refused("409 CONFLICT", "POST", "", shop.wish(cartId), ann)
    for (const move of ["skip", "pause", "resume", "retry"]) {
      await shop.refused("422 INVALID_TRANSITION", "POST", `/${id}/${move}`, undefined, ann)
    }
    assert.strictEqual((await accept(id, {}, customer("eve"))).status, 404)
    assert.strictEqual((await accept(id, { total: 1_100 })).status, 409)
    const answers = await Promise.all(Array.from({ length: 4 }, () => accept(id, { total: 1_101 })))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 422, 422, 422])
    assert.deepInclude(await shop.row(id), {
      status: "scheduled",
      agreedTotal: 1_101,
      scheduledFor: waiting.scheduledFor
    })
    const { orderId } = await shop.due(id, "completed", 0)
    assert.strictEqual(await charged(orderId), 1_101)
    assert.deepInclude(await next(cartId), { agreedTotal: 1_101 })
  })

  it("is asked about with its notice, gives its goods back meanwhile, and comes at its time", async () => {
    const { id, product, raise } = await boxEvery({ scheduledFor: shop.inHours(5 * day) })
    assert.strictEqual(await reserved(product), 1)
    await raise(2_000)
    shop.clock.advance("2 days")
    await shop.serviceRegistry.enqueue("scheduled-orders/notice", {})
    const { scheduledFor } = await shop.isNow(id, "price_review")
    assert.strictEqual(await reserved(product), 0)
    assert.isFalse(mailed("notice").some(({ text }) => text.includes("$20.00")))
    assert.strictEqual((await accept(id)).status, 201)
    assert.strictEqual(await reserved(product), 1)
    assert.deepInclude(await shop.row(id), { status: "scheduled", scheduledFor, agreedTotal: 2_000, noticeAt: null })
    await shop.due(id, "completed", hoursTo(scheduledFor))
    assert.strictEqual(await reserved(product), 1)
  })

  it("is not asked about at the price of items that it had when its notice was written", async () => {
    const { id, product, raise } = await boxEvery({ scheduledFor: shop.inHours(5 * day) })
    const dear = [{ entityId: product, quantity: 3 }]
    const set = () => shop.ask("PUT", `/scheduled-orders/${id}/items`, { items: dear }, ann)
    await raise(2_000)
    meanwhile.set(id, set)
    shop.clock.advance("2 days")
    await shop.serviceRegistry.enqueue("scheduled-orders/notice", {})
    await waitFor("the notice", () => mailed("notice").some(({ text }) => text.includes("$60.00")))
    assert.deepInclude(await shop.row(id), { status: "scheduled", agreedTotal: 6_000, quotedTotal: null })
    await shop.done("POST", `/${id}/cancel`, undefined, ann)
  })

  it(
    "comes at the next time of its repeats when it is accepted a day after its time; one without is moved",
    async () => {
      const { id, made, raise } = await boxEvery()
      const once = await boxEvery({ everyDays: null, maxPriceIncreasePercent: 0 })
      await raise(2_000)
      await once.raise(1_001)
      await shop.due(id, "price_review")
      await shop.isNow(once.id, "price_review")
      shop.clock.advance("30 hours")
      assert.strictEqual((await accept(id)).status, 201)
      const moment = Date.parse(made.scheduledFor) + 7 * day * 3_600_000
      assert.strictEqual((await shop.row(id)).scheduledFor, new Date(moment).toISOString())
      const refused = await accept(once.id)
      assert.deepStrictEqual([refused.status, refused.text("error.code")], [422, "VALIDATION_FAILED"])
      // It is asked about at its new time again, because moving it accepts nothing.
      const moved = await shop.done("PATCH", `/${once.id}`, { scheduledFor: shop.inHours(2) }, ann)
      assert.deepInclude(Object(moved.at("data")), { status: "scheduled", agreedTotal: 1_000, quotedTotal: null })
      await shop.due(once.id, "price_review")
      await shop.done("POST", `/${once.id}/cancel`, undefined, ann)
    }
  )

  it("is cancelled without an answer after `priceReviewDays`, with a mail, and its cart is free", async () => {
    const { cartId, id, raise } = await boxEvery()
    await raise(2_000)
    await shop.due(id, "price_review")
    shop.clock.advance("4 days")
    await shop.tick()
    const before = mailed("price-unanswered").length
    assert.strictEqual((await shop.row(id)).status, "price_review")
    await shop.due(id, "cancelled", day)
    await waitFor("the mail", () => mailed("price-unanswered").length === before + 1)
    const item = { entityId: await shop.product(), quantity: 1 }
    assert.strictEqual((await shop.ask("POST", `/carts/${cartId}/items`, item, ann)).status, 201)
    assert.strictEqual((await accept(id)).status, 422)
  })

  it("is not ordered at a price that changed between its quote and its checkout, but asked about", async () => {
    const { cartId, id, product, raise } = await boxEvery()
    meanwhile.set(product, () => raise(3_000))
    assert.deepInclude(await shop.due(id, "price_review"), { agreedTotal: 1_000, quotedTotal: 3_000 })
    assert.isEmpty(await ordersOf(id))
    assert.isUndefined(await next(cartId))
    assert.strictEqual((await accept(id)).status, 201)
    const { orderId } = await shop.due(id, "completed", 0)
    assert.strictEqual(await charged(orderId), 3_000)
  })

  it(
    "that was declined fails above that when it is tried again, and the next one is asked about at its time",
    async () => {
      const { cartId, id, raise } = await boxEvery({ paymentMethodId: "test_decline" })
      await shop.due(id, "failed")
      const { id: second, scheduledFor } = await next(cartId)
      await raise(1_500)
      await shop.done("POST", `/${id}/retry`, { paymentMethodId: "test" }, ann)
      await shop.tick()
      const failed = await waitFor("the second attempt", async () => {
        const found = await shop.row(id)
        return found.attempts === 2 && found.status === "failed" && found
      })
      assert.deepInclude(failed, {
        failureReason: "The price is above what the customer has agreed to.",
        quotedTotal: null
      })
      assert.isEmpty(await ordersOf(id))
      assert.deepInclude(await next(cartId), { id: second, agreedTotal: 1_000 })
      await shop.due(second, "price_review", hoursTo(scheduledFor))
    }
  )

  it("is the order that was made when its job runs again, also at another price", async () => {
    const { cartId, id, raise } = await boxEvery()
    const { orderId } = await shop.due(id, "completed")
    // As a process leaves it that dies between the order and the note of it.
    await shop.db.query("delete from scheduled_orders where cart_id = $1 and id <> $2", [cartId, id])
    await shop.db.query(
      "update scheduled_orders set status = 'processing', order_id = null, due_at = now() where id = $1",
      [id]
    )
    await raise(5_000)
    assert.strictEqual((await shop.due(id, "completed", 0)).orderId, orderId)
    assert.lengthOf(await ordersOf(id), 1)
    assert.deepInclude(await next(cartId), { agreedTotal: 1_000 })
  })

  it("may cost what other items, another address and a new guard cost when they are set", async () => {
    const { id, product, raise } = await boxEvery()
    const set = (items: ReadonlyArray<object>) => shop.ask("PUT", `/scheduled-orders/${id}/items`, { items }, ann)
    const three = [{ entityId: product, quantity: 3 }]
    assert.strictEqual((await set(three)).at("data.agreedTotal"), 3_000)
    const change = async (body: object) => (await shop.done("PATCH", `/${id}`, body, ann)).at("data.agreedTotal")
    assert.strictEqual(await change({ orderType: "delivery", deliveryAddress }), 3_490)
    await raise(1_010)
    assert.strictEqual(await change({ notes: "Ring", maxPriceIncreasePercent: 20 }), 3_490)
    assert.strictEqual(await change({ maxPriceIncreasePercent: null }), 3_490)
    assert.strictEqual(await change({ maxPriceIncreasePercent: 0 }), 3_520)
    meanwhile.set(product, () => change({ notes: "Ring twice" }))
    const refused = await set(three)
    assert.deepStrictEqual([refused.status, refused.text("error.code")], [409, "CONFLICT"])
    await shop.due(id, "completed")
  })

  it("has a guard of the store where it repeats and says none, and the database keeps what a guard needs", async () => {
    assert.deepInclude((await boxEvery({ everyDays: null })).made, { maxPriceIncreasePercent: null, agreedTotal: null })
    const free = await boxEvery({ maxPriceIncreasePercent: null })
    assert.deepInclude(free.made, { maxPriceIncreasePercent: null, agreedTotal: null })
    await free.raise(9_000)
    const { orderId } = await shop.due(free.id, "completed")
    assert.strictEqual(await charged(orderId), 9_000)
    const { id, raise } = await boxEvery()
    for (const wrong of ["agreed_total = null", "status = 'price_review', due_at = null, quoted_total = 1"]) {
      const error = await shop.db.query(`update scheduled_orders set ${wrong} where id = $1`, [id]).catch(inspect)
      assert.match(String(error), /violates check constraint "scheduled_orders_(guard|review)_/)
    }
    await raise(2_000)
    await shop.due(id, "price_review")
    const twice =
      `insert into scheduled_orders (organization_id, customer_id, cart_id, items, currency, scheduled_for, payment_method_id)
      select organization_id, customer_id, cart_id, items, currency, now(), 'test' from scheduled_orders where id = $1`
    assert.match(String(await shop.db.query(twice, [id]).catch(inspect)), /"scheduled_orders_cart_id_\w+_key"/)
  })

  it(
    "has no next one after all are cancelled while it is placed, nor beside a failed one that is scheduled again",
    async () => {
      for (const isCancelled of [true, false]) {
        const { cartId, id, product } = await boxEvery({ paymentMethodId: "test_decline" })
        await shop.due(id, "failed")
        const { id: second, scheduledFor } = await next(cartId)
        await shop.done("PATCH", `/${second}`, { paymentMethodId: "test" }, ann)
        // Its attempts are used up, so that it does not expire.
        await shop.db.query("update scheduled_orders set due_at = null where id = $1", [id])
        const hours = hoursTo(scheduledFor)
        shop.clock.advance(`${hours} hours`)
        const cancel = () => shop.done("POST", `/${id}/cancel`, undefined, ann)
        const again = { scheduledFor: shop.inHours(day), paymentMethodId: "test" }
        meanwhile.set(product, isCancelled ? cancel : () => shop.done("PATCH", `/${id}`, again, ann))
        await shop.tick()
        await shop.isNow(second, "completed")
        const left = (await shop.rows(`cartId=${cartId}`)).map((one) => [one.id, one.status])
        assert.sameDeepMembers(left, [[id, isCancelled ? "cancelled" : "scheduled"], [second, "completed"]])
      }
    }
  )

  it("that waits is cancelled when its customer is erased", async () => {
    const eve = customer("eve")
    const { id, raise } = await boxEvery({}, eve)
    await raise(2_000)
    await shop.due(id, "price_review")
    assert.strictEqual((await shop.ask("DELETE", "/me", undefined, eve)).status, 200)
    await shop.serviceRegistry.enqueue("scheduled-orders/forget", {})
    await shop.isNow(id, "cancelled")
  })
})
