import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import {
  type Builders,
  buildersOf,
  contractOf,
  createPluginTestApp,
  inOrganization,
  type PluginTestApp,
  raceOf,
  type TestActor,
  testAdminActor,
  testCustomerActor
} from "stoa/plugin/testing"
import { aPicture } from "../../../../test/media/MediaFixtures.ts"
import { answer } from "../../../../test/support/ServiceCalls.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { reviews } from "../index.ts"

const may = [...testCustomerActor.permissions, "cart:update", "orders:create", "reviews:read", "reviews:write"]
let people = 0
const aShopper = (): TestActor => {
  const userId = `shopper-${++people}`
  return { ...testCustomerActor, userId, email: `${userId}@shop.example`, permissions: may }
}

describe("reviews", () => {
  let app: PluginTestApp
  let builders: Builders
  const mails: Array<{ readonly to: string; readonly data: object }> = []
  beforeAll(async () => {
    app = await createPluginTestApp(reviews({ reviewPage: "https://shop.example/review" }), {
      postgres: inject("postgres").url,
      rateLimits: { api: 1_000_000, checkout: 1_000_000 },
      email: {
        send: async ({ data, template, to }) => {
          if (template === "reviews/request") mails.push({ to, data })
        }
      }
    })
    builders = buildersOf(app)
  }, 60_000)
  afterAll(() => app.close())

  const ask = async (
    as: TestActor | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>
  ) => {
    const sent = await app.app.request(method, `/api${path}`, {
      ...(as && { as }),
      ...(body === undefined ? {} : { body }),
      ...(headers && { headers })
    })
    return answer(sent.status, sent.headers, sent.body)
  }
  const done = async (as: TestActor | undefined, method: string, path: string, body?: unknown) => {
    const found = await ask(as, method, path, body)
    assert.isBelow(found.status, 300, `${method} ${path}: ${JSON.stringify(found.body)}`)
    return found
  }
  const refused = async (status: number, as: TestActor | undefined, method: string, path: string, body?: unknown) =>
    assert.strictEqual((await ask(as, method, path, body)).status, status, `${method} ${path} ${JSON.stringify(body)}`)

  const product = () => builders.product()
  /** An order of a shopper; `fulfilled` hands it over. */
  const purchase = async (as: TestActor, entityId: string, isFulfilled = true) => {
    const cart = await done(as, "POST", "/carts", { currency: "USD" })
    const headers = { "x-cart-secret": cart.text("data.secret") }
    const line = { entityId, quantity: 1 }
    const added = await ask(as, "POST", `/carts/${cart.text("data.id")}/items`, line, headers)
    assert.strictEqual(added.status, 201, JSON.stringify(added.body))
    const body = { cartId: cart.text("data.id"), paymentMethodId: "test", currency: "USD" }
    const placed = await ask(as, "POST", "/checkout", body, headers)
    assert.strictEqual(placed.status, 201, JSON.stringify(placed.body))
    const id = placed.text("data.id")
    for (const status of isFulfilled ? ["confirmed", "processing", "fulfilled"] : []) {
      await done(testAdminActor, "PATCH", `/orders/${id}/status`, { status })
    }
    return id
  }
  const review = async (as: TestActor, entityId: string, body: object = {}) =>
    (await done(as, "POST", "/reviews", { entityId, rating: 5, ...body })).text("data.id")
  const decide = (id: string, decision = "approve") => done(testAdminActor, "PATCH", `/reviews/${id}/${decision}`)
  const published = async (entityId: string, rating = 5) => {
    const id = await review(aShopper(), entityId, { rating })
    await decide(id)
    return id
  }
  const rating = async (entityId: string) => {
    const { at } = await done(undefined, "GET", `/reviews/entity/${entityId}/summary`)
    return [at("data.averageRating"), at("data.totalCount")]
  }

  it("are asked for some days after the delivery, written with a photo, answered, and found by their rating", async () => {
    const [ann, ben, entityId] = [aShopper(), aShopper(), await product()]
    const orderId = await purchase(ann, entityId)
    const answered = await product()
    await purchase(ben, answered)
    await review(ben, answered)
    const asked = async () => {
      await app.serviceRegistry.enqueue("reviews/ask", {})
      await waitFor(
        "the run to end",
        async () =>
          (await app.db.query(
            "select 1 from commerce_jobs where task_slug = 'reviews/ask' and status in ('pending', 'processing')"
          )).length === 0
      )
      return mails.filter(({ to }) => to === ann.email || to === ben.email)
    }
    app.clock.advance("6 days")
    assert.lengthOf(await asked(), 0)
    app.clock.advance("25 hours")
    await asked()
    await waitFor("the mail", () => mails.length > 0)
    const [mail, ...others] = await asked()
    assert.lengthOf(others, 0)
    assert.strictEqual(mail?.to, ann.email)
    assert.include(JSON.stringify(mail?.data), "https://shop.example/review?order=ORD-")

    const form = new FormData()
    form.set(
      "file",
      new Blob([new Uint8Array(await Effect.runPromise(aPicture()))], { type: "image/png" }),
      "bread.png"
    )
    const sent = await fetch(`${app.app.url}/api/media/upload`, {
      method: "POST",
      headers: { "x-test-actor": JSON.stringify(testAdminActor) },
      body: form
    })
    const photo = String(Object(await sent.json()).data.id)
    const id = await review(ann, entityId, { rating: 4, title: "Crisp", body: "Very good.", photoIds: [photo] })
    const list = `/reviews/entity/${entityId}`
    assert.lengthOf((await done(undefined, "GET", list)).list("data"), 0)
    assert.strictEqual(
      (await done(testAdminActor, "GET", "/reviews?status=pending&isVerified=true")).text("data.0.id"),
      id
    )
    await decide(id)
    await done(testAdminActor, "POST", `/reviews/${id}/reply`, { response: "Thank you!", responseBy: "The bakery" })
    await published(entityId, 3)
    const shown = (await done(undefined, "GET", `${list}?isVerified=true`)).at("data.0")
    const expected = {
      title: "Crisp",
      photoIds: [photo],
      isVerified: true,
      response: "Thank you!",
      customerId: null,
      orderId: null
    }
    assert.deepInclude(Object(shown), expected)
    const { at } = await done(undefined, "GET", `${list}/summary`)
    assert.deepStrictEqual(at("data"), {
      averageRating: 3.5,
      totalCount: 2,
      distribution: { 1: 0, 2: 0, 3: 1, 4: 1, 5: 0 }
    })
    const entity = await done(testAdminActor, "GET", `/catalog/entities/${entityId}`)
    assert.deepInclude(Object(entity.at("data.extensions.reviews")), { averageRating: 3.5 })
    await waitFor(
      "the index",
      async () =>
        (await done(testAdminActor, "GET", "/search?attr.rating=3..4&sort=rating:desc")).at("data.0.id") === entityId
    )
    const mine = await done(ann, "GET", "/reviews/mine")
    assert.deepStrictEqual([mine.at("data.0.orderId"), mine.number("meta.pagination.total")], [orderId, 1])
    const asks = {
      measures: ["Reviews.count", "Reviews.averageRating"],
      filters: [{ member: "Reviews.entityId", operator: "equals", values: [entityId] }]
    }
    const figures = await done(testAdminActor, "POST", "/analytics/query", asks)
    assert.deepStrictEqual(Object.values(Object(figures.at("data.rows.0"))).map(Number), [2, 3.5])
  })

  it("are verified by a fulfilled order only, one of a customer and thing, and of what is there", async () => {
    const [ann, entityId, other] = [aShopper(), await product(), await product()]
    const open = await purchase(ann, entityId, false)
    const foreign = await purchase(aShopper(), other)
    const verified = async (body: object) =>
      (await done(aShopper(), "POST", "/reviews", { rating: 5, ...body })).at("data.isVerified")
    assert.isFalse(await verified({ entityId }))
    const made = await done(ann, "POST", "/reviews", { entityId, rating: 1, orderId: open })
    assert.deepStrictEqual([made.at("data.isVerified"), made.at("data.orderId")], [false, open])
    const body = { entityId: other, rating: 5 }
    const cases: ReadonlyArray<readonly [number, object, TestActor?]> = [
      [409, { entityId, rating: 2 }],
      [422, { ...body, orderId: foreign }],
      [422, { ...body, entityId: randomUUID() }],
      [422, { ...body, photoIds: [randomUUID()] }],
      [422, { ...body, rating: 0 }],
      [422, { ...body, rating: 4.5 }],
      [422, { ...body, body: "" }],
      [403, body, { ...ann, permissions: testCustomerActor.permissions }]
    ]
    for (const [status, sent, as = ann] of cases) await refused(status, as, "POST", "/reviews", sent)
    await refused(401, undefined, "POST", "/reviews", body)
    // Only staff say whose review it is.
    const { text } = await done(testAdminActor, "GET", `/reviews?entityId=${entityId}&rating=1`)
    const customerId = text("data.0.customerId")
    const own = await done(aShopper(), "POST", "/reviews", { ...body, customerId })
    assert.notStrictEqual(own.at("data.customerId"), customerId)
    const named = await done(testAdminActor, "POST", "/reviews", { ...body, customerId })
    assert.strictEqual(named.at("data.customerId"), customerId)
  })

  it("are changed and removed by who wrote them or who moderates, and counted while they are published", async () => {
    const [ann, ben, entityId] = [aShopper(), aShopper(), await product()]
    const id = await review(ann, entityId, { rating: 2 })
    await decide(id)
    assert.deepStrictEqual(await rating(entityId), [2, 1])
    for (const [method, path] of [["PATCH", `/reviews/${id}`], ["DELETE", `/reviews/${id}`]] as const) {
      await refused(404, ben, method, path, method === "PATCH" ? { rating: 5 } : undefined)
      await refused(404, inOrganization("org_b", testAdminActor), "PATCH", `/reviews/${id}/approve`)
    }
    await refused(403, ann, "PATCH", `/reviews/${id}/approve`)
    assert.strictEqual((await done(ann, "PATCH", `/reviews/${id}`, { rating: 4 })).at("data.status"), "pending")
    assert.deepStrictEqual(await rating(entityId), [0, 0])
    for (
      const [decision, expected] of [["approve", [4, 1]], ["approve", [4, 1]], ["reject", [0, 0]], ["approve", [
        4,
        1
      ]]] as const
    ) {
      await decide(id, decision)
      assert.deepStrictEqual(await rating(entityId), [...expected], decision)
    }
    await done(testAdminActor, "DELETE", `/reviews/${id}`)
    assert.deepStrictEqual(await rating(entityId), [0, 0])
  })

  it("are found helpful once by each of others, and sorted by it", async () => {
    const [ann, ben, entityId] = [aShopper(), aShopper(), await product()]
    const id = await review(ann, entityId)
    await refused(404, ben, "POST", `/reviews/${id}/helpful`)
    await decide(id)
    const later = await published(entityId)
    await raceOf(app, { method: "POST", path: `/api/reviews/${id}/helpful`, as: ben })
    await refused(422, ann, "POST", `/reviews/${id}/helpful`)
    const order = async (sort: string) =>
      (await done(undefined, "GET", `/reviews/entity/${entityId}?sort=${sort}`)).list("data").map((one) =>
        Object(one).id
      )
    assert.deepStrictEqual([await order("helpful"), await order("newest")], [[id, later], [later, id]])
    assert.strictEqual((await done(ben, "DELETE", `/reviews/${id}/helpful`)).at("data.helpfulCount"), 0)
    await refused(404, ben, "DELETE", `/reviews/${id}/helpful`)
  })

  it("count right when eight people and moderators act at once", async () => {
    const entityId = await product()
    const ids = await Promise.all(
      Array.from({ length: 8 }, (_, n) => review(aShopper(), entityId, { rating: (n % 5) + 1 }))
    )
    await Promise.all(ids.flatMap((id) => [decide(id), decide(id), decide(id, "reject"), decide(id)]))
    await Promise.all(ids.map((id) => decide(id)))
    // 1, 2, 3, 4, 5, 1, 2, 3
    assert.deepStrictEqual(await rating(entityId), [2.63, 8])
    const ben = aShopper()
    await review(ben, await product())
    const body = { entityId, rating: 1 }
    await raceOf(app, { method: "POST", path: "/api/reviews", as: ben, body })
  })

  it("keep to the rules of every plugin", { timeout: 120_000 }, async () => {
    const samples = { customer_reviews: { rating: 3, status: "approved", isPublished: true } }
    for (const { name, run } of contractOf(app, { samples, bodies: 8 })) {
      await run().catch((error: unknown) => assert.fail(`${name}: ${String(error)}`))
    }
  })
})
