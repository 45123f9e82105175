import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { randomUUID } from "node:crypto"
import { fileURLToPath } from "node:url"
import { type Random, randomOf } from "../fuzz/Values.ts"
import { onDatabase } from "../support/Audit.ts"
import { happen, shopifyShopkeeper, wooShopkeeper } from "../support/channels/ShopEvents.ts"
import { startShopify } from "../support/channels/ShopifyShop.ts"
import { startWooCommerce } from "../support/channels/WooCommerceShop.ts"
import { eventually } from "../support/Eventually.ts"
import { freePort } from "../support/FreePort.ts"
import { enqueueFrom } from "../support/JobKills.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { placeOf } from "../support/Service.ts"
import { callOf, persistently } from "../support/ServiceCalls.ts"
import type { Call } from "../support/TestApp.ts"

const program = fileURLToPath(new URL("../support/serveDay.ts", import.meta.url))
const minute = 60_000
const day = 24 * 60 * minute
const address = { name: "Ann Lee", line1: "1 High Street", city: "London", postalCode: "SW1A 1AA", country: "GB" }

/** A service with two stores that are connected to it, and their clock. */
export const storeDay = Effect.fnUntraced(function*(seed: number) {
  const { url } = yield* freshDatabase
  let aheadMs = 0
  const now = () => Date.now() + aheadMs
  const [woo, shopify] = [yield* startWooCommerce({ now, offsetHours: 2 }), yield* startShopify({ now })]
  const { tokens } = shopify
  // As Shopify does since August 2026.
  tokens.repeatable = true
  // Hours pass at once: tokens hold longer than the shop says, or they would end in the middle of a call.
  tokens.seconds = 2 * day / 1_000
  const grant = tokens.grant.bind(tokens)
  tokens.grant = (call) => {
    const answer = grant(call)
    return { ...answer, body: { ...Object(answer.body), expires_in: 3_600 } }
  }
  // Throttling is a fault of the day: an hour of calls comes in seconds.
  Object.assign(shopify.bucket, { maximum: 1e6, perSecond: 1e6 })
  const [http, runner, clockPort] = yield* Effect.promise(() => Promise.all([freePort(), freePort(), freePort()]))
  const publicUrl = `http://127.0.0.1:${http}`
  const { clientId, clientSecret } = tokens
  const origins = [woo.url, shopify.url]
  const place = yield* placeOf({
    databaseUrl: url,
    program,
    ports: { http, runner },
    environment: {
      get STOA_TEST_DAY() {
        return JSON.stringify({ publicUrl, origins, clientId, clientSecret, clockPort, aheadMs })
      }
    }
  })
  const staff = (method: string, path: string, body?: unknown) =>
    persistently(callOf(publicUrl)(method, `/api${path}`, { headers: { "x-api-key": "dev-admin-key" }, body }))
  const connect = Effect.fnUntraced(function*(provider: string, storeDomain: string, credentials: object) {
    const made = yield* staff("POST", "/channels/stores", { provider, storeDomain, credentials })
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    return made.text("data.id")
  })

  /** Puts the clocks forward; a process that is dead begins with that of the others. */
  const pass = (ms: number) =>
    Effect.promise(async () => {
      aheadMs += ms
      await fetch(`http://127.0.0.1:${clockPort}/${aheadMs}`).catch(() => undefined)
      void shopify.webhooks.repeatDue()
    })
  const openJobs = onDatabase(url, (sql) =>
    sql`select task_slug, status, attempts, error, input from commerce_jobs
      where status = 'processing' or status = 'pending' and coalesce(wait_until, now()) <= ${new Date(now())}`)
  const arrived = Effect.promise(() => Promise.all([woo, shopify].map(({ deliveries }) => deliveries.settled())))
  /** Waits until no job runs or could run now. */
  const rested = eventually(
    "jobs rest",
    Effect.andThen(arrived, Effect.map(openJobs, ({ length }) => length === 0))
  ).pipe(Effect.onError(() => Effect.tap(openJobs, (open) => Effect.sync(() => console.log(JSON.stringify(open))))))
  return { url, seed, woo, shopify, place, publicUrl, staff, connect, pass, rested }
})
export type StoreDay = Effect.Success<ReturnType<typeof storeDay>>

/** Products of ours that both stores sell, too. */
const ownGoods = Effect.fnUntraced(function*({ shopify, staff, woo }: StoreDay) {
  const made = (path: string, body: object) =>
    Effect.map(staff("POST", path, body), (answer) => {
      assert.include([200, 201], answer.status, JSON.stringify(answer.body))
      return answer.text("data.id")
    })
  const warehouseId = yield* made("/inventory/warehouses", { name: "Own", code: "OWN" })
  for (const sku of ["OWN-1", "OWN-2", "OWN-3"]) {
    const product = { type: "product", slug: sku.toLowerCase(), status: "active", attributes: { title: sku } }
    const entityId = yield* made("/catalog/entities", product)
    const variantId = yield* made(`/catalog/entities/${entityId}/variants`, { sku, options: {} })
    yield* made("/pricing/prices", { entityId, currency: "EUR", amount: 1_000 })
    yield* made("/inventory/adjust", { entityId, variantId, warehouseId, type: "restock", quantity: 90 })
    woo.catalog.create({ name: sku, sku, regular_price: "10.00", manage_stock: true, stock_quantity: 5 })
    shopify.catalog.add({ title: sku, variants: [{ sku, price: 1_000, stock: 5 }] })
  }
})

/** Connects both stores long before, with goods in them. */
export const openStores = Effect.fnUntraced(function*(world: StoreDay) {
  const { connect, rested, seed, shopify, url, woo } = world
  const random = randomOf(seed)
  yield* ownGoods(world)
  for (let n = 0; n < 8; n++) {
    wooShopkeeper(woo).arrival(random)
    shopifyShopkeeper(shopify).arrival(random)
  }
  const { consumerKey, consumerSecret } = woo.keys
  const wooId = yield* connect("woocommerce", woo.url, { consumerKey, consumerSecret })
  const call = { method: "GET", path: "", headers: {}, body: "" }
  const { clientId, clientSecret } = shopify.tokens
  const query = new URLSearchParams({ client_id: clientId, redirect_uri: "http://app.example" })
  const consent = shopify.tokens.authorize({ ...call, query })
  const code = new URL(consent.headers?.["location"] ?? "").searchParams.get("code") ?? ""
  const grant = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, code, expiring: "1" })
  const { access_token: accessToken, expires_in, refresh_token: refreshToken } = Object(
    shopify.tokens.grant({ ...call, query, body: grant.toString() }).body
  )
  const expiresAt = new Date(Date.now() + expires_in * 1_000).toISOString()
  const shopifyId = yield* connect("shopify", shopify.url, { accessToken, refreshToken, expiresAt })
  yield* rested
  yield* onDatabase(url, (sql) => sql`update connected_stores set connected_at = now() - interval '8 days'`)
  return { woo: wooId, shopify: shopifyId }
})

/** A customer buys goods of one store or both, through failures of the service. Some want more than there is. */
const buy = Effect.fnUntraced(function*({ publicUrl, staff, url }: StoreDay, random: Random) {
  const goods = yield* onDatabase(
    url,
    (sql) =>
      sql<
        { entityId: string; variantId: string | null }
      >`select map.entity_id as "entityId", map.variant_id as "variantId"
      from channel_entity_map map join catalog_entities entity on entity.id = map.entity_id
      where map.kind = 'variant' and map.gone_at is null and entity.status = 'active' order by map.external_id`
  )
  const ask = (path: string, call: Call) => persistently(callOf(publicUrl)("POST", `/api${path}`, call))
  const made = yield* ask("/carts", { body: { currency: "EUR", email: "ann@example.com" } })
  const [cartId, headers] = [made.text("data.id"), { "x-cart-secret": made.text("data.secret") }]
  for (let n = random.int(3); n >= 0; n--) {
    const { variantId = null, ...sold } = random.oneOf(goods) ?? {}
    const quantity = random.chance(0.1) ? 60 : 1 + random.int(4)
    yield* ask(`/carts/${cartId}/items`, {
      headers,
      body: { ...sold, quantity, ...variantId !== null && { variantId } }
    })
  }
  const key = { "idempotency-key": randomUUID() }
  const body = { cartId, paymentMethodId: "test", currency: "EUR", shippingAddress: address }
  const placed = yield* ask("/checkout", { headers: { ...headers, ...key }, body })
  assert.include([201, 422], placed.status, JSON.stringify(placed.body))
  // A few think better of it.
  if (placed.status === 201 && random.chance(0.08)) {
    yield* staff("PATCH", `/orders/${placed.text("data.id")}/status`, { status: "cancelled" })
  }
})

/** Twenty-four hours of random events, in which a third of the webhooks is lost and the process killed three times. */
export const live = Effect.fnUntraced(function*(world: StoreDay) {
  const { pass, place, rested, seed, shopify, woo } = world
  const random = randomOf(seed + 1)
  const shops = [{ shop: woo, keeper: wooShopkeeper(woo) }, { shop: shopify, keeper: shopifyShopkeeper(shopify) }]
  const calls = randomOf(seed + 2)
  const usual = () => {
    for (const { shop } of shops) shop.unreliable(calls, 0.04)
  }
  for (const { shop } of shops) shop.deliveries.unreliable(randomOf(seed + 3), 1)
  usual()
  const kills = new Set([0, 1, 2].map((third) => third * 8 + random.int(7)))
  const deadHour = random.int(24)
  const dead = random.chance(0.5) ? woo : shopify
  const customers: Array<Fiber.Fiber<void>> = []
  for (let hour = 0; hour < 24; hour++) {
    if (hour === deadHour) dead.unreliable(calls, 1, ["drop"])
    if (hour === deadHour + 1) usual()
    const killAt = kills.has(hour) ? random.int(8) : -1
    for (let turn = 0; turn < 8; turn++) {
      for (const { keeper } of shops) if (random.chance(0.7)) happen(keeper, random)
      if (random.chance(0.25)) customers.push(yield* Effect.forkScoped(buy(world, randomOf(random.int(1_000_000)))))
      if (turn === killAt) yield* place.kill
      // The service works meanwhile, or is dead.
      else {yield* Effect.ignore(
          Effect.replicateEffect(callOf(world.publicUrl)("GET", "/api/health", {}), random.int(6))
        )}
    }
    if (killAt >= 0) {
      yield* pass(60 * minute)
      yield* place.replace
      continue
    }
    yield* Effect.forEach(customers.splice(0), Fiber.join)
    yield* rested
    yield* pass(60 * minute)
  }
  yield* Effect.forEach(customers, Fiber.join)
  for (const { shop } of shops) {
    shop.unreliable(calls, 0)
    shop.deliveries.unreliable(calls, 0)
  }
})

/** Lets pass what jobs wait for and the time after which an order that no store takes is refunded. */
export const settle = Effect.fnUntraced(function*({ pass, rested, url }: StoreDay) {
  for (const hours of [1, 4, 6, 12, 12]) {
    yield* rested
    yield* pass(hours * 60 * minute)
    yield* enqueueFrom(url, "channel/reap-exports", 1, 1)
  }
  yield* rested
})
