import { Effect, Option, type Redacted, Schema } from "effect"
import type { ChannelWebhooks } from "../ChannelAdapter.ts"
import type { Hint } from "../ChannelRecords.ts"
import { Done, gid, Int, List, optional, refusal, type ShopifyCall, Struct, Text } from "./ShopifyApi.ts"
import { isGenuineShopify } from "./ShopifyApp.ts"

const Body = Struct({ id: optional(Int), order_id: optional(Int), inventory_item_id: optional(Int) })
const readBody = Schema.decodeUnknownOption(Schema.fromJsonString(Body))

const about = (kind: "product" | "order", id: number | undefined): Hint | undefined =>
  id === undefined ? undefined : { kind, externalId: String(id) }
const product = ({ id }: typeof Body.Type) => about("product", id)
const order = ({ id, order_id }: typeof Body.Type) => about("order", order_id ?? id)

const hints: Readonly<Record<string, (body: typeof Body.Type) => Hint | undefined>> = {
  "products/create": product,
  "products/update": product,
  "products/delete": product,
  // The payload does not name the variant: `read` of stock takes inventory items, too.
  "inventory_levels/update": ({ inventory_item_id: id }) =>
    id === undefined ? undefined : { kind: "stock", externalId: gid("InventoryItem", String(id)) },
  "orders/fulfilled": order,
  "orders/cancelled": order,
  "refunds/create": order,
  "app/uninstalled": () => ({ kind: "uninstalled" })
}
const topics = Object.keys(hints)
const enumOf = (topic: string) => topic.toUpperCase().replace("/", "_")

const listQuery = "{ found: webhookSubscriptions(first: 250) { nodes { id topic uri } } }"
const Listed = Struct({ found: Struct({ nodes: List(Struct({ id: Text, topic: Text, uri: Text })) }) })
const createQuery = `mutation ($topic: WebhookSubscriptionTopic!, $uri: String!) {
  done: webhookSubscriptionCreate(topic: $topic, webhookSubscription: { uri: $uri, format: JSON }) {
    userErrors { message } } }`
const deleteQuery = "mutation ($id: ID!) { done: webhookSubscriptionDelete(id: $id) { userErrors { message } } }"

/** Webhooks of an app, which signs them with its secret. */
export const shopifyWebhooks = (
  call: ShopifyCall,
  secrets: ReadonlyArray<Redacted.Redacted<string>>
): ChannelWebhooks => ({
  topics,
  list: Effect.map(call(Listed, listQuery), ({ found }) =>
    found.nodes.map(({ id, topic, uri }) => ({
      externalId: id,
      topic: topics.find((one) => enumOf(one) === topic) ?? topic,
      address: uri,
      isActive: true
    }))),
  register: (topic, address) =>
    Effect.flatMap(
      call(Done({}), createQuery, { topic: enumOf(topic), uri: address }),
      ({ done: { userErrors } }) => userErrors.length === 0 ? Effect.void : Effect.fail(refusal(userErrors))
    ),
  // The only refusal is that it does not exist.
  unregister: (id) => Effect.asVoid(call(Done({}), deleteQuery, { id })),
  isGenuine: (request) => secrets.some((secret) => isGenuineShopify(request, secret)),
  read: ({ body, headers }) => {
    const topic = headers["x-shopify-topic"] ?? ""
    const read = Option.getOrUndefined(readBody(Buffer.from(body).toString("utf8")))
    const hint = read && hints[topic]?.(read)
    if (read === undefined || topic in hints && hint === undefined) return undefined
    return { deliveryId: headers["x-shopify-webhook-id"] ?? "", topic, hints: hint === undefined ? [] : [hint] }
  }
})
