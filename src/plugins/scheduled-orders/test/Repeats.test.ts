import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ann, type BoxShop, openBoxShop } from "./BoxShop.ts"

describe("orders that repeat, and that fail", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({ retryMinutes: [60], timezone: "Europe/Vienna" })
  })
  afterAll(() => shop.close())

  /** The row of a cart that is to come. */
  const next = async (cartId: string) => {
    const [found] = await shop.rows(`cartId=${cartId}&status=scheduled`)
    return found
  }
  const wallTime = (at: string) =>
    new Intl.DateTimeFormat("de", { timeStyle: "short", timeZone: "Europe/Vienna" }).format(new Date(at))

  it(
    "a weekly vegetable box is ordered for ten weeks: one skipped, one card declined and retried, one out of stock",
    async () => {
      const box = await shop.product({ price: 2_500, stock: 8 })
      const cartId = await shop.cart(ann, box)
      const first = await shop.done(
        "POST",
        "",
        shop.wish(cartId, { scheduledFor: shop.inHours(24), everyDays: 7 }),
        ann
      )
      const time = wallTime(first.text("data.scheduledFor"))
      const outcomes: Array<string> = []
      for (let week = 1; week <= 10; week++) {
        const { id, scheduledFor } = await next(cartId)
        assert.strictEqual(wallTime(scheduledFor), time, `week ${week}`)
        if (week === 3) {
          const skipped = await shop.done("POST", `/${id}/skip`, undefined, ann)
          assert.deepInclude(Object(skipped.at("data")), { id, status: "scheduled" })
          outcomes.push("skipped")
          continue
        }
        if (week === 5) await shop.done("PATCH", `/${id}`, { paymentMethodId: "test_decline" }, ann)
        const wait = (Date.parse(scheduledFor) - shop.clock.now()) / 3_600_000
        const ended = await shop.due(id, week === 5 || week === 10 ? "failed" : "completed", wait)
        if (week === 5) {
          assert.match(ended.failureReason, /declined/)
          await shop.done("POST", `/${id}/retry`, { paymentMethodId: "test" }, ann)
          await shop.due(id, "completed", 0)
          // What is to come has the means that failed until its customer says otherwise.
          await shop.done("PATCH", `/${(await next(cartId)).id}`, { paymentMethodId: "test" }, ann)
        }
        outcomes.push((await shop.row(id)).status)
      }
      const { id: last } = (await shop.rows(`cartId=${cartId}&status=failed`))[0] ?? {}
      assert.match((await shop.row(last)).failureReason, /stock/i)
      assert.deepStrictEqual(outcomes, [
        ...Array(2).fill("completed"),
        "skipped",
        ...Array(6).fill("completed"),
        "failed"
      ])
      const orders = (await shop.rows(`cartId=${cartId}&status=completed`)).map(({ orderId }) => orderId)
      assert.strictEqual(new Set(orders).size, 8)
      await shop.due(last, "failed", 2)
      await shop.done("POST", `/${(await next(cartId)).id}/cancel`, undefined, ann)
      assert.isUndefined(await next(cartId))
    }
  )

  it("rest while they are paused, leave out what is past then, and end on their last day", async () => {
    const options = { scheduledFor: shop.inHours(24), everyDays: 2, repeatUntil: shop.inHours(24 * 8) }
    const id = await shop.scheduled(options)
    const { cartId, scheduledFor } = await shop.row(id)
    const paused = await shop.done("POST", `/${id}/pause`, undefined, ann)
    assert.deepInclude(Object(paused.at("data")), { status: "paused", dueAt: null })
    await shop.refused("422 INVALID_TRANSITION", "POST", `/${id}/skip`, undefined, ann)
    shop.clock.advance("4 days")
    await shop.done("POST", "/process-due", {})
    assert.strictEqual((await shop.row(id)).status, "paused")
    const resumed = await shop.done("POST", `/${id}/resume`, undefined, ann)
    const now = resumed.text("data.scheduledFor")
    assert.strictEqual(wallTime(now), wallTime(scheduledFor))
    assert.strictEqual(Math.round((Date.parse(now) - Date.parse(scheduledFor)) / 86_400_000), 4)
    await shop.refused("422 INVALID_TRANSITION", "POST", `/${id}/resume`, undefined, ann)
    await shop.due(id, "completed", 24)
    const { id: last } = await next(cartId)
    await shop.refused("422 VALIDATION_FAILED", "POST", `/${last}/skip`, undefined, ann)
    await shop.due(last, "completed", 48)
    assert.isUndefined(await next(cartId))
    const once = await shop.scheduled()
    for (const move of ["skip", "pause"]) {
      await shop.refused("422 VALIDATION_FAILED", "POST", `/${once}/${move}`, undefined, ann)
    }
  })

  it(
    "that fail are tried again, at last with a mail to their customer, and whole again once they are paid",
    async () => {
      const id = await shop.scheduled({ paymentMethodId: "test_decline" })
      await shop.refused("422 INVALID_TRANSITION", "POST", `/${id}/retry`, {}, ann)
      assert.strictEqual((await shop.due(id, "failed")).attempts, 1)
      const mails = () => shop.mails.filter(({ template }) => template === "scheduled-orders/failed").length
      const before = mails()
      shop.clock.advance("61 minutes")
      await shop.tick()
      const failed = await waitFor("the last attempt", async () => {
        const found = await shop.row(id)
        return found.attempts === 2 && found
      })
      assert.deepInclude(failed, { status: "failed", dueAt: null, orderId: null })
      await waitFor("the mail", () => mails() === before + 1)
      await shop.done("PATCH", `/${id}`, { paymentMethodId: "test", scheduledFor: shop.inHours(3) }, ann)
      await shop.due(id, "completed", 3)
    }
  )

  it("expire when nothing has placed them for a day, while their repeats go on", async () => {
    const id = await shop.scheduled({ everyDays: 7 })
    shop.clock.advance("30 hours")
    await shop.tick()
    const { cartId } = await shop.isNow(id, "expired")
    assert.isDefined(await next(cartId))
    const events = await shop.db.query(
      "select payload->>'orderId' as order from outbox_events where type = 'scheduled_order.expired' and payload->>'id' = $1",
      [id]
    )
    assert.deepStrictEqual(events.map(({ order }) => order), [null])
  })

  it("whose goods are sold no longer fail, and say so", async () => {
    const product = await shop.product()
    const made = await shop.done("POST", "", shop.wish(await shop.cart(ann, product)), ann)
    assert.strictEqual((await shop.ask("PATCH", `/catalog/entities/${product}`, { status: "archived" })).status, 200)
    const { failureReason } = await shop.due(made.text("data.id"), "failed")
    assert.isNotEmpty(failureReason)
  })

  it("whose time is over are not tried again, but can be moved to another one", async () => {
    const id = await shop.scheduled({ paymentMethodId: "test_decline" })
    await shop.due(id, "failed")
    await shop.db.query("update scheduled_orders set due_at = null where id = $1", [id])
    shop.clock.advance("26 hours")
    await shop.refused("422 VALIDATION_FAILED", "POST", `/${id}/retry`, { paymentMethodId: "test" }, ann)
    assert.strictEqual((await shop.row(id)).status, "failed")
    await shop.done("PATCH", `/${id}`, { paymentMethodId: "test", scheduledFor: shop.inHours(2) }, ann)
    await shop.due(id, "completed")
  })
})
