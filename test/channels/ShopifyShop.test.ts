import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHmac } from "node:crypto"
import { type ShopifyOptions, type ShopifyShop, startShopify } from "../support/channels/ShopifyShop.ts"
import { webhookReceiver } from "../support/WebhookReceiver.ts"

const start = Date.parse("2026-11-30T10:00:00Z")

const caller =
  (shop: ShopifyShop) =>
  async (query: string, variables: object = {}, { token = shop.tokens.permanent, version = "2026-10" } = {}) => {
    const answer = await fetch(`${shop.url}/admin/api/${version}/graphql.json`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-shopify-access-token": token },
      body: JSON.stringify({ query, variables })
    })
    return {
      status: answer.status,
      version: answer.headers.get("x-shopify-api-version"),
      ...JSON.parse(await answer.text())
    }
  }

/** Asks for a token. */
const granter = (shop: ShopifyShop) => async (fields: object) => {
  const { clientId: client_id, clientSecret: client_secret } = shop.tokens
  const answer = await fetch(`${shop.url}/admin/oauth/access_token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_id, client_secret, ...fields })
  })
  return { status: answer.status, ...JSON.parse(await answer.text()) }
}

/** A test of a shop whose clock it moves. */
const shopTest = (
  title: string,
  work: (test: {
    readonly shop: ShopifyShop
    readonly call: ReturnType<typeof caller>
    readonly receiver: Effect.Success<ReturnType<typeof webhookReceiver>>
    readonly clock: { now: number }
  }) => Promise<void>,
  options: ShopifyOptions = {}
) =>
  it.live(title, () =>
    Effect.gen(function*() {
      const clock = { now: start }
      const shop = yield* startShopify({ now: () => clock.now, ...options })
      const receiver = yield* webhookReceiver()
      yield* Effect.promise(() => work({ shop, call: caller(shop), receiver, clock }))
    }).pipe(Effect.scoped))

const addMug = (shop: ShopifyShop, stock = 5) => {
  const product = shop.catalog.add({
    title: "Mug",
    images: ["https://cdn.example/mug.png"],
    variants: [{ sku: "mug", price: 1_050, stock }]
  })
  const [variant] = product.variants
  if (variant === undefined) throw new Error("the product has no variant")
  return {
    product,
    variant,
    id: `gid://shopify/ProductVariant/${variant.id}`,
    item: `gid://shopify/InventoryItem/${variant.item}`
  }
}

const createOrder = `mutation ($order: OrderCreateOrderInput!, $options: OrderCreateOptionsInput) {
  orderCreate(order: $order, options: $options) {
    order { id displayFinancialStatus totalPriceSet { shopMoney { amount } } lineItems(first: 5) { nodes { id } } }
    userErrors { code field message } } }`

const subscribe = (topic: string, uri: string) =>
  `mutation { webhookSubscriptionCreate(topic: ${topic}, webhookSubscription: { uri: "${uri}" }) {
    webhookSubscription { id } userErrors { message } } }`

const setStock = (quantity: string, key: string) =>
  `mutation ($item: ID!, $location: ID!) { inventorySetQuantities(input: { name: "available", reason: "correction",
    quantities: [{ inventoryItemId: $item, locationId: $location, ${quantity} }] }) ${key} { userErrors { code } } }`

describe("emulated Shopify", () => {
  shopTest(
    "refuses unknown tokens, fields and versions, and lets old versions fall forward",
    async ({ call, shop }) => {
      const name = "{ shop { name } }"
      assert.strictEqual((await call(name, {}, { token: "shpat_unknown" })).status, 401)
      const wrong = await call("{ shop { title } }")
      assert.deepStrictEqual([wrong.status, wrong.errors[0].message], [
        200,
        "Cannot query field \"title\" on type \"Shop\"."
      ])
      assert.match((await call("{ shop { name }")).errors[0].message, /Syntax Error/)
      assert.match((await call("{ products { nodes { id } } }")).errors[0].message, /provide one of first or last/)
      assert.strictEqual(
        (await fetch(`${shop.url}/admin/api/2026-10/graphql.json`, {
          method: "POST",
          headers: { "x-shopify-access-token": shop.tokens.permanent },
          body: "{"
        })).status,
        400
      )
      assert.strictEqual((await call(name, {}, { version: "2024-04" })).version, "2026-01")
      assert.strictEqual((await call(name)).version, "2026-10")
      const future = await call(name, {}, { version: "2030-01" })
      assert.strictEqual(future.status, 404)
    }
  )

  shopTest("pages products with variants, options, media and levels of stock", async ({ call, shop }) => {
    for (let n = 0; n < 3; n++) addMug(shop)
    const query = `query ($after: String) { products(first: 2, after: $after, query: "status:active") {
      nodes { title options { name values } media(first: 1) { nodes { ... on MediaImage { image { url } } } }
        variants(first: 1) { nodes { price selectedOptions { value } inventoryItem { tracked
          inventoryLevels(first: 1) { nodes { location { name } quantities(names: ["available", "on_hand"]) { quantity } } } } } } }
      pageInfo { hasNextPage endCursor } } }`
    const { data, extensions } = await call(query)
    assert.deepInclude(data.products.nodes[0].variants.nodes[0], {
      price: "10.50",
      selectedOptions: [{ value: "Default Title" }]
    })
    assert.strictEqual(data.products.nodes[0].media.nodes[0].image.url, "https://cdn.example/mug.png")
    assert.strictEqual(extensions.cost.throttleStatus.maximumAvailable, 2_000)
    const next = (await call(query, { after: data.products.pageInfo.endCursor })).data.products
    assert.deepStrictEqual([next.nodes.length, next.pageInfo.hasNextPage], [1, false])
  })

  shopTest("throttles with status 200 until its bucket has enough points again", async ({ call, clock, shop }) => {
    const query = "{ products(first: 250) { nodes { id variants(first: 1) { nodes { id } } } } }"
    shop.bucket.maximum = 1_000
    assert.strictEqual((await call(query)).errors[0].extensions.code, "MAX_COST_EXCEEDED")
    const dear = query.replace("250", "150")
    const { requestedQueryCost } = (await call(dear)).extensions.cost
    assert.strictEqual(requestedQueryCost, 602)
    const throttled = await call(dear)
    assert.deepInclude(throttled, { status: 200 })
    assert.strictEqual(throttled.errors[0].extensions.code, "THROTTLED")
    const { currentlyAvailable, restoreRate } = throttled.extensions.cost.throttleStatus
    clock.now += (requestedQueryCost - currentlyAvailable) / restoreRate * 1_000
    assert.isUndefined((await call(dear)).errors)
  })

  shopTest("sets stock only if it is as expected, once a key, and wants both from 2026-04", async ({ call, shop }) => {
    const { item, variant } = addMug(shop)
    const location = `gid://shopify/Location/${shop.catalog.locations[0]?.id}`
    const set = async (quantity: string, key: string, version = "2026-10") => {
      const { data, errors } = await call(setStock(quantity, key), { item, location }, { version })
      return errors?.[0].message ?? data.inventorySetQuantities.userErrors[0]?.code ?? variant.levels[0]?.available
    }
    assert.match(await set("quantity: 7, changeFromQuantity: 5", ""), /@idempotent/)
    assert.match(await set("quantity: 7", "@idempotent(key: \"a\")"), /changeFromQuantity/)
    assert.strictEqual(
      await set("quantity: 7, changeFromQuantity: 4", "@idempotent(key: \"b\")"),
      "CHANGE_FROM_QUANTITY_STALE"
    )
    assert.strictEqual(await set("quantity: 7, changeFromQuantity: 5", "@idempotent(key: \"c\")"), 7)
    shop.catalog.setStock(variant, 3)
    assert.strictEqual(await set("quantity: 7, changeFromQuantity: 5", "@idempotent(key: \"c\")"), 3)
    assert.strictEqual(
      await set("quantity: 8, changeFromQuantity: 3", "@idempotent(key: \"c\")"),
      "IDEMPOTENCY_KEY_PARAMETER_MISMATCH"
    )
    assert.strictEqual(await set("quantity: 9, compareQuantity: 2", "", "2026-01"), "COMPARE_QUANTITY_STALE")
    assert.strictEqual(await set("quantity: 9, compareQuantity: 3", "", "2026-01"), 9)
    assert.match(await set("quantity: 9, compareQuantity: 3", "@idempotent(key: \"d\")"), /compareQuantity/)
  })

  shopTest("exports by a bulk operation whose lines name their parents", async ({ call, shop }) => {
    const run = async (query: string) =>
      (await call(
        "mutation ($q: String!) { bulkOperationRunQuery(query: $q) { bulkOperation { id } userErrors { code } } }",
        { q: query }
      )).data.bulkOperationRunQuery
    const poll = async (id: string) =>
      (await call("query ($id: ID!) { bulkOperation(id: $id) { status url objectCount } }", { id })).data.bulkOperation
    const query = "{ products { edges { node { id variants { edges { node { id sku } } } } } } }"
    const empty = (await run(query)).bulkOperation.id
    await poll(empty)
    assert.deepStrictEqual(await poll(empty), { status: "COMPLETED", url: null, objectCount: "0" })
    const mugs = [addMug(shop), addMug(shop)]
    const { id } = (await run(query)).bulkOperation
    assert.deepInclude(await poll(id), { status: "RUNNING", url: null })
    const lines = (await (await fetch((await poll(id)).url)).text()).trim().split("\n").map((line) => JSON.parse(line))
    const products = mugs.map(({ product }) => ({ id: `gid://shopify/Product/${product.id}` }))
    assert.deepStrictEqual(lines, [
      ...products,
      ...mugs.map((one, n) => ({ id: one.id, sku: "mug", __parentId: products[n]?.id }))
    ])
    assert.strictEqual((await run("{ shop { name } }")).userErrors[0].code, "INVALID")
    for (let n = 0; n < 5; n++) await run(query)
    assert.strictEqual((await run(query)).userErrors[0].code, "OPERATION_IN_PROGRESS")
  })

  shopTest(
    "creates orders that leave stock alone unless asked, and finds them by tag after a while",
    async ({ call, clock, shop }) => {
      const { id, variant } = addMug(shop, 3)
      shop.orders.searchDelayMs = 1_000
      const order = {
        tags: ["stoa-1"],
        lineItems: [{ variantId: id, quantity: 2 }],
        shippingLines: [{ title: "Post", priceSet: { shopMoney: { amount: "5", currencyCode: "EUR" } } }]
      }
      const create = async (more: object = {}, inventoryBehaviour?: string) =>
        (await call(createOrder, {
          order: { ...order, ...more },
          options: inventoryBehaviour && { inventoryBehaviour }
        })).data.orderCreate
      const { order: made } = await create({ financialStatus: "PAID" })
      assert.deepInclude(made, { displayFinancialStatus: "PAID", totalPriceSet: { shopMoney: { amount: "26.0" } } })
      assert.strictEqual(variant.levels[0]?.available, 3)
      const byTag = async () =>
        (await call("{ orders(first: 5, query: \"tag:stoa-1\") { nodes { id } } }")).data.orders.nodes
      assert.deepStrictEqual(await byTag(), [])
      clock.now += 1_000
      assert.deepStrictEqual(await byTag(), [{ id: made.id }])
      await create({}, "DECREMENT_OBEYING_POLICY")
      assert.deepInclude(variant.levels[0], { available: 1, committed: 2 })
      assert.strictEqual((await create({}, "DECREMENT_OBEYING_POLICY")).userErrors[0].code, "INVENTORY_CLAIM_FAILED")
      assert.match((await create({ tags: ["x".repeat(41)] })).userErrors[0].message, /40/)
      shop.orders.perMinute = 3
      await create()
      assert.match((await create()).userErrors[0].message, /Too many/)
    }
  )

  shopTest("cancels, fulfils and refunds up to what was paid", async ({ call, shop }) => {
    const { id, variant } = addMug(shop)
    const create = async () =>
      (await call(createOrder, {
        order: { financialStatus: "PAID", lineItems: [{ variantId: id, quantity: 2 }] },
        options: { inventoryBehaviour: "DECREMENT_OBEYING_POLICY" }
      })).data.orderCreate.order
    const cancel =
      "mutation ($id: ID!) { orderCancel(orderId: $id, reason: CUSTOMER, restock: true, refundMethod: { originalPaymentMethodsRefund: true }) { orderCancelUserErrors { message } } }"
    const first = await create()
    await call(cancel, { id: first.id })
    assert.match((await call(cancel, { id: first.id })).data.orderCancel.orderCancelUserErrors[0].message, /already/)
    assert.deepInclude(variant.levels[0], { available: 5, committed: 0 })
    const second = await create()
    shop.orders.fulfil(shop.orders.find(second.id) ?? assert.fail(), { number: "T-1" })
    const refund = async (amount: string, key: string) =>
      (await call(
        `mutation ($input: RefundInput!) { refundCreate(input: $input) @idempotent(key: "${key}") { refund { id totalRefundedSet { shopMoney { amount } } } userErrors { message } } }`,
        {
          input: {
            orderId: second.id,
            refundLineItems: [{ lineItemId: second.lineItems.nodes[0].id, quantity: 1, restockType: "RETURN" }],
            transactions: [{ orderId: second.id, amount, kind: "REFUND", gateway: "manual" }]
          }
        }
      )).data.refundCreate
    const given = await refund("10.50", "r1")
    assert.strictEqual(given.refund.totalRefundedSet.shopMoney.amount, "10.5")
    assert.deepStrictEqual(await refund("10.50", "r1"), given)
    assert.match((await refund("10.51", "r2")).userErrors[0].message, /exceeds/)
    assert.deepInclude(variant.levels[0], { available: 4, committed: 0 })
    const read = await call(
      "query ($id: ID!) { order(id: $id) { displayFinancialStatus displayFulfillmentStatus fulfillments { trackingInfo { number } } refunds { id } } }",
      { id: second.id }
    )
    assert.deepStrictEqual(read.data.order, {
      displayFinancialStatus: "PARTIALLY_REFUNDED",
      displayFulfillmentStatus: "FULFILLED",
      fulfillments: [{ trackingInfo: [{ number: "T-1" }] }],
      refunds: [{ id: given.refund.id }]
    })
  })

  shopTest(
    "signs webhooks, repeats one eight times in four hours under its id and then removes the subscription",
    async ({ call, clock, receiver, shop }) => {
      assert.isEmpty((await call(subscribe("PRODUCTS_UPDATE", receiver.url))).data.webhookSubscriptionCreate.userErrors)
      assert.lengthOf(
        (await call(subscribe("PRODUCTS_UPDATE", receiver.url))).data.webhookSubscriptionCreate.userErrors,
        1
      )
      const { variant } = addMug(shop)
      receiver.react({ status: 500 })
      shop.catalog.changePrice(variant, 900)
      await shop.deliveries.settled()
      const [{ body, headers } = assert.fail()] = receiver.received
      assert.strictEqual(
        headers["x-shopify-hmac-sha256"],
        createHmac("sha256", shop.tokens.clientSecret).update(body).digest("base64")
      )
      assert.deepInclude(headers, { "x-shopify-topic": "products/update", "x-shopify-shop-domain": shop.domain })
      for (let n = 0; n < 8; n++) {
        assert.strictEqual(shop.webhooks.subscriptions.size, 1)
        clock.now += 3 * 3_600_000
        await shop.webhooks.repeatDue()
      }
      assert.strictEqual(new Set(receiver.received.map((one) => one.headers["x-shopify-webhook-id"])).size, 1)
      assert.deepStrictEqual([receiver.received.length, shop.webhooks.subscriptions.size], [9, 0])
      shop.webhooks.tellApp(receiver.url, "shop/redact", { shop_domain: shop.domain })
      await call(subscribe("APP_UNINSTALLED", receiver.url))
      shop.uninstall()
      await shop.deliveries.settled()
      assert.sameMembers(receiver.received.slice(9).map((one) => String(one.headers["x-shopify-topic"])), [
        "shop/redact",
        "app/uninstalled"
      ])
      assert.strictEqual((await call("{ shop { name } }")).status, 401)
    }
  )

  shopTest(
    "exchanges a code once for a token that ends, and a refresh token once for the next",
    async ({ call, clock, shop }) => {
      const grant = granter(shop)
      const query =
        `client_id=${shop.tokens.clientId}&scope=read_products&redirect_uri=http://app.example/callback&state=s1`
      const redirect = await fetch(`${shop.url}/admin/oauth/authorize?${query}`, { redirect: "manual" })
      const back = new URL(redirect.headers.get("location") ?? "").searchParams
      const hmac = back.get("hmac")
      back.delete("hmac")
      const message = [...back].sort(([left], [right]) => left < right ? -1 : 1).map(([name, value]) =>
        `${name}=${value}`
      ).join("&")
      assert.strictEqual(hmac, createHmac("sha256", shop.tokens.clientSecret).update(message).digest("hex"))
      assert.strictEqual(back.get("state"), "s1")
      shop.tokens.seconds = 60
      const first = await grant({ code: back.get("code"), expiring: "1" })
      assert.strictEqual((await grant({ code: back.get("code"), expiring: "1" })).status, 400)
      const works = async (token: string) => (await call("{ shop { name } }", {}, { token })).status === 200
      assert.isTrue(await works(first.access_token))
      clock.now += 60_000
      assert.isFalse(await works(first.access_token))
      const refresh = (refresh_token: string) => grant({ grant_type: "refresh_token", refresh_token })
      const second = await refresh(first.refresh_token)
      assert.isTrue(await works(second.access_token))
      assert.deepInclude(await refresh(first.refresh_token), { status: 400, error: "invalid_grant" })
      shop.tokens.repeatable = true
      const third = await refresh(second.refresh_token)
      assert.deepStrictEqual(await refresh(second.refresh_token), third)
      await refresh(third.refresh_token)
      assert.strictEqual((await refresh(second.refresh_token)).error, "invalid_grant")
      assert.strictEqual((await grant({ grant_type: "client_credentials" })).expires_in, 86_399)
      assert.strictEqual((await grant({ client_secret: "x" })).error, "invalid_client")
    }
  )

  shopTest("loses the answer to an order that it took", async ({ call, shop }) => {
    const { id } = addMug(shop)
    shop.fault("orderCreate", "hear")
    const lost = await call(createOrder, { order: { lineItems: [{ variantId: id, quantity: 1 }] } }).catch(() =>
      "no answer"
    )
    assert.deepStrictEqual([lost, shop.orders.orders.size], ["no answer", 1])
    shop.fault("shop {", "limit")
    assert.strictEqual((await call("{ shop { name } }")).errors[0].extensions.code, "THROTTLED")
  })
})
