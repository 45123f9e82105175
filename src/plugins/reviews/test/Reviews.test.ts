import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { contractOf, testAdminActor, withPermissions } from "stoa/plugin/testing"
import { openShop, type Shop } from "./ReviewShop.ts"

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
}, 60_000)
afterAll(() => shop.close())

const eventually = { timeout: 20_000 }
const runRequests = () => shop.app.serviceRegistry.enqueue("reviews/request", {})
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
    await expect.poll(async () => Number((await dueRows())[0]?.["due_at"]) > shop.app.clock.now(), eventually).toBe(
      true
    )
    assert.lengthOf(shop.mails, 0)
    await shop.admin("PATCH", `/orders/${orderId}/fulfillments/${parcel}`, { status: "delivered" })
    for (const _ of ["a day", "a week"]) {
      shop.app.clock.advance("8 days")
      await runRequests()
      await expect.poll(async () => {
        const due = (await dueRows())[0]?.["due_at"]
        return due === null || Number(due) > shop.app.clock.now()
      }, eventually).toBe(true)
    }
    await expect.poll(() => shop.mails, eventually).toMatchObject([
      { to: ada.email, data: { link: expect.stringContaining("https://shop.example/review?order=ORD-") } }
    ])

    const photo = await shop.photo()
    const review = await shop.done(ada, "POST", "/reviews", { entityId, rating: 4, title: "Good", photoIds: [photo] })
    const id = review.text("data.id")
    assert.deepInclude(review.at("data"), { status: "pending", isVerified: true, orderId, photoIds: [photo] })
    const seen = () => shop.done(undefined, "GET", `/reviews/entity/${entityId}?sort=helpful&rating=4&isVerified=true`)
    assert.deepStrictEqual([(await seen()).at("data"), await shop.isShown(photo)], [[], false])
    const queue = await shop.admin(
      "GET",
      `/reviews?rating=4&entityId=${entityId}&isVerified=true&search=goo&to=2099-01-01T00:00:00Z`
    )
    assert.strictEqual(queue.text("data.0.id"), id)

    await shop.admin("PATCH", `/reviews/${id}/approve`)
    await shop.admin("POST", `/reviews/${id}/reply`, { response: "Thanks", responseBy: "Stoa" })
    const first = (await seen()).at("data.0")
    assert.deepInclude(first, { id, title: "Good", response: "Thanks", photoIds: [photo] })
    assert.doesNotHaveAnyKeys(first, ["customerId", "orderId"])
    assert.deepStrictEqual([await shop.summary(entityId), await shop.isShown(photo)], [[4, 1], true])
    const entity = await shop.done(undefined, "GET", `/catalog/entities/${entityId}`)
    assert.deepInclude(entity.at("data.extensions.reviews"), { averageRating: 4, totalCount: 1 })
    const search = async () =>
      (await shop.done(undefined, "GET", "/search?attr.rating=4..5&sort=rating:desc&attr.ratingStars=4")).at(
        "data.0.id"
      )
    await expect.poll(search, eventually).toBe(entityId)
    const figures = await shop.admin("POST", "/analytics/query", {
      measures: ["Reviews.count", "Reviews.averageRating"]
    })
    assert.match(JSON.stringify(figures.at("data.rows.0")), /"Reviews.averageRating":"?4/)

    await shop.admin("PATCH", `/reviews/${id}/reject`)
    assert.deepStrictEqual([await shop.summary(entityId), await shop.isShown(photo)], [[0, 0], false])
    await shop.admin("PATCH", `/reviews/${id}/approve`)
    assert.deepStrictEqual([await shop.summary(entityId), await shop.isShown(photo)], [[4, 1], true])

    // A change waits for a moderator again: rating, photo and search forget it meanwhile.
    const other = await shop.photo()
    const changed = await shop.done(ada, "PATCH", `/reviews/${id}`, { rating: 2, photoIds: [other] })
    assert.deepInclude(changed.at("data"), { status: "pending", isPublished: false, rating: 2, photoIds: [other] })
    assert.deepStrictEqual([await shop.summary(entityId), await shop.isShown(photo)], [[0, 0], false])
    await expect.poll(search, eventually).toBeUndefined()
    await expect.poll(() => shop.app.db.query("select 1 from media_assets where id = $1", [photo]), eventually).toEqual(
      []
    )
    await shop.admin("PATCH", `/reviews/${id}/reject`)
    assert.deepInclude((await shop.done(ada, "GET", "/reviews/mine")).at("data.0"), { id, status: "rejected" })
  }, 120_000)

  it("are refused with a reason", async () => {
    const [ada, bob, entityId] = [shop.customer(), shop.customer(), await shop.product()]
    const open = await shop.order(bob, entityId)
    const id = await shop.write(ada, entityId)
    const published = await shop.write(bob, entityId, 3, { orderId: open.id })
    await shop.admin("PATCH", `/reviews/${published}/approve`)
    await shop.done(ada, "POST", `/reviews/${published}/helpful`)
    const another = await shop.product()
    const fresh = { entityId: another, rating: 5 }
    const unknown = randomUUID()
    const cases: ReadonlyArray<readonly [number, Parameters<Shop["ask"]>]> = [
      [401, [undefined, "POST", "/reviews", fresh]],
      [409, [ada, "POST", "/reviews", { entityId, rating: 1 }]],
      [422, [ada, "POST", "/reviews", { ...fresh, rating: 6 }]],
      [422, [ada, "POST", "/reviews", { ...fresh, entityId: unknown }]],
      [422, [ada, "POST", "/reviews", { ...fresh, orderId: open.id }]],
      [422, [ada, "POST", "/reviews", { ...fresh, photoIds: [unknown] }]],
      [422, [ada, "POST", "/reviews", { ...fresh, photoIds: [await shop.photo("image/png", true)] }]],
      [422, [ada, "POST", "/reviews", { ...fresh, photoIds: [await shop.photo("application/pdf")] }]],
      [404, [testAdminActor, "POST", "/reviews", { ...fresh, customerId: unknown }]],
      [422, [{ ...testAdminActor, type: "api_key" }, "POST", "/reviews", fresh]],
      [403, [ada, "PATCH", `/reviews/${id}/approve`]],
      [404, [testAdminActor, "PATCH", `/reviews/${unknown}/approve`]],
      [404, [testAdminActor, "POST", `/reviews/${unknown}/reply`, { response: "a", responseBy: "b" }]],
      [403, [ada, "GET", "/reviews"]],
      [401, [undefined, "GET", `/reviews/${id}`]],
      [403, [withPermissions([], ada), "DELETE", `/reviews/${id}`]],
      [404, [bob, "GET", `/reviews/${id}`]],
      [404, [bob, "PATCH", `/reviews/${id}`, { rating: 1 }]],
      [404, [bob, "DELETE", `/reviews/${id}`]],
      [404, [bob, "POST", `/reviews/${id}/helpful`]],
      [422, [bob, "POST", `/reviews/${published}/helpful`]],
      [409, [ada, "POST", `/reviews/${published}/helpful`]],
      [404, [bob, "DELETE", `/reviews/${published}/helpful`]],
      [404, [undefined, "GET", `/reviews/entity/${unknown}`]],
      [404, [undefined, "GET", `/reviews/entity/${unknown}/summary`]]
    ]
    for (const [status, request] of cases) {
      const got = await shop.ask(...request)
      assert.strictEqual(got.status, status, `${request[1]} ${request[2]} ${JSON.stringify(got.body)}`)
    }
    const row = (await shop.done(bob, "GET", `/reviews/${published}`)).at("data")
    // The order was not fulfilled, so the review is not verified.
    assert.deepInclude(row, { isVerified: false, orderId: open.id, helpfulCount: 1 })
    assert.strictEqual((await shop.done(ada, "DELETE", `/reviews/${published}/helpful`)).at("data.helpfulCount"), 0)
    // Staff write in the name of a customer; what a shopper names is not read.
    const customerId = await shop.profileOf(bob)
    const made = await shop.admin("POST", "/reviews", { ...fresh, customerId })
    assert.strictEqual(made.text("data.customerId"), customerId)
    assert.strictEqual((await shop.done(ada, "POST", "/reviews", { ...fresh, customerId })).status, 201)
    const moderator = { ...withPermissions(["reviews:admin"], ada), userId: "moderator" }
    await shop.done(moderator, "DELETE", `/reviews/${published}`)
    assert.deepStrictEqual(await shop.summary(entityId), [0, 0])
  }, 60_000)

  it("are counted exactly when many are approved, found helpful or sent at once", async () => {
    const entityId = await shop.product()
    const people = Array.from({ length: 8 }, shop.customer)
    const ids = await Promise.all(people.map((as, n) => shop.write(as, entityId, n % 5 + 1)))
    await Promise.all(
      ids.flatMap((id) => ["approve", "approve"].map((verb) => shop.admin("PATCH", `/reviews/${id}/${verb}`)))
    )
    assert.deepStrictEqual(await shop.summary(entityId), [2.63, 8])
    await Promise.all(ids.map((id, n) => shop.admin("PATCH", `/reviews/${id}/${n < 4 ? "reject" : "approve"}`)))
    assert.deepStrictEqual(await shop.summary(entityId), [2.75, 4])
    const [last = ""] = ids.slice(-1)
    const voters = [...people.slice(0, 7), ...people.slice(0, 7)]
    const votes = await Promise.all(voters.map((as) => shop.ask(as, "POST", `/reviews/${last}/helpful`)))
    assert.lengthOf(votes.filter(({ status }) => status === 201), 7)
    assert.strictEqual((await shop.admin("GET", `/reviews/${last}`)).at("data.helpfulCount"), 7)
    const [zoe, another] = [shop.customer(), await shop.product()]
    await shop.profileOf(zoe)
    const sent = await Promise.all(
      people.map(() => shop.ask(zoe, "POST", "/reviews", { entityId: another, rating: 5 }))
    )
    assert.deepStrictEqual(sent.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 409)])
  }, 60_000)

  it("ask neither those who have reviewed all nor erased customers, who leave nothing", async () => {
    const [ada, bob, entityId] = [shop.customer(), shop.customer(), await shop.product()]
    const before = shop.mails.length
    const theirs = async (id: string) =>
      (await shop.app.db.query("select due_at from customer_review_requests where order_id = $1", [id])).map((row) =>
        row["due_at"] === null
      )
    const [first, second] = [await shop.order(ada, entityId, "delivered"), await shop.order(bob, entityId, "delivered")]
    const photo = await shop.photo()
    const id = await shop.write(ada, entityId, 5, { photoIds: [photo] })
    const kept = await shop.write(shop.customer(), entityId, 3)
    for (const one of [id, kept]) await shop.admin("PATCH", `/reviews/${one}/approve`)
    await shop.done(ada, "POST", `/reviews/${kept}/helpful`)
    await expect.poll(() => theirs(second.id), eventually).toEqual([false])
    await shop.done(bob, "DELETE", "/me")
    shop.app.clock.advance("8 days")
    await runRequests()
    for (const { id } of [first, second]) await expect.poll(() => theirs(id), eventually).toEqual([true])
    await shop.done(ada, "DELETE", "/me")
    await expect.poll(() => shop.summary(entityId), eventually).toEqual([3, 1])
    assert.strictEqual((await shop.admin("GET", `/reviews/${kept}`)).at("data.helpfulCount"), 0)
    await expect.poll(() => shop.app.db.query("select 1 from media_assets where id = $1", [photo]), eventually).toEqual(
      []
    )
    assert.lengthOf(shop.mails, before)
  }, 60_000)

  it("keep to the rules of every plugin", async () => {
    for (const { name, run } of contractOf(shop.app)) await run().catch((error) => assert.fail(`${name}: ${error}`))
  }, 120_000)
})
