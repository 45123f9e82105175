import { createHmac, randomUUID } from "node:crypto"
import { Deliveries, type Parcel } from "./Deliveries.ts"
import { connection, gid, idIn, isoTime, type PageArgs, type ShopifyContext, type ShopifySite } from "./ShopifyPages.ts"

export interface ShopifySubscription {
  readonly id: number
  readonly topic: string
  readonly uri: string
  readonly created: number
}

/** Eight repetitions, each after twice the time of the one before, in four hours. */
const repetitionsMs = Array.from({ length: 8 }, (_, n) => 56_470 * 2 ** n)

/** Webhook subscriptions of the emulated Shopify. One whose delivery failed nine times is removed. */
export class ShopifyWebhooks {
  readonly subscriptions = new Map<number, ShopifySubscription>()
  readonly deliveries: Deliveries
  private readonly repetitions: Array<{ readonly due: number; readonly go: () => void }> = []
  private readonly site: ShopifySite
  private readonly secret: string
  private readonly version: string

  constructor(site: ShopifySite, secret: string, version: string, timeoutMs: number) {
    this.site = site
    this.secret = secret
    this.version = version
    this.deliveries = new Deliveries(timeoutMs)
  }

  create = (
    { topic, webhookSubscription: { uri } }: { topic: string; webhookSubscription: { uri?: string | null } }
  ) => {
    const refuse = (message: string) => ({
      webhookSubscription: null,
      userErrors: [{ field: ["webhookSubscription", "uri"], message }]
    })
    if (!/^https?:\/\//.test(uri ?? "")) return refuse("Address is invalid")
    const twice = [...this.subscriptions.values()].some((one) => one.topic === topic && one.uri === uri)
    if (twice) return refuse("Address for this topic has already been taken")
    const subscription = { id: this.site.nextId(), topic, uri: uri ?? "", created: this.site.now() }
    this.subscriptions.set(subscription.id, subscription)
    return { webhookSubscription: this.view(subscription), userErrors: [] }
  }

  delete = ({ id }: { id: string }) => {
    if (this.subscriptions.delete(idIn("WebhookSubscription", id) ?? 0)) {
      return { deletedWebhookSubscriptionId: id, userErrors: [] }
    }
    return {
      deletedWebhookSubscriptionId: null,
      userErrors: [{ field: ["id"], message: "Webhook subscription does not exist" }]
    }
  }

  list = (args: PageArgs & { topics?: ReadonlyArray<string> | null }, context: ShopifyContext) =>
    connection(
      () => [...this.subscriptions.values()].filter(({ topic }) => args.topics?.includes(topic) ?? true),
      (one) => this.view(one)
    )(args, context)

  /** Tells the subscriptions of a topic such as `products/update`. */
  tell(topic: string, payload: object): void {
    const named = topic.toUpperCase().replace("/", "_")
    const event = randomUUID()
    for (const one of [...this.subscriptions.values()].filter((subscription) => subscription.topic === named)) {
      this.attempt(this.parcel(one.uri, topic, payload, event), () => this.subscriptions.delete(one.id))
    }
  }

  /** Sends a webhook of the app itself, which needs no subscription: `customers/redact` and its like. */
  tellApp(uri: string, topic: string, payload: object): void {
    this.attempt(this.parcel(uri, topic, payload, randomUUID()), () => undefined)
  }

  /** Sends the repetitions that are due by the clock. */
  async repeatDue(): Promise<void> {
    const due = this.repetitions.filter((one) => one.due <= this.site.now())
    for (const one of due) {
      this.repetitions.splice(this.repetitions.indexOf(one), 1)
      one.go()
    }
    await this.deliveries.settled()
  }

  /** A repetition has the id and the body of the first attempt. */
  private attempt(parcel: Parcel, giveUp: () => void, failures = 0): void {
    this.deliveries.send(parcel, (status) => {
      if (status !== undefined && status >= 200 && status < 300) return
      const wait = repetitionsMs[failures]
      if (wait === undefined) return giveUp()
      this.repetitions.push({ due: this.site.now() + wait, go: () => this.attempt(parcel, giveUp, failures + 1) })
    })
  }

  private parcel(url: string, topic: string, payload: object, event: string): Parcel {
    const body = JSON.stringify(payload)
    const headers = {
      "Content-Type": "application/json",
      "User-Agent": "Shopify-Captain-Hook",
      "X-Shopify-Topic": topic,
      "X-Shopify-Hmac-Sha256": createHmac("sha256", this.secret).update(body).digest("base64"),
      "X-Shopify-Shop-Domain": this.site.domain,
      "X-Shopify-API-Version": this.version,
      "X-Shopify-Webhook-Id": randomUUID(),
      "X-Shopify-Event-Id": event,
      "X-Shopify-Triggered-At": new Date(this.site.now()).toISOString()
    }
    return { url, topic, headers, body }
  }

  private view({ created, id, topic, uri }: ShopifySubscription) {
    return {
      __typename: "WebhookSubscription",
      id: gid("WebhookSubscription", id),
      topic,
      uri,
      format: "JSON",
      apiVersion: { handle: this.version, displayName: this.version, supported: true },
      createdAt: isoTime(created),
      updatedAt: isoTime(created)
    }
  }
}
