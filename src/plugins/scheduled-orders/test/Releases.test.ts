import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { beforeHook, definePlugin } from "stoa/plugin"
import { inOrganization, testAdminActor } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ann, type BoxShop, customer, openBoxShop } from "./BoxShop.ts"

describe("the release of a scheduled order", () => {
  let shop: BoxShop
  /** What another run of the same job does while the next cart of a release is filled. */
  let meanwhile: (() => Promise<void>) | undefined
  beforeAll(async () => {
    const disturbance = definePlugin({
      id: "disturbance",
      version: "1.0.0",
      hooks: () => [
        beforeHook("cart.beforeAddItem", ({ data }) =>
          Effect.promise(async () => {
            const run = meanwhile
            meanwhile = undefined
            await run?.()
            return data
          }))
      ]
    })
    shop = await openBoxShop({ retryMinutes: [60] }, {}, [disturbance])
  })
  afterAll(() => shop.close())

  const ordersOf = (id: string) =>
    shop.db.query(
      "select id, cart_id as cart from orders where metadata->>'scheduledOrderId' = $1 and status <> 'cancelled'",
      [id]
    )

  it("is made with the cart that was noted first", async () => {
    const id = await shop.scheduled()
    const other = await shop.cart(ann, await shop.product())
    meanwhile = async () => {
      await shop.db.query("update scheduled_orders set checkout_cart_id = $1::uuid where id = $2::uuid", [other, id])
    }
    await shop.due(id, "completed")
    assert.deepStrictEqual((await ordersOf(id)).map(({ cart }) => cart), [other])
  })

  it("finds the order that it has made, also when no one knows the key of its checkout any more", async () => {
    const id = await shop.scheduled()
    const { checkoutCartId, orderId } = await shop.due(id, "completed")
    // As after an outage that outlasts the keys, of a process that died before it noted the order.
    await shop.db.query("delete from idempotency_keys where true")
    await shop.db.query(
      "update scheduled_orders set status = 'processing', order_id = null, due_at = now() where id = $1::uuid",
      [id]
    )
    await shop.due(id, "completed", 0)
    assert.deepInclude(await shop.row(id), { checkoutCartId, orderId, failureReason: null })
    assert.lengthOf(await ordersOf(id), 1)
  })

  it("does not pay by other means with the token of those before", async () => {
    const means = { paymentMethodId: "test", paymentMethodToken: "test_decline" }
    const retried = await shop.scheduled(means)
    await shop.due(retried, "failed")
    await shop.done("POST", `/${retried}/retry`, { paymentMethodId: "another card" }, ann)
    await shop.due(retried, "completed", 0)
    const changed = await shop.scheduled(means)
    await shop.done("PATCH", `/${changed}`, { paymentMethodId: "another card" }, ann)
    await shop.due(changed, "completed")
    const same = await shop.scheduled(means)
    await shop.done("PATCH", `/${same}`, { paymentMethodId: "test", notes: "Ring twice" }, ann)
    await shop.due(same, "failed")
  })

  it("shows its token nowhere", async () => {
    const token = "token-that-no-one-sees"
    const id = await shop.scheduled({ paymentMethodToken: token })
    const shown = [
      await shop.row(id),
      (await shop.done("PATCH", `/${id}`, { paymentMethodToken: `${token}-2` }, ann)).body,
      await shop.due(id, "completed")
    ]
    assert.notInclude(JSON.stringify(shown), token)
    const tables = await shop.db.query(
      "select table_name as name from information_schema.tables where table_type = 'BASE TABLE' and table_schema = current_schema()"
    )
    for (const { name } of tables) {
      const found = await shop.db.query(`select t::text from "${name}" t where t::text like '%${token}%'`)
      assert.isEmpty(found, String(name))
    }
  })

  it("happens in its organization", async () => {
    const as = inOrganization("org_other", testAdminActor)
    const rob = inOrganization("org_other", customer("rob"))
    await shop.db.query("insert into organizations (id, slug, name) values ('org_other', 'org_other', 'Other')")
    const made = async (path: string, body: object, by = as) => {
      const answer = await shop.ask("POST", path, body, by)
      assert.strictEqual(answer.status < 300, true, JSON.stringify(answer.body))
      return answer.text("data.id")
    }
    const attributes = { title: "Other" }
    const entityId = await made("/catalog/entities", { type: "product", slug: "other", status: "active", attributes })
    await made("/pricing/prices", { entityId, currency: "USD", amount: 700 })
    const cartId = await made("/carts", { currency: "USD" }, rob)
    await made(`/carts/${cartId}/items`, { entityId, quantity: 1 }, rob)
    const id = await made("/scheduled-orders", shop.wish(cartId), rob)
    await shop.refused("404 NOT_FOUND", "POST", `/${id}/cancel`)
    await shop.due(await shop.scheduled(), "completed")
    await waitFor("the failure for want of stock", async () => {
      const [row] = (await shop.ask("GET", "/scheduled-orders", undefined, rob)).list("data").map(Object)
      return row.status === "failed" && /stock/i.test(row.failureReason)
    })
  })

  it("is one of pages that repeat none of them", async () => {
    const scheduledFor = shop.inHours(50)
    const ids = await Promise.all(Array.from({ length: 12 }, () => shop.scheduled({ scheduledFor })))
    const to = new Date(Date.parse(scheduledFor) + 1).toISOString()
    const pages = await Promise.all(
      [1, 2, 3].map((page) => shop.done("GET", `?limit=5&page=${page}&from=${scheduledFor}&to=${to}`))
    )
    const seen = pages.flatMap(({ list }) => list("data")).map((row) => Object(row).id)
    assert.deepStrictEqual(seen.toSorted(), ids.toSorted())
  })
})
