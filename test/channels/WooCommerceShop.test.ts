import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHmac } from "node:crypto"
import { startWooCommerce, type WooCommerceShop, type WooOptions } from "../support/channels/WooCommerceShop.ts"
import { webhookReceiver } from "../support/WebhookReceiver.ts"

const start = Date.parse("2026-11-30T10:00:00Z")

const caller =
  (shop: WooCommerceShop) => async (method: string, path: string, body?: unknown, key = shop.keys.consumerKey) => {
    const answer = await fetch(`${shop.url}/wp-json/wc/v3/${path}`, {
      method,
      headers: {
        authorization: `Basic ${btoa(`${key}:${shop.keys.consumerSecret}`)}`,
        "content-type": "application/json"
      },
      ...body === undefined ? {} : { body: JSON.stringify(body) }
    })
    const text = await answer.text()
    return {
      status: answer.status,
      headers: answer.headers,
      body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text
    }
  }

/** A test of a shop whose clock it moves. */
const shopTest = (
  title: string,
  work: (test: {
    readonly shop: WooCommerceShop
    readonly call: ReturnType<typeof caller>
    readonly receiver: Effect.Success<ReturnType<typeof webhookReceiver>>
    readonly clock: { now: number }
  }) => Promise<void>,
  options: WooOptions = {}
) =>
  it.live(title, () =>
    Effect.gen(function*() {
      const clock = { now: start }
      const shop = yield* startWooCommerce({ now: () => clock.now, ...options })
      const receiver = yield* webhookReceiver()
      yield* Effect.promise(() => work({ shop, call: caller(shop), receiver, clock }))
    }).pipe(Effect.scoped))

const mug = (sku: string) => ({
  name: `Mug ${sku}`,
  sku,
  regular_price: "10.00",
  manage_stock: true,
  stock_quantity: 5
})

describe("emulated WooCommerce", () => {
  shopTest(
    "refuses calls without a key, with a wrong secret and writes by a key that reads",
    async ({ call, shop }) => {
      const codeOf = ({ body, status }: Awaited<ReturnType<typeof call>>) => [status, body.code]
      assert.deepStrictEqual(codeOf(await call("GET", "products", undefined, "ck_unknown")), [
        401,
        "woocommerce_rest_cannot_view"
      ])
      assert.deepStrictEqual(codeOf(await call("POST", "products", {}, shop.keys.readOnlyKey)), [
        401,
        "woocommerce_rest_authentication_error"
      ])
      assert.deepStrictEqual(codeOf(await call("GET", "products/99")), [404, "woocommerce_rest_product_invalid_id"])
      assert.deepStrictEqual(codeOf(await call("GET", "products?per_page=101")), [400, "rest_invalid_param"])
      assert.deepStrictEqual(codeOf(await call("POST", "products", { stock_quantity: "many" })), [
        400,
        "rest_invalid_param"
      ])
      assert.deepStrictEqual(codeOf(await call("GET", "orders/1")), [404, "woocommerce_rest_shop_order_invalid_id"])
      assert.deepStrictEqual(codeOf(await call("GET", "nothing")), [404, "rest_no_route"])
    }
  )

  shopTest(
    "pages products, and dates them in whole seconds of its zone without naming it",
    async ({ call, clock, shop }) => {
      for (let n = 1; n <= 12; n++) shop.catalog.create(mug(`m${n}`))
      const page = await call("GET", "products?per_page=5&page=3&orderby=id&order=asc")
      assert.deepStrictEqual([page.headers.get("x-wp-total"), page.headers.get("x-wp-totalpages")], ["12", "3"])
      assert.deepStrictEqual(page.body.map((one: { sku: string }) => one.sku), ["m11", "m12"])
      assert.deepInclude(page.body[0], {
        date_modified: "2026-11-30T11:00:00",
        date_modified_gmt: "2026-11-30T10:00:00",
        price: "10.00"
      })
      clock.now += 1_000
      await call("PUT", `products/${page.body[0].id}`, { regular_price: "12.50" })
      const changed = async (query: string) =>
        (await call("GET", `products?per_page=100&modified_after=${query}`)).body.length
      assert.strictEqual(await changed("2026-11-30T10:00:00&dates_are_gmt=true"), 1)
      assert.strictEqual(await changed("2026-11-30T10:00:00Z"), 1)
      assert.strictEqual(await changed("2026-11-30T10:00:00"), 12, "a date without a zone is local")
    }
  )

  shopTest("sells variations from the stock of the parent and finds them by SKU", async ({ call, shop }) => {
    const { id } = shop.catalog.create({
      ...mug("shirt"),
      type: "variable",
      attributes: [{ name: "Size", options: ["S", "M"], variation: true }]
    })
    const made = await call("POST", `products/${id}/variations/batch`, {
      create: [{ sku: "shirt-s", regular_price: "20.00", attributes: [{ name: "Size", option: "S" }] }, {
        sku: "shirt-s"
      }]
    })
    const [small, second] = made.body.create
    assert.deepInclude(small, { parent_id: id, type: "variation", manage_stock: "parent", stock_quantity: 5 })
    assert.deepStrictEqual([second.id, second.error.code], [0, "product_invalid_sku"])
    assert.deepStrictEqual((await call("GET", "products?sku=shirt-s")).body.map((one: { id: number }) => one.id), [
      small.id
    ])
    await call("POST", "orders", {
      status: "processing",
      line_items: [{ product_id: id, variation_id: small.id, quantity: 2 }]
    })
    assert.strictEqual((await call("GET", `products/${id}`)).body.stock_quantity, 3)
  })

  shopTest(
    "takes stock when an order is paid, gives it back when it is cancelled, and refunds up to its total",
    async ({ call, shop }) => {
      const { id } = shop.catalog.create(mug("m"))
      const order = await call("POST", "orders", {
        set_paid: true,
        billing: { last_name: "Meier", email: "meier@example.com" },
        line_items: [{ product_id: id, quantity: 2, total: "18.00" }],
        shipping_lines: [{ method_id: "flat_rate", total: "5.00" }],
        meta_data: [{ key: "stoa_order_id", value: "o-1" }]
      })
      assert.deepInclude(order.body, { status: "processing", total: "23.00", currency: "EUR" })
      const path = `orders/${order.body.id}`
      const stock = () => shop.catalog.get(id).fields.stock_quantity
      assert.strictEqual(stock(), 3)
      const found = async (search: string) => (await call("GET", `orders?search=${search}`)).body.length
      assert.deepStrictEqual([await found("meier"), await found("o-1")], [1, 0], "a search does not look at meta data")
      assert.strictEqual(
        (await call("POST", `${path}/refunds`, { amount: "5.00" })).body.code,
        "woocommerce_rest_cannot_create_order_refund"
      )
      const [line] = order.body.line_items
      const refund = { amount: "9.00", api_refund: false, line_items: [{ id: line.id, quantity: 1, refund_total: 9 }] }
      assert.strictEqual((await call("POST", `${path}/refunds`, refund)).body.line_items[0].quantity, -1)
      assert.strictEqual(stock(), 4)
      assert.strictEqual((await call("POST", `${path}/refunds`, { amount: "14.01", api_refund: false })).status, 500)
      assert.deepInclude((await call("GET", path)).body.refunds[0], { total: "-9.00" })
      await call("POST", `${path}/refunds`, { amount: "14.00", api_refund: false })
      assert.strictEqual((await call("GET", path)).body.status, "refunded")
      const other = await call("POST", "orders", { status: "on-hold", line_items: [{ product_id: id }] })
      await call("PUT", `orders/${other.body.id}`, { status: "cancelled" })
      assert.strictEqual(stock(), 4)
    }
  )

  shopTest(
    "pings a new webhook, signs deliveries and gives two of a second the same id",
    async ({ call, receiver, shop }) => {
      const hook = await call("POST", "webhooks", {
        topic: "product.created",
        delivery_url: receiver.url,
        secret: "s3cret"
      })
      assert.deepInclude(hook.body, { status: "active", resource: "product", event: "created" })
      assert.notProperty(hook.body, "secret")
      assert.strictEqual(receiver.received[0]?.body, `webhook_id=${hook.body.id}`)
      shop.catalog.create(mug("a"))
      shop.catalog.create(mug("b"))
      await shop.deliveries.settled()
      const [first, second] = receiver.received.slice(1)
      assert.strictEqual(first?.headers["x-wc-webhook-topic"], "product.created")
      assert.strictEqual(
        first?.headers["x-wc-webhook-signature"],
        createHmac("sha256", "s3cret").update(first?.body ?? "").digest("base64")
      )
      assert.strictEqual(first?.headers["x-wc-webhook-delivery-id"], second?.headers["x-wc-webhook-delivery-id"])
      assert.strictEqual(
        (await call("POST", "webhooks", { topic: "stock.changed" })).body.code,
        "woocommerce_rest_shop_webhook_invalid_topic"
      )
      assert.strictEqual((await call("DELETE", `webhooks/${hook.body.id}`)).status, 501)
    }
  )

  shopTest(
    "disables a webhook after five failures in a row, and tells of no removal that skips the trash",
    async ({ call, receiver, shop }) => {
      const hook = await call("POST", "webhooks", { topic: "product.deleted", delivery_url: receiver.url })
      const statusOf = async () => (await call("GET", `webhooks/${hook.body.id}`)).body.status
      const removeOne = async (force: boolean) => {
        await call("DELETE", `products/${shop.catalog.create(mug("x")).id}?force=${force}`)
        await shop.deliveries.settled()
        for (const id of shop.catalog.products.keys()) shop.catalog.remove(id, true)
      }
      receiver.react({ status: 500 })
      for (let n = 0; n < 4; n++) await removeOne(false)
      await removeOne(true)
      assert.deepStrictEqual([await statusOf(), receiver.received.length], ["active", 5])
      await removeOne(false)
      assert.deepStrictEqual([await statusOf(), receiver.received.length], ["disabled", 6])
      await removeOne(false)
      assert.strictEqual(receiver.received.length, 6)
      await call("PUT", `webhooks/${hook.body.id}`, { status: "active" })
      receiver.react({ status: 200 })
      await removeOne(false)
      assert.deepStrictEqual([await statusOf(), JSON.parse(receiver.received[6]?.body ?? "").id > 0], ["active", true])
    }
  )

  shopTest("says its currency and whether prices contain tax", async ({ call }) => {
    assert.strictEqual((await call("GET", "settings/general/woocommerce_currency")).body.value, "CHF")
    assert.strictEqual((await call("GET", "settings/tax/woocommerce_prices_include_tax")).body.value, "no")
    assert.strictEqual((await call("GET", "system_status")).body.settings.currency, "CHF")
    const category = await call("POST", "products/categories", { name: "Cups", parent: 0 })
    const product = await call("POST", "products", { ...mug("m"), categories: [{ id: category.body.id }] })
    assert.deepStrictEqual(product.body.categories, [{ id: category.body.id, name: "Cups", slug: "cups" }])
    const order = await call("POST", "orders", { line_items: [{ product_id: product.body.id }] })
    assert.deepInclude(order.body, { total: "10.81", total_tax: "0.81" })
  }, { currency: "CHF", pricesIncludeTax: false, taxPercent: 8.1 })

  shopTest(
    "loses the answer to an order that it took, is limited, breaks and drops as planted",
    async ({ call, shop }) => {
      shop.fault("POST /wp-json/wc/v3/orders", "hear")
      const failed = await call("POST", "orders", {}).catch(() => "no answer")
      assert.deepStrictEqual([failed, shop.orders.orders.size], ["no answer", 1])
      shop.fault("GET /wp-json/wc/v3/orders", "limit")
      const limited = await call("GET", "orders")
      assert.deepStrictEqual([limited.status, limited.headers.get("retry-after")], [429, "1"])
      shop.fault("orders", "break")
      assert.strictEqual((await call("GET", "orders")).status, 502)
      shop.fault("orders", "drop")
      assert.strictEqual(await call("POST", "orders", {}).catch(() => "no answer"), "no answer")
      assert.strictEqual(shop.orders.orders.size, 1)
    }
  )

  shopTest("loses, doubles and reorders webhooks as planted", async ({ call, receiver, shop }) => {
    await call("POST", "webhooks", { topic: "product.created", delivery_url: receiver.url })
    const skus = () => receiver.received.slice(1).map(({ body }) => JSON.parse(body).sku)
    shop.deliveries.lose()
    shop.catalog.create(mug("lost"))
    shop.deliveries.double()
    shop.catalog.create(mug("double"))
    await shop.deliveries.settled()
    shop.deliveries.hold()
    for (const sku of ["one", "two"]) shop.catalog.create(mug(sku))
    await shop.deliveries.releaseReversed()
    assert.deepStrictEqual(skus(), ["double", "double", "two", "one"])
  })
})
