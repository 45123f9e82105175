import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ann, type BoxShop, openBoxShop } from "./BoxShop.ts"

const buyer = { ...ann, permissions: [...ann.permissions, "orders:create"] }

describe("the cart of a scheduled order", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({ retryMinutes: [60], slotMinutes: 60, slotCapacity: 1_000 })
  }, 120_000)
  afterAll(() => shop.close())

  const buy = (cartId: string) =>
    shop.ask("POST", "/checkout", { cartId, paymentMethodId: "test", currency: "USD" }, buyer)

  it("is neither bought nor scheduled again while the order has failed and is tried again", async () => {
    const id = await shop.scheduled({ paymentMethodId: "test_decline" })
    const { cartId } = await shop.due(id, "failed")
    assert.strictEqual((await buy(cartId)).status, 422)
    await shop.refused("409 CONFLICT", "POST", "", shop.wish(cartId), ann)
    await shop.done("POST", `/${id}/cancel`, undefined, ann)
    assert.strictEqual((await buy(cartId)).status, 201)
  })

  it("that was bought although it was scheduled is not ordered again", async () => {
    const bought = await shop.cart(ann, await shop.product())
    assert.strictEqual((await buy(bought)).status, 201)
    const id = await shop.scheduled()
    // As a process leaves it that dies between the schedule and its second look at the cart.
    await shop.db.query("update scheduled_orders set cart_id = $2 where id = $1", [id, bought])
    await shop.due(id, "cancelled")
    const made = await shop.db.query("select 1 from orders where metadata->>'scheduledOrderId' = $1", [id])
    assert.isEmpty(made)
  })

  it("has one order to come, whether that repeats or not", async () => {
    for (const first of [{}, { everyDays: 7 }]) {
      const { cartId } = await shop.row(await shop.scheduled(first))
      for (const more of [{}, { everyDays: 7 }, { everyDays: 8 }]) {
        await shop.refused("409 CONFLICT", "POST", "", shop.wish(cartId, more), ann)
      }
    }
    const once = await shop.scheduled()
    const { cartId } = await shop.due(once, "completed")
    await shop.refused("409 CONFLICT", "POST", "", shop.wish(cartId, { everyDays: 7 }), ann)
  })

  it("has one order to come after the times between repeats were changed", async () => {
    const id = await shop.scheduled({ paymentMethodId: "test_decline", everyDays: 7 })
    const { cartId } = await shop.due(id, "failed")
    const [next] = await shop.rows(`cartId=${cartId}&status=scheduled`)
    const again = { everyDays: 8, scheduledFor: shop.inHours(3) }
    await shop.refused("409 CONFLICT", "PATCH", `/${id}`, again, ann)
    await shop.done("PATCH", `/${next.id}`, { everyDays: null }, ann)
    await shop.refused("409 CONFLICT", "PATCH", `/${id}`, again, ann)
    await shop.refused("409 CONFLICT", "POST", "", shop.wish(cartId), ann)
  })

  it("has no order to come once one of its repeats is cancelled, whichever of them that is", async () => {
    for (const by of ["failed", "scheduled"]) {
      const first = await shop.scheduled({ paymentMethodId: "test_decline", everyDays: 7 })
      const { cartId } = await shop.due(first, "failed")
      const [{ id }] = await shop.rows(`cartId=${cartId}&status=${by}`) as [{ id: string }]
      const cancelled = await shop.done("POST", `/${id}/cancel`, undefined, ann)
      assert.deepInclude(Object(cancelled.at("data")), { id, status: "cancelled" })
      assert.deepStrictEqual((await shop.rows(`cartId=${cartId}`)).map(({ status }) => status), [
        "cancelled",
        "cancelled"
      ])
    }
  })

  it("is cancelled once by callers at the same time, through any of its repeats", async () => {
    const first = await shop.scheduled({ paymentMethodId: "test_decline", everyDays: 7 })
    const { cartId } = await shop.due(first, "failed")
    const ids = (await shop.rows(`cartId=${cartId}`)).map(({ id }) => id)
    const calls = Array.from({ length: 8 }, (_, n) => `/scheduled-orders/${ids[n % 2]}/cancel`)
    const answers = await Promise.all(calls.map((path) => shop.ask("POST", path, undefined, ann)))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, ...Array(7).fill(422)])
    const events = await shop.db.query(
      "select 1 from outbox_events where type = 'scheduled_order.cancelled' and entity_id = any($1)",
      [ids]
    )
    assert.lengthOf(events, 2)
  })

  it("that the order is placed with is bought by no one else", async () => {
    const id = await shop.scheduled({}, ann)
    const cartId = await shop.cart(ann, await shop.product())
    // As it is while its job waits for a payment provider.
    await shop.db.query(
      "update scheduled_orders set status = 'processing', checkout_cart_id = $1, due_at = $2 where id = $3",
      [cartId, shop.inHours(1), id]
    )
    assert.strictEqual((await buy(cartId)).status, 422)
    await shop.due(id, "completed", 1)
  })

  it("can be bought again once its repeats have ended", async () => {
    const { cartId } = await shop.due(await shop.scheduled({ everyDays: 7 }), "completed")
    const [next] = await shop.rows(`cartId=${cartId}&status=scheduled`)
    assert.strictEqual((await buy(cartId)).status, 422)
    await shop.done("POST", `/${next.id}/cancel`, undefined, ann)
    assert.strictEqual((await buy(cartId)).status, 201)
  })

  it("is not scheduled once a checkout has claimed it, however close that is", async () => {
    const { scheduledFor, slotStart } = await shop.row(await shop.scheduled())
    const cartId = await shop.cart(ann, await shop.product())
    const waits =
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%scheduled_order_slots%'"
    const locked = Effect.gen(function*() {
      const { sql } = shop.tables
      yield* sql`select 1 from scheduled_order_slots where starts_at = ${new Date(slotStart)} for update`
      // It has read the cart and waits for its slot.
      const scheduling = shop.ask("POST", "/scheduled-orders", shop.wish(cartId, { scheduledFor }), ann)
      yield* Effect.promise(() => waitFor("the lock", async () => (await shop.db.query(waits)).length > 0))
      return { scheduling, bought: yield* Effect.promise(() => buy(cartId)) }
    })
    const { bought, scheduling } = await shop.serviceRegistry.run(shop.tables.transaction(locked))
    assert.deepStrictEqual([bought.status, (await scheduling).status], [201, 422])
    assert.deepStrictEqual((await shop.rows(`cartId=${cartId}`)).map(({ status }) => status), ["cancelled"])
  })
})
