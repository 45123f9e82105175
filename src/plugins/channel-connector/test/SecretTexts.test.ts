import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { startShopify } from "../../../../test/support/channels/ShopifyShop.ts"
import { startWooCommerce } from "../../../../test/support/channels/WooCommerceShop.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { webhookReceiver } from "../../../../test/support/WebhookReceiver.ts"
import { shopify, woocommerce } from "../index.ts"
import { signedBy } from "./MemoryStore.ts"
import { openOrderShop, type OrderShop } from "./OrderShop.ts"

const webhookSecret = "webhook-secret-of-a-store"
const currency = "USD"

/** Emulated stores, a receiver of their webhooks, and every secret of theirs. */
const emulated = Effect.gen(function*() {
  const [woo, store, receiver] = yield* Effect.all([
    startWooCommerce({ currency }),
    startShopify({ currency }),
    webhookReceiver()
  ])
  const { clientId, clientSecret } = store.tokens
  const { consumerKey, consumerSecret } = woo.keys
  const basic = Buffer.from(`${consumerKey}:${consumerSecret}`).toString("base64")
  const secrets = [consumerKey, consumerSecret, basic, clientSecret, store.tokens.permanent, webhookSecret]
  const grant = store.tokens.grant.bind(store.tokens)
  const issued: Array<string> = []
  store.tokens.grant = (call) => {
    const answer = grant(call)
    const { access_token: token, refresh_token: refresh } = Object(answer.body)
    issued.push(...[token, refresh].filter((one) => one !== undefined))
    return answer
  }
  // Each use renews a token that ends so soon.
  store.tokens.seconds = 60
  const pair = () => {
    const query = new URLSearchParams({ client_id: clientId, redirect_uri: "http://app.example" })
    const call = { method: "GET", path: "", headers: {}, body: "", query }
    const consent = new URL(store.tokens.authorize(call).headers?.["location"] ?? "")
    const code = consent.searchParams.get("code") ?? ""
    const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, code, expiring: "1" })
    const { access_token: accessToken, refresh_token: refreshToken } = Object(
      store.tokens.grant({ ...call, body: body.toString() }).body
    )
    return { accessToken, refreshToken, expiresAt: new Date(Date.now() + 60_000).toISOString() }
  }
  return { woo, store, receiver, secrets, issued, pair }
})

describe("secrets of stores", () => {
  const scope = Scope.makeUnsafe()
  let shop: OrderShop
  let stores: Effect.Success<typeof emulated>
  const output: Array<string> = []
  const [out, error] = [process.stdout.write, process.stderr.write]
  beforeAll(async () => {
    for (const stream of [process.stdout, process.stderr]) {
      stream.write = (text: string | Uint8Array) => output.push(String(text)) > 0
    }
    stores = await Effect.runPromise(Effect.provideService(emulated, Scope.Scope, scope))
    const { receiver, store: { tokens: { clientId, clientSecret }, url }, woo } = stores
    const app = { clientId, clientSecret: Redacted.make(clientSecret), scopes: ["read_products"] }
    shop = await openOrderShop({
      adapters: [woocommerce, { ...shopify({ app }), admits: () => true }],
      origins: [woo.url, url],
      publicUrl: new URL(receiver.url).origin
    })
  })
  afterAll(async () => {
    process.stdout.write = out
    process.stderr.write = error
    await shop.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const answers: Array<unknown> = []
  const keep = async (method: string, path: string, body?: unknown) =>
    answers.push((await shop.ask(method, `/channels${path}`, body)).body)

  /** Asserts that no table, answer or line of the log has one of these texts. */
  const unseen = async (secrets: ReadonlyArray<string>) => {
    const tables = await shop.app.db.query(
      "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'"
    )
    assert.isAbove(tables.length, 100)
    const patterns = JSON.stringify(secrets.map((secret) => `%${secret}%`))
    for (const { table_name: name } of tables) {
      const rows = await shop.app.db.query(
        `select t::text as row from "${name}" t
         where t::text like any(array(select jsonb_array_elements_text($1::text::jsonb))) limit 1`,
        [patterns]
      )
      assert.deepStrictEqual(rows, [], String(name))
    }
    for (const secret of secrets) {
      assert.notInclude(JSON.stringify(answers), secret)
      assert.notInclude(output.join(""), secret)
    }
  }

  it("are in no column of the database, no answer and no log", async () => {
    const key = "refused-key-of-a-store"
    const id = await shop.connect({ credentials: { key }, webhookSecret })
    await shop.until(id, "error")
    await keep("GET", `/stores/${id}`)
    await keep("GET", "/stores")
    await keep("PUT", `/stores/${id}/credentials`, {
      credentials: { key, expiresAt: "2001-01-01T00:00:00Z" },
      webhookSecret
    })
    await keep("PUT", `/stores/${id}/credentials`, { credentials: { secret: key }, webhookSecret })
    await shop.settled(id)
    shop.memory.keys.add(key)
    await keep("PUT", `/stores/${id}/credentials`, {
      credentials: { key, expiresAt: "2001-01-01T00:00:00Z" },
      webhookSecret
    })
    await shop.until(id, "connected")
    const { body, headers } = signedBy(webhookSecret, `{"topic":"product","id":"p1"}`, "d")
    await shop.app.app.request("POST", `/api/channels/webhooks/${id}`, { body: Buffer.from(body).toString(), headers })
    await keep("GET", "/deliveries")
    await shop.settled(id)
    assert.strictEqual(shop.memory.renewed, 2)
    await unseen([key, webhookSecret, "renewed-key-1"])
  })

  /** Passes the webhooks on that arrived. */
  const deliver = async (id: string) => {
    const { receiver, store, woo } = stores
    await Promise.all([woo.deliveries.settled(), store.deliveries.settled()])
    for (const { body, headers, path } of receiver.received) {
      await shop.app.app.request("POST", path, {
        body,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
      })
    }
    await shop.settled(id)
  }
  /** Sells goods of a store, which gives all of the money back, and reconciles it. */
  const sell = async (id: string, refundAll: () => void) => {
    await shop.ran(id, "import")
    await shop.grown(id)
    const [goods] = await shop.app.db.query(
      "select entity_id, variant_id from channel_entity_map where store_id = $1 and kind = 'variant'",
      [id]
    )
    const thing = { id: String(goods?.["entity_id"]), variantId: goods?.["variant_id"] }
    const orderId = await shop.order([[thing, 1]])
    await shop.exported(orderId, id, "confirmed")
    refundAll()
    await deliver(id)
    await waitFor("the money is back", async () => Number((await shop.orderOf(orderId)).at("data.refundedTotal")) > 0)
    await shop.done("POST", `/stores/${id}/reconcile`)
    await shop.ran(id, "reconcile")
    await keep("GET", "/exports")
    await keep("GET", "/refund-requests?state=executed")
    await keep("GET", "/runs")
    await keep("GET", "/deliveries")
  }

  it("of WooCommerce are nowhere after its goods were sold and its calls failed", async () => {
    const { secrets, woo } = stores
    const { consumerKey, consumerSecret } = woo.keys
    woo.catalog.create({ name: "Mug", sku: "mug", regular_price: "9.00", manage_stock: true, stock_quantity: 9 })
    const named = { provider: "woocommerce", storeDomain: woo.url, webhookSecret }
    const id = await shop.connect({ ...named, credentials: { consumerKey, consumerSecret: "cs_wrong_secret" } })
    await shop.until(id, "error")
    woo.fault("GET", "break", 2)
    await keep("PUT", `/stores/${id}/credentials`, { credentials: { consumerKey, consumerSecret }, webhookSecret })
    await shop.until(id, "connected")
    woo.fault("POST /wp-json/wc/v3/orders", "limit")
    await sell(id, () => {
      for (const { id: orderId, lines: [line] } of woo.orders.orders.values()) {
        const lines = [{ id: line?.id, quantity: 1, refund_total: 9 }]
        woo.orders.refund(orderId, { amount: "9.00", api_refund: false, line_items: lines })
      }
    })
    await unseen([...secrets, "cs_wrong_secret"])
  })

  it("of Shopify are nowhere after its goods were sold, its calls failed and its tokens were renewed", async () => {
    const { issued, pair, secrets, store } = stores
    store.catalog.add({ title: "Cup", variants: [{ sku: "cup", price: 900, stock: 9 }] })
    const named = { provider: "shopify", storeDomain: store.url, webhookSecret }
    const id = await shop.connect({ ...named, credentials: { accessToken: "shpat_wrong_token" } })
    await shop.until(id, "error")
    await keep("PUT", `/stores/${id}/credentials`, { credentials: pair(), webhookSecret })
    await shop.until(id, "connected")
    store.fault("orderCreate", "limit")
    await sell(id, () => {
      for (const order of store.orders.orders.values()) store.orders.cancel(order)
    })
    store.tokens.revoke({ refreshes: true })
    await shop.done("POST", `/stores/${id}/reconcile`)
    await shop.until(id, "error")
    await keep("GET", `/stores/${id}`)
    assert.isAbove(issued.length, 4)
    await unseen([...secrets, ...issued, "shpat_wrong_token"])
  })
})
