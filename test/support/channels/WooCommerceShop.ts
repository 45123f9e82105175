import { Effect, type Scope } from "effect"
import type { Deliveries } from "./Deliveries.ts"
import { type Answer, type Call, serveShop, type ShopServer } from "./ShopServer.ts"
import { WooCatalog } from "./WooCatalog.ts"
import { WooOrders } from "./WooOrders.ts"
import { byId, idsOf, jsonOf, paged, WooRefusal } from "./WooRequests.ts"
import { WooWebhooks } from "./WooWebhooks.ts"

export interface WooOptions {
  /** Milliseconds; the system's clock by default. */
  readonly now?: () => number
  /** The shop's zone ahead of UTC, one hour by default. */
  readonly offsetHours?: number
  readonly currency?: string
  readonly pricesIncludeTax?: boolean
  readonly weightUnit?: "kg" | "g" | "lbs" | "oz"
  readonly taxPercent?: number
  readonly webhookTimeoutMs?: number
}

/** An emulated WooCommerce. What a test does here counts as done by the shop's staff and sends webhooks. */
export interface WooCommerceShop extends ShopServer {
  readonly keys: { readonly consumerKey: string; readonly consumerSecret: string; readonly readOnlyKey: string }
  readonly catalog: WooCatalog
  readonly orders: WooOrders
  readonly webhooks: WooWebhooks
  readonly deliveries: Deliveries
}

const keys = { consumerKey: "ck_emulated", consumerSecret: "cs_emulated", readOnlyKey: "ck_read" }

const unauthenticated = new WooRefusal(401, "woocommerce_rest_cannot_view", "Sorry, you cannot list resources.")
const authenticate = ({ headers, method }: Call) => {
  const [key, secret] = Buffer.from((headers.authorization ?? "").replace("Basic ", ""), "base64").toString().split(":")
  const known = key === keys.consumerKey || key === keys.readOnlyKey
  if (!known || secret === undefined) throw unauthenticated
  const refused = (message: string) => new WooRefusal(401, "woocommerce_rest_authentication_error", message)
  if (secret !== keys.consumerSecret) throw refused("Consumer secret is invalid.")
  if (key === keys.readOnlyKey && method !== "GET") {
    throw refused("The API key provided does not have write permissions.")
  }
}

const limited = (): Answer => ({ status: 429, headers: { "Retry-After": "1" }, body: "Too Many Requests" })
const noRoute = new WooRefusal(404, "rest_no_route", "No route was found matching the URL and request method.")
const ok = (body: object): Answer => ({ status: 200, body })
const created = (body: object): Answer => ({ status: 201, body })

/** Create, update and delete in one request; an item that fails leaves the others. */
const batch = (
  input: unknown,
  work: { readonly [Action in "create" | "update" | "delete"]: (item: unknown) => object }
): Answer => {
  const lists = Object.entries(work).flatMap(([action, run]) => {
    const items: unknown = typeof input === "object" && input !== null
      ? Object.entries(input).find(([name]) => name === action)?.[1]
      : undefined
    return Array.isArray(items) ? [{ action, run, items }] : []
  })
  if (lists.reduce((sum, { items }) => sum + items.length, 0) > 100) {
    const message = "Unable to accept more than 100 items for this request."
    throw new WooRefusal(413, "woocommerce_rest_request_entity_too_large", message)
  }
  const attempt = (run: (item: unknown) => object, item: unknown, id: number): object => {
    try {
      return run(item)
    } catch (error) {
      if (error instanceof WooRefusal) return { id, error: error.answer.body }
      throw error
    }
  }
  return ok(Object.fromEntries(lists.map(({ action, items, run }) => [
    action,
    items.map((item) => attempt(run, item, action === "create" ? 0 : idOf(item)))
  ])))
}

/** The id of an item of a batch, which is the item itself when it is to be deleted. */
const idOf = (item: unknown): number =>
  Number(typeof item === "object" && item !== null && "id" in item ? item.id : item)

/** A text as WordPress shows it. */
const rendered = (text: string): string => text === "" ? "" : `<p>${text.replaceAll("\n", "<br />\n")}</p>\n`

class Routes {
  private readonly site: {
    readonly url: string
    readonly currency: string
    readonly pricesIncludeTax: boolean
    readonly weightUnit: string
  }
  private readonly catalog: WooCatalog
  private readonly orders: WooOrders
  private readonly webhooks: WooWebhooks

  constructor(site: Routes["site"], catalog: WooCatalog, orders: WooOrders, webhooks: WooWebhooks) {
    this.site = site
    this.catalog = catalog
    this.orders = orders
    this.webhooks = webhooks
  }

  async answer(call: Call): Promise<Answer> {
    const [root, resource = "", ...rest] = call.path.replace("/wp-json/wc/v3/", "v3/").split("/")
    if (root !== "v3") throw noRoute
    authenticate(call)
    if (resource === "products") return this.products(call, rest)
    if (resource === "orders") return this.orderRoutes(call, rest)
    if (resource === "webhooks") return this.hooks(call, rest)
    if (resource === "settings" && call.method === "GET") return this.settings(rest)
    if (resource !== "system_status") throw noRoute
    const { currency, url } = this.site
    return ok({
      environment: { home_url: url, site_url: url, wc_version: "10.3.0", wp_version: "6.9", version: "10.3.0" },
      settings: { currency, number_of_decimals: 2, thousand_separator: ",", decimal_separator: "." }
    })
  }

  private products(call: Call, path: ReadonlyArray<string>): Answer {
    const [first = "", second, third] = path
    if (["categories", "brands", "tags", "attributes"].includes(first)) return this.terms(call, path)
    if (second === undefined) return this.productRoutes(call, first)
    if (second !== "variations") throw noRoute
    this.catalog.get(Number(first))
    return this.productRoutes(call, third ?? "", Number(first))
  }

  private productRoutes({ body, method, query }: Call, id: string, parent?: number): Answer {
    const { catalog } = this
    const view = (one: Parameters<WooCatalog["view"]>[0]) => {
      const shown = catalog.view(one)
      // Only `edit` shows texts as they were written.
      return query.get("context") === "edit" ? shown : { ...shown, description: rendered(shown.description) }
    }
    if (id === "batch" && method !== "GET") {
      return batch(jsonOf(body), {
        create: (item) => view(catalog.create(item, parent)),
        update: (item) => view(catalog.change(idOf(item), item, parent)),
        delete: (item) => view(catalog.remove(idOf(item), true, parent))
      })
    }
    if (id === "") {
      return method === "POST"
        ? created(view(catalog.create(jsonOf(body), parent)))
        : paged(query, catalog.find(query, parent), view, (one) => !catalog.broken.has(one.id))
    }
    if (!/^\d+$/.test(id)) throw noRoute
    if (method === "DELETE") return ok(view(catalog.remove(Number(id), query.get("force") === "true", parent)))
    return ok(
      view(method === "GET" ? catalog.get(Number(id), parent) : catalog.change(Number(id), jsonOf(body), parent))
    )
  }

  private terms({ body, method, query }: Call, parts: ReadonlyArray<string>): Answer {
    const id = parts.length % 2 === 0 ? Number(parts.at(-1)) : undefined
    const taxonomy = (id === undefined ? parts : parts.slice(0, -1)).join("/")
    const all = (this.catalog.terms.get(taxonomy) ?? []).toSorted((left, right) => left.name < right.name ? -1 : 1)
    if (id === undefined) {
      return method === "POST"
        ? created(this.catalog.addTerm(taxonomy, jsonOf(body)))
        : paged(query, all.filter((term) => idsOf(query, "include")?.includes(term.id) ?? true), (term) => term)
    }
    const found = all.find((term) => term.id === id)
    if (found === undefined) throw new WooRefusal(404, "woocommerce_rest_term_invalid", "Resource does not exist.")
    return ok(found)
  }

  private orderRoutes(
    { body, method, query }: Call,
    [id = "", refunds, refundId]: ReadonlyArray<string>
  ): Answer {
    const { orders } = this
    const view = (one: Parameters<WooOrders["view"]>[0]) => orders.view(one)
    if (id === "") {
      return method === "POST"
        ? created(view(orders.create(jsonOf(body))))
        : paged(query, orders.find(query), view)
    }
    if (refunds === "refunds") {
      if (method === "POST") return created(orders.refund(Number(id), jsonOf(body)))
      const order = orders.get(Number(id))
      const all = byId(query, order.refunds.toReversed())
      if (refundId === undefined) return paged(query, all, (one) => orders.refundView(one, order))
      const found = all.find((one) => String(one.id) === refundId)
      if (found !== undefined) return ok(orders.refundView(found, order))
      throw new WooRefusal(404, "woocommerce_rest_invalid_order_refund_id", "Invalid order refund ID.")
    }
    if (method === "DELETE") return ok(view(orders.remove(Number(id), query.get("force") === "true")))
    return ok(view(method === "GET" ? orders.get(Number(id)) : orders.change(Number(id), jsonOf(body))))
  }

  private async hooks({ body, method, query }: Call, [id = ""]: ReadonlyArray<string>): Promise<Answer> {
    const { webhooks } = this
    if (id === "") {
      return method === "POST"
        ? created(webhooks.view(await webhooks.create(jsonOf(body))))
        : paged(query, byId(query, webhooks.find(query)), (one) => webhooks.view(one))
    }
    if (method === "GET") return ok(webhooks.view(webhooks.get(Number(id))))
    if (method === "DELETE") return ok(webhooks.view(webhooks.remove(Number(id), query.get("force") === "true")))
    return ok(webhooks.view(await webhooks.change(Number(id), jsonOf(body))))
  }

  private settings([group, id]: ReadonlyArray<string>): Answer {
    const settings = [
      { group: "general", id: "woocommerce_currency", type: "select", value: this.site.currency },
      { group: "products", id: "woocommerce_weight_unit", type: "select", value: this.site.weightUnit },
      {
        group: "tax",
        id: "woocommerce_prices_include_tax",
        type: "radio",
        value: this.site.pricesIncludeTax ? "yes" : "no"
      }
    ].filter((one) => one.group === group)
    if (settings.length === 0) {
      throw new WooRefusal(404, "rest_setting_setting_group_invalid", "Invalid setting group.")
    }
    if (id === undefined) return ok(settings)
    const found = settings.find((one) => one.id === id)
    if (found === undefined) throw new WooRefusal(404, "rest_setting_setting_invalid", "Invalid setting.")
    return ok(found)
  }
}

/** Starts a WooCommerce with one API key for everything and one that may only read. It ends with the scope. */
export const startWooCommerce = (options: WooOptions = {}): Effect.Effect<WooCommerceShop, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { currency = "EUR", now = Date.now, offsetHours = 1, pricesIncludeTax = true, taxPercent = 0 } = options
    const { weightUnit = "kg" } = options
    const parts: { answer: (call: Call) => Promise<Answer> } = { answer: () => Promise.reject(noRoute) }
    const server = yield* serveShop({
      limited,
      answer: (call) =>
        parts.answer(call).catch((error: unknown) => {
          if (error instanceof WooRefusal) return error.answer
          throw error
        })
    })
    let ids = 0
    const site = {
      url: server.url,
      // Dates of WooCommerce are whole seconds.
      now: () => Math.floor(now() / 1000) * 1000,
      nextId: () => ++ids,
      offsetMs: offsetHours * 3_600_000,
      currency,
      pricesIncludeTax,
      weightUnit,
      taxPercent,
      changed: (topic: string, id: number): void => {
        const record = topic.startsWith("order")
          ? () => orders.view(orders.get(id))
          : () => catalog.view(catalog.get(id))
        webhooks.tell(topic, topic.endsWith("deleted") ? { id } : record())
      }
    }
    const catalog = new WooCatalog(site)
    const orders = new WooOrders(site, catalog)
    const webhooks = new WooWebhooks(site, options.webhookTimeoutMs ?? 60_000)
    const routes = new Routes(site, catalog, orders, webhooks)
    parts.answer = (call) => routes.answer(call)
    return { ...server, keys, catalog, orders, webhooks, deliveries: webhooks.deliveries }
  })
