import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Cutter, openCutter } from "../../../../test/support/OpenTap.ts"
import { openShop, type Shop } from "./ReviewShop.ts"

describe("a process that ends between two statements", () => {
  let shop: Shop
  let cutter: Cutter
  beforeAll(async () => {
    cutter = await openCutter(/customer_review|review_summaries/)
    shop = await openShop({ postgres: cutter, jobs: { autorun: { enabled: false } } })
  })
  afterAll(async () => {
    await shop.close()
    await cutter.close()
  })

  it("leaves reviews, ratings, photos, votes and jobs agreed, and what is repeated is done once", async () => {
    const [ada, bob, entityId] = [shop.customer(), shop.customer(), await shop.product()]
    const [photo, other] = [await shop.photo(ada), await shop.photo(ada)]
    await Promise.all([ada, bob].map(shop.profileOf))
    const counts = async (text: string, ...values: ReadonlyArray<unknown>) =>
      Number((await shop.app.db.query(`select count(*) as n from ${text}`, values))[0]?.["n"])
    const agree = async () => {
      const [row] = await shop.app.db.query(
        `select coalesce((select star1 + 10 * star4 from review_summaries where entity_id = $1), 0) as counted,
          coalesce((select sum(case rating when 1 then 1 else 10 end) from customer_reviews where entity_id = $1
            and is_published), 0) as published,
          coalesce((select sum(helpful_count) from customer_reviews where entity_id = $1), 0) as helpful,
          (select count(*) from customer_review_votes) as votes,
          (select count(*) from customer_review_photos p join media_assets m on m.id = p.media_asset_id
            join customer_reviews r on r.id = p.review_id where m.is_public <> r.is_published) as odd`,
        [entityId]
      )
      const { counted, helpful, odd, published, votes } = Object(row)
      assert.deepStrictEqual([Number(counted), Number(helpful), Number(odd)], [Number(published), Number(votes), 0])
    }
    // A change that was made before it was cut off is refused the next time.
    const cutOff = async (...request: Parameters<Shop["ask"]>) => {
      const times = await cutter.cutOff(shop.app, [200, 201, 404, 409], () => shop.ask(...request), agree)
      assert.isAtLeast(times, 4, request[1])
    }
    await cutOff("POST", "/reviews", { entityId, rating: 4, photoIds: [photo] }, ada)
    const id = (await shop.done("GET", "/reviews/mine", undefined, ada)).text("data.0.id")
    await cutOff("PATCH", `/reviews/${id}/approve`)
    assert.deepStrictEqual([await shop.summary(entityId), await shop.isShown(photo)], [[4, 1], true])
    await cutOff("POST", `/reviews/${id}/helpful`, undefined, bob)
    await cutOff("PATCH", `/reviews/${id}`, { rating: 1, photoIds: [other] }, ada)
    assert.deepStrictEqual(await shop.summary(entityId), [0, 0])
    await cutOff("PATCH", `/reviews/${id}/approve`)
    assert.deepStrictEqual(await shop.summary(entityId), [1, 1])
    await cutOff("DELETE", `/reviews/${id}`, undefined, ada)
    assert.deepStrictEqual(await shop.summary(entityId), [0, 0])
    const jobs = await counts("commerce_jobs where task_slug = 'reviews/remove-photos'")
    const events = await shop.app.db.query(
      "select type from outbox_events where entity_id = $1 and type like 'reviews.%' order by entry_number",
      [id]
    )
    const names = ["submitted", "approved", "submitted", "approved", "removed"]
    // A change that was cut off after its commit is sent again, and is another change.
    const types = events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])
    assert.deepStrictEqual(types, names.map((name) => `reviews.${name}`))
    assert.strictEqual(jobs, 2)
  }, 120_000)
})
