import { Effect, Redacted, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { type ChannelWebhooks, isSigned } from "../ChannelAdapter.ts"
import type { WooApi } from "./WooApi.ts"

const texts = { topic: Schema.String, delivery_url: Schema.String, status: Schema.String }
const Webhook = Schema.Struct({ id: Schema.Int, ...texts })

/** A removal says the id alone, which WordPress may write as a text. */
const RemoteId = Schema.Union([
  Schema.Int,
  Schema.String.check(Schema.isPattern(/^\d{1,18}$/, { expected: "a number" }))
])
const Body = Schema.Struct({
  id: RemoteId,
  type: Schema.optional(Schema.Unknown),
  parent_id: Schema.optional(RemoteId)
})
const readBody = Schema.decodeUnknownOption(Schema.fromJsonString(Body))

/** Webhooks, signed with the secret that we registered. The ping before WooCommerce answers a registration is not, and refused. */
export const wooWebhooks = (api: WooApi, secret: Redacted.Redacted<string>): ChannelWebhooks => ({
  topics: ["product.created", "product.updated", "product.deleted", "product.restored", "order.updated"],
  list: Effect.map(
    Stream.runCollect(api.rows(Webhook, "webhooks")),
    (found) =>
      found.map(({ delivery_url: address, id, status, topic }) => ({
        externalId: `${id}`,
        topic,
        address,
        isActive: status === "active"
      }))
  ),
  register: (topic, address, before) =>
    Effect.asVoid(api.send(Schema.Unknown, before === undefined ? "webhooks" : `webhooks/${before.externalId}`, {
      method: before === undefined ? "POST" : "PUT",
      body: { name: "Stoa", topic, delivery_url: address, secret: Redacted.value(secret), status: "active" }
    })),
  unregister: (externalId) =>
    Effect.asVoid(api.find(Schema.Unknown, `webhooks/${externalId}?force=true`, { method: "DELETE" })),
  isGenuine: ({ body, headers }) => isSigned(body, headers["x-wc-webhook-signature"], secret),
  read: ({ body, headers }) => {
    const read = readBody(Buffer.from(body).toString("utf8"))
    if (read._tag === "None") return undefined
    const { id, parent_id, type } = read.value
    const topic = headers["x-wc-webhook-topic"] ?? ""
    const kind = topic.startsWith("order.") ? "order" : "product"
    // Two events of a webhook in one second have the same id.
    const deliveryId = `${headers["x-wc-webhook-delivery-id"]}-${createHash("sha256").update(body).digest("hex")}`
    return { deliveryId, topic, hints: [{ kind, externalId: `${type === "variation" && parent_id || id}` }] }
  }
})
