import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { csvOf, openShop, type Shop } from "./ReviewShop.ts"

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

const eventually = { timeout: 50_000 }
const report = async (file: string, query = "") => {
  const got = await shop.send(file, query)
  assert.strictEqual(got.status, 201, JSON.stringify(got.body))
  return Object(got.at("data"))
}
const rowsOf = (entityId: string) =>
  shop.app.db.query("select * from customer_reviews where entity_id = $1 order by created_at", [entityId])

const withSku = (entityId: string, sku: string) =>
  shop.app.db.query(
    `insert into variants (id, organization_id, entity_id, sku, combination)
      select gen_random_uuid(), id, $1, $2, '' from organizations limit 1`,
    [entityId, sku]
  )

describe("reviews of another shop", () => {
  it("come with their dates, states and answers, count in ratings and are found", async () => {
    const [honey, tea] = [await shop.product(), await shop.product()]
    const [product_handle, product_sku] = [await shop.slugOf(honey), randomUUID()]
    await withSku(tea, product_sku)
    const common = { source: "web", ip_address: "10.1.2.3", location: "AT", reviewer_email: "camille@example.com" }
    const file = csvOf([
      {
        ...common,
        product_handle,
        product_id: "7012345678",
        rating: "5",
        curated: "ok",
        title: "Top, \"really\"",
        body: "Like\nsummer",
        reviewer_name: "Camille",
        review_date: "2025-03-02 10:12:00 UTC",
        reply: "Thanks",
        reply_date: "2025-03-04",
        picture_urls: "https://pictures.example/a.jpg",
        favourite: "yes"
      },
      { ...common, product_sku, rating: "4", curated: "ok", review_date: "2025-03-03T10:12:00+01:00" },
      { ...common, product_id: honey.toUpperCase(), rating: "1", curated: "spam", review_date: "2025-03-05" },
      { ...common, product_handle: "no-such", product_id: honey, rating: "2", review_date: "2025-03-06", body: "Waits" }
    ])
    const done = await report(file)
    assert.deepStrictEqual(done, {
      created: 4,
      skipped: 0,
      refused: [],
      warnings: [
        "The column \"favourite\" is not known and was ignored.",
        "Pictures are not imported. Rows with picture_urls: 1."
      ]
    })
    const [first, ...others] = await rowsOf(honey)
    assert.deepInclude(first, {
      rating: 5,
      title: "Top, \"really\"",
      body: "Like\nsummer",
      author_name: "Camille",
      status: "approved",
      is_published: true,
      is_verified: false,
      customer_id: null,
      response: "Thanks"
    })
    const times = ["created_at", "response_at"].map((name) => new Date(String(first?.[name])).toISOString())
    assert.deepStrictEqual(times, ["2025-03-02T10:12:00.000Z", "2025-03-04T00:00:00.000Z"])
    assert.deepStrictEqual(others.map(({ rating, status }) => [rating, status]), [[1, "rejected"], [2, "pending"]])
    assert.deepStrictEqual([await shop.summary(honey), await shop.summary(tea)], [[5, 1], [4, 1]])
    const search = async () => (await shop.done("GET", "/search?attr.rating=5", undefined, null)).at("data.0.id")
    await expect.poll(search, eventually).toBe(honey)

    const events = await shop.app.db.query(
      "select payload::text as text from outbox_events where type = 'reviews.imported'"
    )
    assert.lengthOf(events, 4)
    const kept = JSON.stringify([events, await rowsOf(honey), await rowsOf(tea)])
    for (const personal of ["camille@", "10.1.2.3"]) assert.notInclude(kept, personal)
    assert.notMatch(JSON.stringify(events), /summer|Camille/)
    assert.deepInclude(await report(csvOf([{ product_id: tea, rating: "3" }]), "?status=approved"), { created: 1 })
    assert.deepStrictEqual(await shop.summary(tea), [3.5, 2])
  })

  it(
    "are written once, also when the file comes again, twice at once or in another order, and not by a dry run",
    async () => {
      const entityId = await shop.product()
      const rows = Array.from({ length: 40 }, (_, n) => ({
        product_id: entityId,
        rating: String(n % 5 + 1),
        body: `Number ${n}`,
        curated: "ok",
        review_date: "2025-01-01"
      }))
      const [file, turned] = [csvOf([...rows, ...rows.slice(0, 3)]), csvOf(rows.toReversed())]
      assert.deepInclude(await report(file, "?dryRun=true"), { created: 40, skipped: 3 })
      assert.deepStrictEqual([await rowsOf(entityId), await shop.summary(entityId)], [[], [0, 0]])
      const both = await Promise.all([report(file), report(turned), report(file, "?dryRun=true")])
      assert.strictEqual(both.slice(0, 2).reduce((sum, { created }) => sum + created, 0), 40)
      assert.deepInclude(await report(file), { created: 0, skipped: 43 })
      assert.deepStrictEqual([(await rowsOf(entityId)).length, await shop.summary(entityId)], [40, [3, 40]])
      const events = await shop.app.db.query(
        "select 1 from outbox_events where type = 'reviews.imported' and payload->>'entityId' = $1",
        [entityId]
      )
      assert.lengthOf(events, 40)
    }
  )

  it("are written by one of two files at a time, which name them in another order", async () => {
    const entityId = await shop.product()
    const [first, middle, last] = [1, 2, 3].map((n) => ({ product_id: entityId, rating: "5", body: `Number ${n}` }))
    const files = [[first, middle, last], [last, middle, first]].map((rows) => csvOf(rows.flatMap((row) => row ?? [])))
    await report(csvOf([middle ?? {}]))
    const { sql, transaction } = shop.app.tables
    const work = Effect.gen(function*() {
      yield* sql`delete from customer_reviews where entity_id = ${entityId}::uuid`
      const one = report(files[0] ?? "")
      yield* shop.waits("insert into customer_reviews", one)
      const other = report(files[1] ?? "")
      yield* shop.waits("pg_advisory_xact_lock", other)
      return { importing: [one, other] }
    })
    const { importing } = await shop.app.serviceRegistry.run(transaction(Effect.orDie(work)))
    const created = (await Promise.all(importing)).map((one) => one.created)
    assert.deepStrictEqual(created.toSorted(), [0, 3])
  })

  it("are refused line by line with sentences, and the others are taken", async () => {
    const entityId = await shop.product()
    const good = { product_id: entityId, rating: "5" }
    for (const id of [entityId, await shop.product()]) await withSku(id, "OF-TWO")
    const product = "One of product_handle, product_sku and product_id must name one product of the catalog."
    const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, string?]> = [
      [{ ...good, rating: "6" }, "rating must be a whole number from 1 to 5."],
      [{ ...good, rating: "" }, "rating must be a whole number from 1 to 5."],
      [good],
      [{ ...good, title: "x".repeat(256) }, "title must have at most 255 characters."],
      [{ ...good, body: "x".repeat(10_001) }, "body must have at most 10000 characters."],
      [{ ...good, product_id: randomUUID() }, product],
      [{ ...good, product_id: "", product_handle: "no-such" }, product],
      [{ ...good, product_id: "", product_sku: "OF-TWO" }, product],
      [
        { ...good, review_date: "02/03/2025" },
        "review_date must be a date such as 2025-03-02 10:12:00 UTC."
      ],
      [{ ...good, review_date: "2025-02-30" }, "review_date must be a date such as 2025-03-02 10:12:00 UTC."],
      [{ ...good, review_date: "2999-01-01" }, "review_date must not be in the future."],
      [{ ...good, reply: "a", reply_date: "soon" }, "reply_date must be a date such as 2025-03-02 10:12:00 UTC."],
      [
        { ...good, reviewer_name: "\0" },
        "It holds text that cannot be stored: NUL, broken Unicode, or too many levels."
      ],
      [{ ...good, title: "x".repeat(255), body: "x".repeat(10_000) }]
    ]
    const done = await report(csvOf(cases.map(([row]) => row)))
    assert.strictEqual(done.created, 2)
    const expected = cases.flatMap(([, message], n) => message === undefined ? [] : [{ line: n + 2, message }])
    assert.deepStrictEqual(done.refused, expected)
  })

  it("are not read from a file without the columns, in another encoding or of more than 1 MB", async () => {
    const refused = async (file: string) => {
      const { status, text } = await shop.send(file)
      return `${status} ${text("error.message")}`
    }
    assert.match(await refused("title,product_id\na,b"), /^422 .*The column "rating" is missing\./)
    assert.match(await refused("rating\n5"), /^422 .*product_handle, product_sku and product_id\./)
    assert.match(await refused(csvOf([{ rating: "5", product_id: "x".repeat(1_100_000) }])), /^413 /)
  })

  it("belong to the customer of their address, once for each entity, and go with an erasure", async () => {
    const [ada, honey, tea] = [shop.customer(), await shop.product(), await shop.product()]
    const customerId = await shop.profileOf(ada)
    const { id: orderId } = await shop.order(ada, honey, "delivered")
    const reviewer_email = String(ada.email).toUpperCase()
    const rows = [honey, tea, honey].map((product_id, n) => ({
      product_id,
      rating: "5",
      body: `Number ${n}`,
      curated: "ok",
      reviewer_email
    }))
    assert.deepInclude(await report(csvOf(rows)), { created: 2, skipped: 1 })
    const found = async () =>
      (await Promise.all([honey, tea].map(rowsOf))).flat().map((
        row
      ) => [row["customer_id"], row["order_id"], row["is_verified"]])
    assert.deepStrictEqual(await found(), [[customerId, orderId, true], [customerId, null, false]])
    const mine = await shop.done("GET", "/reviews/mine", undefined, ada)
    assert.lengthOf(mine.list("data"), 2)
    await shop.refused("409 CONFLICT", "POST", "/reviews", { entityId: tea, rating: 1 }, ada)
    await shop.done("DELETE", "/me", undefined, ada)
    await expect.poll(found, eventually).toEqual([])
    assert.deepStrictEqual([await shop.summary(honey), await shop.summary(tea)], [[0, 0], [0, 0]])
  })

  it("belong to no customer where several have the address", async () => {
    const entityId = await shop.product()
    const reviewer_email = `${randomUUID()}@example.com`
    for (const as of [shop.customer(), shop.customer()]) await shop.profileOf({ ...as, email: reviewer_email })
    await shop.app.db.query(
      "update customers set email = $1 where id in (select id from customers order by created_at desc limit 2)",
      [reviewer_email]
    )
    await report(csvOf([{ product_id: entityId, rating: "5", reviewer_email }]))
    assert.deepStrictEqual((await rowsOf(entityId)).map((row) => row["customer_id"]), [null])
  })

  /** Imports a review of a customer while a transaction holds their row, and gives the answers of both. */
  const beside = async <A>(
    entityId: string,
    happening: (customerId: string) => Effect.Effect<{ readonly also: Promise<A> }, Error>
  ) => {
    const ada = shop.customer()
    const customerId = await shop.profileOf(ada)
    const file = csvOf([{ product_id: entityId, rating: "5", reviewer_email: String(ada.email) }])
    const { sql, transaction } = shop.app.tables
    const work = Effect.gen(function*() {
      yield* sql`select 1 from customers where id = ${customerId}::uuid for update`
      const importing = shop.send(file)
      yield* shop.waits("from plugin_customers", importing)
      return { importing, ...yield* happening(customerId) }
    })
    const { also, importing } = await shop.app.serviceRegistry.run(transaction(Effect.orDie(work)))
    const answer = await importing
    return [answer.status, await also, (await rowsOf(entityId)).map((row) => row["customer_id"] !== null)]
  }

  it("belong to no customer who is erased while they are imported", async () => {
    const erased = beside(await shop.product(), (customerId) =>
      Effect.as(
        shop.app.tables.sql`update customers set email = null, user_id = null, first_name = null, last_name = null,
          erased_at = now() where id = ${customerId}::uuid`,
        { also: Promise.resolve(200) }
      ))
    assert.deepStrictEqual(await erased, [201, 200, [false]])
  })

  it("are written before their product is deleted, which waits for them", async () => {
    const entityId = await shop.product({ stock: 0 })
    const deleted = beside(entityId, () => {
      const also = shop.ask("DELETE", `/catalog/entities/${entityId}`).then(({ status }) => status)
      return Effect.as(shop.waits("catalog_entities", also), { also })
    })
    assert.deepStrictEqual(await deleted, [201, 200, [true]])
  })
})
