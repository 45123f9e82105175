import { Schema } from "effect"
import { createHash, createHmac, randomBytes } from "node:crypto"
import { Deliveries } from "./Deliveries.ts"
import type { WooSite } from "./WooCatalog.ts"
import { oneOf, reading, wooDates, WooRefusal } from "./WooRequests.ts"

const maybe = Schema.optionalKey
const topics = ["product", "order", "coupon", "customer"].flatMap((resource) =>
  ["created", "updated", "deleted", "restored"].map((event) => `${resource}.${event}`)
)
const statuses = ["active", "paused", "disabled"] as const

const readHook = reading(Schema.Struct({
  name: maybe(Schema.String),
  status: maybe(Schema.Literals(statuses)),
  topic: maybe(Schema.String),
  delivery_url: maybe(Schema.String),
  secret: maybe(Schema.String)
}))

export interface WooWebhook {
  readonly id: number
  readonly created: number
  readonly secret: string
  readonly name: string
  readonly topic: string
  readonly delivery_url: string
  status: (typeof statuses)[number]
  failures: number
  modified: number
}

/** Webhooks of the emulated WooCommerce. A failed delivery is not repeated, and five in a row disable the webhook. */
export class WooWebhooks {
  readonly hooks = new Map<number, WooWebhook>()
  readonly deliveries: Deliveries
  private readonly site: WooSite

  constructor(site: WooSite, timeoutMs: number) {
    this.site = site
    this.deliveries = new Deliveries(timeoutMs)
  }

  /** Creates a webhook; the ping comes before the answer, and its outcome counts for nothing. */
  async create(input: unknown): Promise<WooWebhook> {
    const { delivery_url, name = "Webhook", secret, topic = "" } = this.checked(input)
    if (topic === "") throw refused("invalid_topic", "Webhook topic is required and must be valid.")
    if (delivery_url === undefined) throw refused("invalid_delivery_url", invalidUrl)
    const [id, now] = [this.site.nextId(), this.site.now()]
    const hook: WooWebhook = {
      id,
      created: now,
      modified: now,
      name,
      topic,
      delivery_url,
      secret: secret || randomBytes(25).toString("hex"),
      status: "active",
      failures: 0
    }
    this.hooks.set(id, hook)
    await this.ping(hook)
    return hook
  }

  async change(id: number, input: unknown): Promise<WooWebhook> {
    const before = this.get(id, 400)
    const hook = { ...before, ...this.checked(input), modified: this.site.now() }
    this.hooks.set(id, hook)
    if (hook.delivery_url !== before.delivery_url) await this.ping(hook)
    return hook
  }

  remove(id: number, force: boolean): WooWebhook {
    if (!force) throw new WooRefusal(501, "woocommerce_rest_trash_not_supported", "Webhooks do not support trashing.")
    const hook = this.get(id)
    this.hooks.delete(id)
    return hook
  }

  get(id: number, status = 404): WooWebhook {
    const hook = this.hooks.get(id)
    if (hook !== undefined) return hook
    throw new WooRefusal(status, "woocommerce_rest_shop_webhook_invalid_id", "Invalid ID.")
  }

  find(query: URLSearchParams): ReadonlyArray<WooWebhook> {
    const status = oneOf(query, "status", ["all", ...statuses], "all")
    return [...this.hooks.values()].filter((one) => status === "all" || one.status === status).reverse()
  }

  view({ created, delivery_url, id, modified, name, status, topic }: WooWebhook) {
    const [resource, event] = topic.split(".")
    return {
      id,
      name,
      status,
      topic,
      resource,
      event,
      delivery_url,
      ...wooDates("date_created", created, this.site.offsetMs),
      ...wooDates("date_modified", modified, this.site.offsetMs)
    }
  }

  /** Tells the webhooks of a topic; `payload` is the record as it is now. */
  tell(topic: string, payload: object): void {
    for (const hook of [...this.hooks.values()].filter((one) => one.topic === topic && one.status === "active")) {
      const body = JSON.stringify(payload)
      const [resource = "", event = ""] = topic.split(".")
      const headers = {
        "Content-Type": "application/json",
        "User-Agent": "WooCommerce/10.3.0 Hookshot (WordPress/6.9)",
        "X-WC-Webhook-Source": `${this.site.url}/`,
        "X-WC-Webhook-Topic": topic,
        "X-WC-Webhook-Resource": resource,
        "X-WC-Webhook-Event": event,
        "X-WC-Webhook-Signature": createHmac("sha256", hook.secret).update(body).digest("base64"),
        "X-WC-Webhook-ID": String(hook.id),
        "X-WC-Webhook-Delivery-ID": this.deliveryId(hook)
      }
      this.deliveries.send({ url: hook.delivery_url, topic, headers, body }, (status) => {
        // The record may have been replaced by a change.
        const current = this.hooks.get(hook.id)
        if (current === undefined) return
        current.failures = status !== undefined && status >= 200 && status < 303 ? 0 : current.failures + 1
        if (current.failures >= 5) current.status = "disabled"
      })
    }
  }

  /** The id is made of the webhook and the second, so that two events of a second have the same one. */
  private deliveryId({ id }: WooWebhook): string {
    return createHash("md5").update(`${id}${Math.floor(this.site.now() / 1000)}`).digest("hex")
  }

  private async ping({ delivery_url, id }: WooWebhook): Promise<void> {
    const headers = { "Content-Type": "application/x-www-form-urlencoded" }
    await this.deliveries.post({ url: delivery_url, headers, body: `webhook_id=${id}` })
  }

  private checked(input: unknown) {
    const fields = readHook(input)
    if (fields.topic !== undefined && !topics.includes(fields.topic)) {
      throw refused("invalid_topic", "Webhook topic must be valid.")
    }
    if (fields.delivery_url !== undefined && !/^https?:\/\//.test(fields.delivery_url)) {
      throw refused("invalid_delivery_url", invalidUrl)
    }
    return fields
  }
}

const invalidUrl = "Webhook delivery URL must be a valid URL starting with http:// or https://."
const refused = (code: string, message: string) => new WooRefusal(400, `woocommerce_rest_shop_webhook_${code}`, message)
