import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { raceOf } from "stoa/plugin/testing"
import { inHeldTransaction } from "../../../../test/support/HeldTransaction.ts"
import { openShop, type Shop } from "./ReviewShop.ts"

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

const eventually = { timeout: 50_000 }
const by = (token: string) => ({ "x-review-token": token })
const review = (token: string, entityId: string) =>
  shop.ask("POST", "/reviews/guest", { entityId, rating: 4, title: "Mine", authorName: "Ada" }, null, by(token))
/** A customer who bought two things as a guest and has a published review of the first one by the link. */
const aGuest = async () => {
  const [ada, first, second] = [shop.customer(), await shop.product(), await shop.product()]
  const orderId = await shop.guestOrder(String(ada.email), first, second)
  const token = await shop.link(orderId)
  const id = (await review(token, first)).text("data.id")
  await shop.done("PATCH", `/reviews/${id}/approve`)
  const customerId = await shop.profileOf(ada)
  await shop.app.db.query("update orders set customer_id = $2 where id = $1", [orderId, customerId])
  assert.deepStrictEqual(await shop.summary(first), [4, 1])
  return { ada, first, second, orderId, token }
}

/** Runs in a transaction that is taken back. */
const takenBack = <A>(work: Effect.Effect<A, Error>) =>
  shop.app.serviceRegistry.run(Effect.flip(inHeldTransaction(shop.app, Effect.flip(Effect.orDie(work)))))

/** Nothing says anything of the guest, and the counters are right. */
const leavesNothing = async ({ first, orderId, second, token }: Awaited<ReturnType<typeof aGuest>>) => {
  const rows = () => shop.app.db.query("select 1 from customer_reviews where order_id = $1", [orderId])
  await expect.poll(rows, eventually).toEqual([])
  const counters = "select * from review_summaries where entity_id = any($1::uuid[])"
  const [row, ...others] = await shop.app.db.query(counters, [[first, second]])
  assert.deepInclude(row, { star1: 0, star2: 0, star3: 0, star4: 0, star5: 0 })
  assert.isEmpty(others)
  const events = await shop.app.db.query(
    "select 1 from outbox_events where type like 'reviews.%' and (payload::text like '%Mine%' or payload::text like '%Ada%')"
  )
  assert.isEmpty(events)
  assert.strictEqual((await review(token, second)).status, 404)
}

describe("a review that is written by a link beside an erasure", () => {
  it("is written first and goes with the erasure, which waits for it", async () => {
    const guest = await aGuest()
    const { ada, orderId, second, token } = guest
    const { sql } = shop.app.tables
    const { erasing, writing } = await takenBack(Effect.gen(function*() {
      // Another review in the place of the new one, of which nothing is left.
      yield* sql`insert into customer_reviews (organization_id, entity_id, order_id, rating)
        values ('org_default', ${second}::uuid, ${orderId}::uuid, 1)`
      const writing = review(token, second)
      yield* shop.waits("insert into \"customer_reviews\"", writing)
      const erasing = shop.ask("DELETE", "/me", undefined, ada)
      assert.isTrue(yield* shop.waits("from \"orders\"", erasing))
      return { erasing, writing }
    }))
    assert.deepStrictEqual([(await writing).status, (await erasing).status], [201, 200])
    await leavesNothing(guest)
  })

  it("is not written when the erasure came first, which it waits for", async () => {
    const guest = await aGuest()
    const { ada, orderId, second, token } = guest
    const { sql } = shop.app.tables
    const { erasing, writing } = await takenBack(Effect.gen(function*() {
      // The erasure comes to this after it has locked the order.
      yield* sql`select 1 from fulfillments where order_id = ${orderId}::uuid for update`
      const erasing = shop.ask("DELETE", "/me", undefined, ada)
      yield* shop.waits("update fulfillments", erasing)
      const writing = review(token, second)
      yield* shop.waits("from plugin_orders o", writing)
      return { erasing, writing }
    }))
    assert.deepStrictEqual([(await writing).status, (await erasing).status], [404, 200])
    await leavesNothing(guest)
  })
})

describe("a link that is used many times at once", () => {
  it("reviews a thing once, and withdraws the review once", async () => {
    const entityId = await shop.product()
    const token = await shop.link(await shop.guestOrder("twice@example.com", entityId))
    const request = { path: "/api/reviews/guest", headers: by(token) }
    await raceOf(shop.app, { ...request, method: "POST", body: { entityId, rating: 4 } })
    const rows = () => shop.app.db.query("select id from customer_reviews where entity_id = $1", [entityId])
    const [row, ...others] = await rows()
    assert.isEmpty(others)
    await shop.done("PATCH", `/reviews/${row?.["id"]}/approve`)
    assert.deepStrictEqual(await shop.summary(entityId), [4, 1])
    await raceOf(shop.app, { ...request, method: "DELETE", path: `${request.path}/${entityId}` })
    assert.deepStrictEqual([await rows(), await shop.summary(entityId)], [[], [0, 0]])
  })

  it("leaves the rating right beside moderators", async () => {
    const entityId = await shop.product()
    const token = await shop.link(await shop.guestOrder("beside@example.com", entityId))
    const id = (await review(token, entityId)).text("data.id")
    const change = (rating: number) => shop.ask("PATCH", `/reviews/guest/${entityId}`, { rating }, null, by(token))
    const decide = (verb: string) => shop.ask("PATCH", `/reviews/${id}/${verb}`)
    const all = [1, 2, 3, 4, 5].flatMap((rating) => [change(rating), decide("approve"), decide("reject")])
    assert.deepStrictEqual([...new Set((await Promise.all(all)).map(({ status }) => status))], [200])
    const last = Object((await shop.done("PATCH", `/reviews/${id}/approve`)).at("data"))
    assert.deepStrictEqual(await shop.summary(entityId), [last.rating, 1])
    await shop.done("PATCH", `/reviews/${id}/reject`)
    assert.deepStrictEqual(await shop.summary(entityId), [0, 0])
  })
})
