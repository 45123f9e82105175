import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inHeldTransaction } from "../../../../test/support/HeldTransaction.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ann, type BoxShop, openBoxShop } from "./BoxShop.ts"

const buyer = { ...ann, permissions: [...ann.permissions, "orders:create"] }

describe("the cart of a scheduled order", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({ retryMinutes: [60], slotMinutes: 60, slotCapacity: 1_000 })
  })
  afterAll(() => shop.close())

  const buy = (cartId: string) =>
    shop.ask("POST", "/checkout", { cartId, paymentMethodId: "test", currency: "USD" }, buyer)

  /** What scheduling a cart answers that has read the cart and waits for its slot while something happens. */
  const whileSlotIsLocked = async (
    cartId: string,
    { scheduledFor, slotStart }: { readonly scheduledFor: string; readonly slotStart: string },
    happening: () => Promise<unknown>
  ) => {
    const waits =
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%scheduled_order_slots%'"
    const locked = Effect.gen(function*() {
      const { sql } = shop.tables
      yield* sql`select 1 from scheduled_order_slots where starts_at = ${new Date(slotStart)} for update`
      const scheduling = shop.ask("POST", "/scheduled-orders", shop.wish(cartId, { scheduledFor }), ann)
      yield* Effect.promise(() => waitFor("the lock", async () => (await shop.db.query(waits)).length > 0))
      yield* Effect.promise(happening)
      return { scheduling }
    })
    return await (await shop.serviceRegistry.run(inHeldTransaction(shop, locked))).scheduling
  }

  it("is neither bought nor scheduled again while the order has failed and is tried again", async () => {
    const id = await shop.scheduled({ paymentMethodId: "test_decline" })
    const { cartId } = await shop.due(id, "failed")
    assert.strictEqual((await buy(cartId)).status, 422)
    await shop.refused("409 CONFLICT", "POST", "", shop.wish(cartId), ann)
    await shop.done("POST", `/${id}/cancel`, undefined, ann)
    assert.strictEqual((await buy(cartId)).status, 201)
  })

  /** A status and the message of each way to change a cart. */
  const changes = async (cartId: string) => {
    const { lineItems: [line] } = Object((await shop.ask("GET", `/carts/${cartId}`, undefined, ann)).at("data"))
    const item = `/carts/${cartId}/items/${line.id}`
    const answers = [
      await shop.ask("POST", `/carts/${cartId}/items`, { entityId: line.entityId, quantity: 1 }, ann),
      await shop.ask("PATCH", item, { quantity: 3 }, ann),
      await shop.ask("PATCH", `/carts/${cartId}`, { note: "Ring twice" }, ann),
      await shop.ask("POST", `/carts/${cartId}/secret`, undefined, ann),
      await shop.ask("DELETE", item, undefined, ann)
    ]
    return answers.map((answer) => [answer.status, answer.at("error.message")])
  }

  const states = async (cartId: string) => (await shop.rows(`cartId=${cartId}`)).map(({ status }) => status).toSorted()

  it("refuses each change and says what holds it, until that is cancelled", async () => {
    const id = await shop.scheduled()
    const { cartId } = await shop.row(id)
    const held = `The cart is held by the scheduled order ${id}. Cancel that to change the cart.`
    assert.deepStrictEqual(await changes(cartId), Array(5).fill([409, held]))
    await shop.done("POST", `/${id}/cancel`, undefined, ann)
    assert.deepStrictEqual((await changes(cartId)).map(([status]) => status), [201, 200, 200, 200, 200])
  })

  it("is free again once its order expired, or the last of its repeats was placed", async () => {
    const expired = await shop.row(await shop.scheduled())
    await shop.due(expired.id, "expired", 48)
    const repeated = await shop.row(await shop.scheduled({ everyDays: 1, repeatUntil: shop.inHours(20) }))
    await shop.due(repeated.id, "completed")
    for (const { cartId } of [expired, repeated]) assert.strictEqual((await changes(cartId))[0]?.[0], 201)
  })

  it("is free once its last two orders end at the same time", async () => {
    const first = await shop.scheduled({ everyDays: 7 })
    const { cartId } = await shop.row(first)
    const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%held_by is not null%'`
    const cancelling = Effect.gen(function*() {
      yield* shop.tables.sql`select 1 from carts where id = ${cartId} for update`
      shop.clock.advance("2 hours")
      yield* Effect.promise(() => shop.begin())
      const wait = (count: number) =>
        Effect.promise(() => waitFor(`${count} to wait`, async () => (await shop.db.query(waits)).length === count))
      yield* wait(1)
      const [next] = yield* Effect.promise(() => shop.rows(`cartId=${cartId}&status=scheduled`))
      const cancelled = shop.ask("POST", `/scheduled-orders/${next.id}/cancel`, undefined, ann)
      yield* wait(2)
      return { cancelled }
    })
    const { cancelled } = await shop.serviceRegistry.run(inHeldTransaction(shop, cancelling))
    assert.strictEqual((await cancelled).status, 201)
    await shop.isNow(first, "completed")
    assert.deepStrictEqual(await states(cartId), ["cancelled", "completed"])
    assert.strictEqual((await changes(cartId))[0]?.[0], 201)
  })

  it("that changes while it is scheduled is not scheduled", async () => {
    const { scheduledFor, slotStart } = await shop.row(await shop.scheduled())
    const cartId = await shop.cart(ann, await shop.product())
    const answer = await whileSlotIsLocked(cartId, { scheduledFor, slotStart }, () => changes(cartId))
    assert.strictEqual(answer.status, 409)
    assert.isEmpty(await states(cartId))
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
    for (const first of [{}, { everyDays: 7 }, { everyMonths: 1 }]) {
      const { cartId } = await shop.row(await shop.scheduled(first))
      for (const more of [{}, { everyDays: 7 }, { everyDays: 8 }, { everyMonths: 1 }]) {
        await shop.refused("409 CONFLICT", "POST", "", shop.wish(cartId, more), ann)
      }
    }
    const once = await shop.scheduled()
    const { cartId } = await shop.due(once, "completed")
    await shop.refused("409 CONFLICT", "POST", "", shop.wish(cartId, { everyDays: 7 }), ann)
    await shop.refused("409 CONFLICT", "POST", "", shop.wish(cartId, { everyMonths: 1 }), ann)
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
    const answer = await whileSlotIsLocked(cartId, { scheduledFor, slotStart }, async () => {
      assert.strictEqual((await buy(cartId)).status, 201)
    })
    assert.strictEqual(answer.status, 422)
    assert.isEmpty(await states(cartId))
  })
})
