import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { openShop, type Shop } from "./ReviewShop.ts"

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

const eventually = { timeout: 50_000 }
const unknown = "404 This link is not one of a mail that asks for reviews, or it has ended."

/** An order of a guest with the token of the mail that asks about it. */
const asked = async (...entityIds: ReadonlyArray<string>) => {
  const email = `${randomUUID()}@example.com`
  const orderId = await shop.guestOrder(email, ...entityIds)
  const rows = () => shop.app.db.query("select 1 from customer_review_requests where order_id = $1", [orderId])
  await expect.poll(rows, eventually).toHaveLength(1)
  shop.app.clock.advance("8 days")
  const mail = () => shop.mails.find(({ to }) => to === email)
  await shop.app.serviceRegistry.enqueue("reviews/request", {})
  await expect.poll(mail, eventually).toBeDefined()
  const link = new URL(String(Reflect.get(Object(mail()?.data), "link")))
  return { email, orderId, token: link.searchParams.get("token") ?? "" }
}
const byLink = async (token: string | undefined, method: string, path = "", body?: object) => {
  const headers = token === undefined ? {} : { "x-review-token": token }
  const got = await shop.ask(method, `/reviews/guest${path}`, body, null, headers)
  return { ...got, outcome: got.status < 300 ? String(got.status) : `${got.status} ${got.text("error.message")}` }
}

describe("the link in the mail to a guest", () => {
  it("reviews each of the goods of the order once, and changes and withdraws what was written", async () => {
    const [honey, tea, other] = [await shop.product(), await shop.product(), await shop.product()]
    const { orderId, token } = await asked(honey, tea)
    const made = await byLink(token, "POST", "", { entityId: honey, rating: 4, title: "Good", authorName: "Ann" })
    assert.deepInclude(made.at("data"), { status: "pending", isVerified: true, rating: 4, photoIds: [] })
    assert.doesNotHaveAnyKeys(made.at("data"), ["customerId", "orderId"])
    assert.match((await byLink(token, "POST", "", { entityId: honey, rating: 1 })).outcome, /^409/)
    assert.match((await byLink(token, "POST", "", { entityId: other, rating: 1 })).outcome, /^422 .*delivered goods/)
    const twice = await Promise.all([1, 2, 3].map(() => byLink(token, "POST", "", { entityId: tea, rating: 2 })))
    assert.deepStrictEqual(twice.map(({ status }) => status).sort(), [201, 409, 409])
    assert.lengthOf((await byLink(token, "GET")).list("data.things"), 2)

    const id = made.text("data.id")
    await shop.done("PATCH", `/reviews/${id}/approve`)
    assert.deepStrictEqual(await shop.summary(honey), [4, 1])
    const changed = await byLink(token, "PATCH", `/${honey}`, { rating: 5 })
    assert.deepInclude(changed.at("data"), { id, rating: 5, title: "Good", status: "pending" })
    await shop.done("PATCH", `/reviews/${id}/approve`)
    assert.deepStrictEqual(await shop.summary(honey), [5, 1])
    assert.strictEqual((await byLink(token, "DELETE", `/${honey}`)).outcome, "200")
    assert.deepStrictEqual(await shop.summary(honey), [0, 0])
    assert.match((await byLink(token, "PATCH", `/${honey}`, { rating: 1 })).outcome, /^404 You have not reviewed/)

    // Returned goods are no purchase any more.
    await shop.app.db.query("update orders set status = 'refunded' where id = $1", [orderId])
    assert.match((await byLink(token, "POST", "", { entityId: honey, rating: 1 })).outcome, /^422/)
  })

  it("opens nothing else, and every token that opens nothing has the same refusal", async () => {
    const [entityId, foreign] = [await shop.product(), await shop.product()]
    const [first, second] = [await asked(entityId), await asked(foreign)]
    const review = await byLink(second.token, "POST", "", { entityId: foreign, rating: 1 })
    const as = { "x-review-token": second.token }
    assert.strictEqual((await shop.ask("GET", `/reviews/${review.text("data.id")}`, undefined, null, as)).status, 401)
    const change = await byLink(first.token, "PATCH", `/${foreign}`, { rating: 5 })
    assert.match(change.outcome, /^404 You have not reviewed/)

    const [id = "", signature = ""] = first.token.split(".")
    const wrong = [undefined, "", id, `${id}.`, `${id}.${second.token.split(".")[1]}`, `${randomUUID()}.${signature}`]
    const everywhere = async (token: string | undefined) => {
      const body = { entityId, rating: 1 }
      const got = [await byLink(token, "GET"), await byLink(token, "POST", "", body)]
      got.push(
        await byLink(token, "PATCH", `/${entityId}`, { rating: 1 }),
        await byLink(token, "DELETE", `/${entityId}`)
      )
      assert.deepStrictEqual([...new Set(got.map(({ outcome }) => outcome))], [unknown], token)
    }
    for (const token of wrong) await everywhere(token)
    await shop.app.db.query("update orders set email = null where id = $1", [second.orderId])
    await everywhere(second.token)
    assert.strictEqual((await byLink(first.token, "GET")).outcome, "200")
    shop.app.clock.advance("60 days")
    await everywhere(first.token)
  })

  it("leaves no review when the guest has become a customer and erases their data", async () => {
    const [ada, entityId, kept] = [shop.customer(), await shop.product(), await shop.product()]
    const { orderId, token } = await asked(entityId, kept)
    const before = await byLink(token, "POST", "", { entityId, rating: 5 })
    await shop.done("PATCH", `/reviews/${before.text("data.id")}/approve`)
    const customerId = await shop.profileOf(ada)
    await shop.app.db.query("update orders set customer_id = $2 where id = $1", [orderId, customerId])
    const after = await byLink(token, "POST", "", { entityId: kept, rating: 5 })
    assert.strictEqual(
      (await shop.done("GET", "/reviews/mine", undefined, ada)).text("data.0.id"),
      after.text("data.id")
    )
    assert.strictEqual((await byLink(token, "POST", "", { entityId, rating: 1 })).status, 409)
    await shop.done("DELETE", "/me", undefined, ada)
    const left = () => shop.app.db.query("select 1 from customer_reviews where order_id = $1", [orderId])
    await expect.poll(left, eventually).toEqual([])
    assert.deepStrictEqual(await shop.summary(entityId), [0, 0])
    assert.strictEqual((await byLink(token, "GET")).outcome, unknown)
  })
})
