import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { contractOf, type TestActor, testAdminActor, withPermissions } from "stoa/plugin/testing"
import { openShop, type Shop } from "./ReviewShop.ts"

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

const eventually = { timeout: 50_000 }
const runRequests = () => shop.app.serviceRegistry.enqueue("reviews/request", {})
/** Waits until a medium is deleted. */
const deleted = (mediaId: string) =>
  expect.poll(() => shop.app.db.query("select 1 from media_assets where id = $1", [mediaId]), eventually).toEqual([])
/** An upload of a customer that an entity shows, and one that is to be removed. */
const attached = async (as: TestActor, entityId?: string) => {
  const mediaAssetId = await shop.photo(as)
  await shop.done("POST", "/media/attach", {
    entityId: entityId ?? await shop.product(),
    mediaAssetId,
    role: "gallery"
  })
  return mediaAssetId
}
const expired = async (as: TestActor) => {
  const id = await shop.photo(as)
  await shop.app.db.query("update media_assets set expires_at = now() where id = $1", [id])
  return id
}
const dueRows = () => shop.app.db.query("select due_at, sent_at from customer_review_requests order by created_at")

describe("reviews", () => {
  it("are asked for after a delivery, shown once approved, and found by their rating", async () => {
    const [ada, entityId] = [shop.customer(), await shop.product()]
    await shop.profileOf(ada)
    const { id: orderId, parcel } = await shop.order(ada, entityId, "shipped")
    await expect.poll(dueRows, eventually).toHaveLength(1)
    // The parcel is still on its way when the request is due, and arrives a day later.
    shop.app.clock.advance("170 hours")
    await runRequests()
    const isLater = async () => Number((await dueRows())[0]?.["due_at"]) > shop.app.clock.now()
    await expect.poll(isLater, eventually).toBe(true)
    assert.lengthOf(shop.mails, 0)
    await shop.done("PATCH", `/orders/${orderId}/fulfillments/${parcel}`, { status: "delivered" })
    for (const _ of ["a day", "a week"]) {
      shop.app.clock.advance("8 days")
      await runRequests()
      await expect.poll(async () => (await dueRows())[0]?.["due_at"] === null || isLater(), eventually).toBe(true)
    }
    await expect.poll(() => shop.mails, eventually).toMatchObject([
      { to: ada.email, data: { link: expect.stringContaining("https://shop.example/review?order=ORD-") } }
    ])

    const photo = await shop.photo(ada)
    const review = await shop.done("POST", "/reviews", { entityId, rating: 4, title: "Good", photoIds: [photo] }, ada)
    const id = review.text("data.id")
    assert.deepInclude(review.at("data"), { status: "pending", isVerified: true, orderId, photoIds: [photo] })
    const path = `/reviews/entity/${entityId}?sort=helpful&rating=4&isVerified=true`
    const seen = () => shop.done("GET", path, undefined, null)
    assert.deepStrictEqual([(await seen()).at("data"), await shop.isShown(photo)], [[], false])
    const filter = `rating=4&entityId=${entityId}&isVerified=true&search=goo&to=2099-01-01T00:00:00Z`
    const queue = await shop.done("GET", `/reviews?${filter}`)
    assert.strictEqual(queue.text("data.0.id"), id)

    await shop.done("PATCH", `/reviews/${id}/approve`)
    await shop.done("POST", `/reviews/${id}/reply`, { response: "Thanks", responseBy: "Stoa" })
    const first = (await seen()).at("data.0")
    assert.deepInclude(first, { id, title: "Good", response: "Thanks", photoIds: [photo] })
    assert.doesNotHaveAnyKeys(first, ["customerId", "orderId"])
    assert.deepStrictEqual([await shop.summary(entityId), await shop.isShown(photo)], [[4, 1], true])
    const entity = await shop.done("GET", `/catalog/entities/${entityId}`, undefined, null)
    assert.deepInclude(entity.at("data.extensions.reviews"), { averageRating: 4, totalCount: 1 })
    const found = "/search?attr.rating=4..5&sort=rating:desc&attr.ratingStars=4"
    const search = async () => (await shop.done("GET", found, undefined, null)).at("data.0.id")
    await expect.poll(search, eventually).toBe(entityId)
    const measures = ["Reviews.count", "Reviews.averageRating"]
    const figures = await shop.done("POST", "/analytics/query", { measures })
    assert.match(JSON.stringify(figures.at("data.rows.0")), /"Reviews.averageRating":"?4/)

    await shop.done("PATCH", `/reviews/${id}/reject`)
    assert.deepStrictEqual([await shop.summary(entityId), await shop.isShown(photo)], [[0, 0], false])
    await shop.done("PATCH", `/reviews/${id}/approve`)
    assert.deepStrictEqual([await shop.summary(entityId), await shop.isShown(photo)], [[4, 1], true])

    // A change waits for a moderator again: rating, photo and search forget it meanwhile.
    const other = await shop.photo(ada)
    const changed = await shop.done("PATCH", `/reviews/${id}`, { rating: 2, photoIds: [other] }, ada)
    assert.deepInclude(changed.at("data"), { status: "pending", isPublished: false, rating: 2, photoIds: [other] })
    assert.deepStrictEqual([await shop.summary(entityId), await shop.isShown(photo)], [[0, 0], false])
    await expect.poll(search, eventually).toBeUndefined()
    await deleted(photo)
    await shop.done("PATCH", `/reviews/${id}/reject`)
    const mine = await shop.done("GET", "/reviews/mine", undefined, ada)
    assert.deepInclude(mine.at("data.0"), { id, status: "rejected" })
  })

  it("are refused with a reason", async () => {
    const [ada, bob, entityId] = [shop.customer(), shop.customer(), await shop.product()]
    const open = await shop.order(bob, entityId)
    const id = await shop.write(ada, entityId)
    const published = await shop.write(bob, entityId, 3, { orderId: open.id })
    await shop.done("PATCH", `/reviews/${published}/approve`)
    await shop.done("POST", `/reviews/${published}/helpful`, undefined, ada)
    const another = await shop.product()
    const fresh = { entityId: another, rating: 5 }
    const unknown = randomUUID()
    const cases: ReadonlyArray<Parameters<Shop["refused"]>> = [
      ["401 UNAUTHORIZED", "POST", "/reviews", fresh, null],
      ["409 CONFLICT", "POST", "/reviews", { entityId, rating: 1 }, ada],
      ["422 VALIDATION_FAILED", "POST", "/reviews", { ...fresh, rating: 6 }, ada],
      ["422 VALIDATION_FAILED", "POST", "/reviews", { ...fresh, entityId: unknown }, ada],
      ["422 VALIDATION_FAILED", "POST", "/reviews", { ...fresh, orderId: open.id }, ada],
      ["422 VALIDATION_FAILED", "POST", "/reviews", { ...fresh, photoIds: [unknown] }, ada],
      [
        "422 VALIDATION_FAILED",
        "POST",
        "/reviews",
        { ...fresh, photoIds: [await shop.photo(ada, "image/png", true)] },
        ada
      ],
      [
        "422 VALIDATION_FAILED",
        "POST",
        "/reviews",
        { ...fresh, photoIds: [await shop.photo(ada, "application/pdf")] },
        ada
      ],
      ["422 VALIDATION_FAILED", "POST", "/reviews", { ...fresh, photoIds: [await shop.photo(bob)] }, ada],
      ["422 VALIDATION_FAILED", "POST", "/reviews", { ...fresh, photoIds: [await attached(ada)] }, ada],
      ["422 VALIDATION_FAILED", "POST", "/reviews", { ...fresh, photoIds: [await expired(ada)] }, ada],
      ["404 NOT_FOUND", "POST", "/reviews", { ...fresh, customerId: unknown }],
      ["422 VALIDATION_FAILED", "POST", "/reviews", fresh, { ...testAdminActor, type: "api_key" }],
      ["403 FORBIDDEN", "PATCH", `/reviews/${id}/approve`, undefined, ada],
      ["404 NOT_FOUND", "PATCH", `/reviews/${unknown}/approve`],
      ["404 NOT_FOUND", "POST", `/reviews/${unknown}/reply`, { response: "a", responseBy: "b" }],
      ["403 FORBIDDEN", "GET", "/reviews", undefined, ada],
      ["401 UNAUTHORIZED", "GET", `/reviews/${id}`, undefined, null],
      ["403 FORBIDDEN", "DELETE", `/reviews/${id}`, undefined, withPermissions([], ada)],
      ["404 NOT_FOUND", "GET", `/reviews/${id}`, undefined, bob],
      ["404 NOT_FOUND", "PATCH", `/reviews/${id}`, { rating: 1 }, bob],
      ["404 NOT_FOUND", "DELETE", `/reviews/${id}`, undefined, bob],
      ["404 NOT_FOUND", "POST", `/reviews/${id}/helpful`, undefined, bob],
      ["422 VALIDATION_FAILED", "POST", `/reviews/${published}/helpful`, undefined, bob],
      ["409 CONFLICT", "POST", `/reviews/${published}/helpful`, undefined, ada],
      ["404 NOT_FOUND", "DELETE", `/reviews/${published}/helpful`, undefined, bob],
      ["404 NOT_FOUND", "GET", `/reviews/entity/${unknown}`, undefined, null],
      ["404 NOT_FOUND", "GET", `/reviews/entity/${unknown}/summary`, undefined, null]
    ]
    for (const one of cases) await shop.refused(...one)
    const row = (await shop.done("GET", `/reviews/${published}`, undefined, bob)).at("data")
    // The order was not fulfilled, so the review is not verified.
    assert.deepInclude(row, { isVerified: false, orderId: open.id, helpfulCount: 1 })
    const withdrawn = await shop.done("DELETE", `/reviews/${published}/helpful`, undefined, ada)
    assert.strictEqual(withdrawn.at("data.helpfulCount"), 0)
    // Staff write in the name of a customer; what a shopper names is not read.
    const customerId = await shop.profileOf(bob)
    const made = await shop.done("POST", "/reviews", { ...fresh, customerId })
    assert.strictEqual(made.text("data.customerId"), customerId)
    assert.strictEqual((await shop.done("POST", "/reviews", { ...fresh, customerId }, ada)).status, 201)
    const moderator = { ...withPermissions(["reviews:admin"], ada), userId: "moderator" }
    await shop.done("DELETE", `/reviews/${published}`, undefined, moderator)
    assert.deepStrictEqual(await shop.summary(entityId), [0, 0])
  })

  it("are counted exactly when many are approved, found helpful or sent at once", async () => {
    const entityId = await shop.product()
    const people = Array.from({ length: 8 }, shop.customer)
    const ids = await Promise.all(people.map((as, n) => shop.write(as, entityId, n % 5 + 1)))
    await Promise.all(
      ids.flatMap((id) => ["approve", "approve"].map((verb) => shop.done("PATCH", `/reviews/${id}/${verb}`)))
    )
    assert.deepStrictEqual(await shop.summary(entityId), [2.63, 8])
    await Promise.all(ids.map((id, n) => shop.done("PATCH", `/reviews/${id}/${n < 4 ? "reject" : "approve"}`)))
    assert.deepStrictEqual(await shop.summary(entityId), [2.75, 4])
    const [last = ""] = ids.slice(-1)
    const voters = [...people.slice(0, 7), ...people.slice(0, 7)]
    const votes = await Promise.all(voters.map((as) => shop.ask("POST", `/reviews/${last}/helpful`, undefined, as)))
    assert.lengthOf(votes.filter(({ status }) => status === 201), 7)
    assert.strictEqual((await shop.done("GET", `/reviews/${last}`)).at("data.helpfulCount"), 7)
    const [zoe, another] = [shop.customer(), await shop.product()]
    await shop.profileOf(zoe)
    const body = { entityId: another, rating: 5 }
    const sent = await Promise.all(people.map(() => shop.ask("POST", "/reviews", body, zoe)))
    assert.deepStrictEqual(sent.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 409)])
  })

  it("ask neither those who have reviewed all nor erased customers, who leave nothing", async () => {
    const [ada, bob, entityId] = [shop.customer(), shop.customer(), await shop.product()]
    const before = shop.mails.length
    const theirs = async (id: string) =>
      (await shop.app.db.query("select due_at is null as over from customer_review_requests where order_id = $1", [id]))
        .map((row) => row["over"])
    const [first, second] = [await shop.order(ada, entityId, "delivered"), await shop.order(bob, entityId, "delivered")]
    const photo = await shop.photo(ada)
    const id = await shop.write(ada, entityId, 5, { photoIds: [photo] })
    const kept = await shop.write(shop.customer(), entityId, 3)
    for (const one of [id, kept]) await shop.done("PATCH", `/reviews/${one}/approve`)
    await shop.done("POST", `/reviews/${kept}/helpful`, undefined, ada)
    await expect.poll(() => theirs(second.id), eventually).toEqual([false])
    await shop.done("DELETE", "/me", undefined, bob)
    shop.app.clock.advance("8 days")
    await runRequests()
    for (const { id } of [first, second]) await expect.poll(() => theirs(id), eventually).toEqual([true])
    await shop.done("DELETE", "/me", undefined, ada)
    await expect.poll(() => shop.summary(entityId), eventually).toEqual([3, 1])
    assert.strictEqual((await shop.done("GET", `/reviews/${kept}`)).at("data.helpfulCount"), 0)
    await deleted(photo)
    assert.lengthOf(shop.mails, before)
  })

  it("delete the photos that they brought, and none that an entity shows or another review has taken", async () => {
    const [ada, entityId] = [shop.customer(), await shop.product()]
    const [own, shown] = [await shop.photo(ada), await shop.photo(ada)]
    const id = await shop.write(ada, entityId, 5, { photoIds: [own, shown] })
    await shop.refused("409 CONFLICT", "POST", "/reviews", {
      entityId: await shop.product(),
      rating: 1,
      photoIds: [own]
    }, ada)
    await shop.done("PATCH", `/reviews/${id}/approve`)
    await shop.done("POST", "/media/attach", { entityId, mediaAssetId: shown, role: "gallery" })
    // A review of the service before uploaders were known, and of an image that the store attached since.
    const foreign = await shop.photo(shop.customer())
    await shop.app.db.query("update media_assets set uploaded_by = null, expires_at = null where id = $1", [foreign])
    await shop.app.db.query(
      "insert into customer_review_photos (review_id, media_asset_id, position) values ($1, $2, 9)",
      [id, foreign]
    )
    await shop.done("POST", "/media/attach", { entityId, mediaAssetId: foreign, role: "gallery" })
    await shop.done("DELETE", `/reviews/${id}`, undefined, ada)
    await deleted(own)
    const kept = await shop.app.db.query(
      "select is_public, expires_at from media_assets where id = any($1::uuid[]) order by is_public",
      [[shown, foreign]]
    )
    assert.deepStrictEqual(kept.map((row) => [row["is_public"], row["expires_at"]]), [[false, null], [true, null]])
  })

  it("show a closed list of fields to everybody", async () => {
    const [ada, entityId] = [shop.customer(), await shop.product()]
    await shop.done("PATCH", `/reviews/${await shop.write(ada, entityId)}/approve`)
    const seen = await shop.done("GET", `/reviews/entity/${entityId}`, undefined, null)
    assert.sameMembers(
      Object.keys(Object(seen.at("data.0"))),
      ("id entityId rating title body authorName status isVerified isPublished helpfulCount response responseBy " +
        "responseAt createdAt updatedAt photoIds").split(" ")
    )
  })

  it("are shown to search engines as schema.org has them", async () => {
    const [ada, entityId] = [shop.customer(), await shop.product()]
    const path = `/reviews/entity/${entityId}/json-ld`
    assert.notProperty((await shop.done("GET", path, undefined, null)).at("data"), "aggregateRating")
    const id = await shop.write(ada, entityId, 4, { title: "Good", body: "It <fits>.", authorName: "Ada" })
    await shop.done("PATCH", `/reviews/${id}/approve`)
    await shop.write(shop.customer(), entityId, 1)
    const published = await shop.done("GET", `/reviews/entity/${entityId}`, undefined, null)
    const range = { bestRating: 5, worstRating: 1 }
    assert.deepInclude((await shop.done("GET", path, undefined, null)).at("data"), {
      "@type": "Product",
      aggregateRating: { "@type": "AggregateRating", ratingValue: 4, reviewCount: 1, ...range },
      review: [{
        "@type": "Review",
        name: "Good",
        reviewBody: "It <fits>.",
        author: { "@type": "Person", name: "Ada" },
        datePublished: published.at("data.0.createdAt"),
        reviewRating: { "@type": "Rating", ratingValue: 4, ...range }
      }]
    })
    await shop.refused("404 NOT_FOUND", "GET", `/reviews/entity/${randomUUID()}/json-ld`, undefined, null)
  })

  it("keep to the rules of every plugin", async () => {
    for (const { name, run } of contractOf(shop.app)) await run().catch((error) => assert.fail(`${name}: ${error}`))
  })
})
