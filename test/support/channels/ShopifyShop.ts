import { Effect, type Scope } from "effect"
import { type DocumentNode, executeSync, GraphQLError, parse, validate } from "graphql"
import type { Deliveries } from "./Deliveries.ts"
import type { ShopifyBulk } from "./ShopifyBulk.ts"
import { ShopifyCatalog } from "./ShopifyCatalog.ts"
import { CostBucket, requestedCost } from "./ShopifyCost.ts"
import { ShopifyOrders } from "./ShopifyOrders.ts"
import type { ShopifyContext, ShopifySite } from "./ShopifyPages.ts"
import { ShopifyRoot } from "./ShopifyRoot.ts"
import { servedVersion, shopifySchema, shopifyVersions } from "./ShopifySchema.ts"
import { ShopifyTokens } from "./ShopifyTokens.ts"
import { ShopifyWebhooks } from "./ShopifyWebhooks.ts"
import { type Answer, type Call, serveShop, type ShopServer } from "./ShopServer.ts"

export interface ShopifyOptions {
  /** Milliseconds; the system's clock by default. */
  readonly now?: () => number
  readonly currency?: string
  readonly taxesIncluded?: boolean
  /** The address of the shop by default. */
  readonly domain?: string
  readonly webhookTimeoutMs?: number
}

/** An emulated Shopify. What a test does here counts as done by the shop's staff and sends webhooks. */
export interface ShopifyShop extends ShopServer {
  readonly domain: string
  readonly catalog: ShopifyCatalog
  readonly orders: ShopifyOrders
  readonly bulk: ShopifyBulk
  readonly bucket: CostBucket
  readonly tokens: ShopifyTokens
  readonly webhooks: ShopifyWebhooks
  readonly deliveries: Deliveries
  /** The merchant removes the app: its tokens end and its subscriptions go. */
  readonly uninstall: () => void
}

class Endpoint {
  private readonly root: ShopifyRoot
  private readonly tokens: ShopifyTokens
  private readonly bucket: CostBucket

  constructor(root: ShopifyRoot, tokens: ShopifyTokens, bucket: CostBucket) {
    this.root = root
    this.tokens = tokens
    this.bucket = bucket
  }

  answer(call: Call): Answer {
    const { method, path } = call
    if (path === "/admin/oauth/authorize") return this.tokens.authorize(call)
    if (path === "/admin/oauth/access_token" && method === "POST") return this.tokens.grant(call)
    const file = /^\/bulk\/(\d+)\.jsonl$/.exec(path)?.[1]
    const lines = file === undefined ? undefined : this.root.bulk.file(Number(file))
    if (lines !== undefined) return fileFrom(lines, call.headers.range)
    const version = servedVersion(/^\/admin\/api\/([^/]+)\/graphql\.json$/.exec(path)?.[1] ?? "")
    if (version === undefined || method !== "POST") return { status: 404, body: { errors: "Not Found" } }
    if (!this.tokens.isValid([call.headers["x-shopify-access-token"]].flat()[0])) {
      return {
        status: 401,
        body: { errors: "[API] Invalid API key or access token (unrecognized login or wrong password)" }
      }
    }
    const request = requestOf(call.body)
    if (request === undefined) {
      return { status: 400, body: { errors: { query: "Required parameter missing or invalid" } } }
    }
    return {
      status: 200,
      headers: { "X-Shopify-API-Version": version },
      body: this.execute(request, { version, bulk: false })
    }
  }

  throttled(cost: number) {
    return {
      errors: [{
        message: "Throttled",
        extensions: { code: "THROTTLED", documentation: "https://shopify.dev/api/usage/rate-limits" }
      }],
      extensions: { cost: { requestedQueryCost: cost, actualQueryCost: null, throttleStatus: this.bucket.status() } }
    }
  }

  private execute(
    { query, variables }: NonNullable<ReturnType<typeof requestOf>>,
    contextValue: ShopifyContext
  ): object {
    const schema = shopifySchema(contextValue.version)
    const document = documentOf(query)
    if (document instanceof GraphQLError) return { errors: [document] }
    const errors = validate(schema, document)
    if (errors.length > 0) return { errors }
    const cost = requestedCost(document, variables)
    if (cost > 1_000) {
      const message = `Query cost is ${cost}, which exceeds the single query max cost limit (1000).`
      return { errors: [{ message, extensions: { code: "MAX_COST_EXCEEDED", cost, maxCost: 1_000 } }] }
    }
    if (!this.bucket.take(cost)) return this.throttled(cost)
    const result = executeSync({
      schema,
      document,
      rootValue: this.root.fields(),
      contextValue,
      variableValues: variables
    })
    const throttleStatus = this.bucket.status()
    return { ...result, extensions: { cost: { requestedQueryCost: cost, actualQueryCost: cost, throttleStatus } } }
  }
}

/** Files lie in a storage that knows ranges. */
const fileFrom = (text: string, range: string | undefined): Answer => {
  const [, from] = /^bytes=(\d+)-$/.exec(range ?? "") ?? []
  const headers = { "content-type": "application/jsonl" }
  return from === undefined
    ? { status: 200, headers, body: text }
    : { status: 206, headers, body: Buffer.from(text).subarray(Number(from)).toString() }
}

const requestOf = (
  body: string
): { readonly query: string; readonly variables: Record<string, unknown> } | undefined => {
  try {
    const { query, variables } = JSON.parse(body)
    return { query: String(query), variables: variables ?? {} }
  } catch {
    return undefined
  }
}

const documentOf = (query: string): DocumentNode | GraphQLError => {
  try {
    return parse(query)
  } catch (error) {
    if (error instanceof GraphQLError) return error
    throw error
  }
}

/** Starts a Shopify with one app. It ends with the scope. */
export const startShopify = (options: ShopifyOptions = {}): Effect.Effect<ShopifyShop, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { currency = "EUR", now = Date.now, taxesIncluded = true, webhookTimeoutMs = 5_000 } = options
    const parts: { endpoint?: Endpoint } = {}
    const nowhere: Answer = { status: 404, body: {} }
    const server = yield* serveShop({
      answer: (call) => parts.endpoint?.answer(call) ?? nowhere,
      limited: () => ({ status: 200, body: parts.endpoint?.throttled(10) })
    })
    const domain = options.domain ?? new URL(server.url).host
    let ids = 1_000
    const site: ShopifySite = {
      url: server.url,
      domain,
      now,
      nextId: () => ++ids,
      currency,
      taxesIncluded,
      tell: (topic, payload) => webhooks.tell(topic, payload)
    }
    const tokens = new ShopifyTokens(now, domain)
    const bucket = new CostBucket(now)
    const webhooks = new ShopifyWebhooks(
      site,
      tokens.clientSecret,
      shopifyVersions[shopifyVersions.length - 1] ?? "",
      webhookTimeoutMs
    )
    const catalog = new ShopifyCatalog(site)
    const orders = new ShopifyOrders(site, catalog)
    const root = new ShopifyRoot(site, catalog, orders, webhooks)
    parts.endpoint = new Endpoint(root, tokens, bucket)
    return {
      ...server,
      domain,
      catalog,
      orders,
      bulk: root.bulk,
      bucket,
      tokens,
      webhooks,
      deliveries: webhooks.deliveries,
      uninstall: () => {
        tokens.revoke({ refreshes: true })
        webhooks.tell("app/uninstalled", { id: 1, name: "Emulated", domain, myshopify_domain: domain })
        webhooks.subscriptions.clear()
      }
    }
  })
