import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Cutter, openCutter } from "../../../../test/support/OpenTap.ts"
import { csvOf, openShop, type Shop } from "./ReviewShop.ts"

describe("a process that ends between two statements", () => {
  let shop: Shop
  let cutter: Cutter
  beforeAll(async () => {
    // Requests are read before the transaction of a guest, by another connection.
    cutter = await openCutter(/customer_review(?!_requests)|review_summaries/)
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
  })

  it("leaves a guest's review agreed with its rating and its last event", async () => {
    const entityId = await shop.product()
    const token = await shop.link(await shop.guestOrder("cut@example.com", entityId))
    const agree = async () => {
      const [row] = await shop.app.db.query(
        `select coalesce((select status from customer_reviews where entity_id = $1), 'none') as status,
          coalesce((select type from outbox_events where type like 'reviews.%' and payload->>'entityId' = $1::text
            order by entry_number desc limit 1), 'none') as event,
          coalesce((select star1 + 10 * star4 from review_summaries where entity_id = $1), 0)
            - coalesce((select sum(case rating when 1 then 1 else 10 end) from customer_reviews where entity_id = $1
              and is_published), 0) as difference`,
        [entityId]
      )
      const { difference, event, status } = Object(row)
      assert.strictEqual(Number(difference), 0)
      const states = ["none none", "pending reviews.submitted", "approved reviews.approved", "none reviews.removed"]
      assert.include(states, `${status} ${event}`)
    }
    // A change that was made before it was cut off is refused the next time.
    const cutOff = async (method: string, path = "", body?: object) => {
      const send = () => shop.ask(method, `/reviews/guest${path}`, body, null, { "x-review-token": token })
      assert.isAtLeast(await cutter.cutOff(shop.app, [200, 201, 404, 409], send, agree), 4, method)
    }
    const approve = async () => {
      const id = (await shop.done("GET", `/reviews?entityId=${entityId}`)).text("data.0.id")
      await shop.done("PATCH", `/reviews/${id}/approve`)
    }
    await cutOff("POST", "", { entityId, rating: 4, title: "Good" })
    await approve()
    assert.deepStrictEqual(await shop.summary(entityId), [4, 1])
    await cutOff("PATCH", `/${entityId}`, { rating: 1 })
    assert.deepStrictEqual(await shop.summary(entityId), [0, 0])
    await approve()
    assert.deepStrictEqual(await shop.summary(entityId), [1, 1])
    await cutOff("DELETE", `/${entityId}`)
    assert.deepStrictEqual(await shop.summary(entityId), [0, 0])
  })

  const reviewsOf = (product_id: string, count: number) =>
    csvOf(Array.from({ length: count }, (_, n) => ({ product_id, rating: "4", curated: "ok", body: `Number ${n}` })))

  it(
    "imports each page of a file with its ratings, events and search, and the rest when it is sent again",
    async () => {
      const entityId = await shop.product()
      const file = reviewsOf(entityId, 501)
      const [, first] = file.split("\n")
      const dry = await shop.send([file, first].join("\n"), "?dryRun=true")
      assert.deepInclude(dry.at("data"), { created: 501, skipped: 1 })
      const times = await cutter.cutOff(shop.app, [201], () => shop.send(file), async () => {
        const [row] = await shop.app.db.query(
          `select (select count(*)::int from customer_reviews where entity_id = $1 and is_published) as published,
          coalesce((select star4 from review_summaries where entity_id = $1), 0) as counted,
          (select count(*)::int from outbox_events where type = 'reviews.imported' and payload->>'entityId' = $1::text)
            as announced,
          (select count(*)::int from commerce_jobs where task_slug = 'search/update'
            and input->'ids' ? $1::text) as searches`,
          [entityId]
        )
        const { announced, counted, published, searches } = Object(row)
        assert.include([0, 500, 501], published)
        assert.deepStrictEqual([counted, announced, searches], [published, published, Math.ceil(published / 500)])
      })
      assert.isAtLeast(times, 5)
      assert.deepStrictEqual(await shop.summary(entityId), [4, 501])
    }
  )

  it("imports a page of 500 rows with as many statements as one", async () => {
    /** The statements of each page: from its turn to its commit. The relay of events works beside, by other connections. */
    const statements = async (rows: number) => {
      const file = reviewsOf(await shop.product(), rows)
      cutter.take()
      assert.strictEqual((await shop.send(file)).at("data.created"), rows)
      const sent = Map.groupBy(cutter.take(), ({ connection }) => connection).values()
      return sent.flatMap((all) =>
        all.map(({ text }) => text).join("\n").split(/^select pg_advisory_xact_lock.*\n/m).slice(1)
      )
        .map((page) => page.split(/^COMMIT$/m)[0])
        .filter((page) => page?.includes("insert into customer_reviews"))
        .map((page) => page?.trim().split("\n").length).toArray()
    }
    const [one = 0] = await statements(1)
    assert.isAbove(one, 4)
    assert.deepStrictEqual([await statements(500), await statements(501)], [[one], [one, one]])
  })
})
