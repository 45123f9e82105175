import { Schema } from "effect"
import {
  boolean,
  CurrencyCode,
  EntityId,
  idOf,
  integerBetween,
  jsonOf,
  longText,
  machine,
  oneOf,
  type RowOf,
  secret,
  table,
  Text,
  text,
  timestamp,
  uuid,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { Hint } from "./ChannelRecords.ts"

/** Changes prices in one direction: first the percent, then `add`, then to a multiple of `roundTo` minor units. */
const PriceRule = Schema.Struct({
  percent: Schema.optional(Schema.Finite.check(Schema.isBetween({ minimum: -100, maximum: 1_000 }))),
  add: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: -1_000_000_000, maximum: 1_000_000_000 }))),
  roundTo: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })))
})
export type PriceRule = typeof PriceRule.Type

/** Which products take part; an empty list means all. */
const CatalogRule = Schema.Struct({
  statuses: Schema.optional(Schema.Array(Schema.Literals(["active", "draft", "archived", "discontinued"]))),
  categories: Schema.optional(Schema.Array(Text).check(Schema.isMaxLength(100)))
})

/** A file of a product feed. */
export const FeedFile = Schema.Struct({
  /** Its last part says the format: `de.xml`, `us.csv`, `all.jsonl`. */
  name: Schema.String.check(Schema.isPattern(/^[a-z0-9-]{1,60}\.(xml|csv|jsonl)$/)),
  form: Schema.Literals(["google", "meta"]),
  country: Schema.String.check(Schema.isPattern(/^[A-Z]{2}$/)),
  currency: CurrencyCode,
  locale: Text,
  /** Where a job puts it once a day. */
  pushUrl: Schema.optional(Schema.String.check(Schema.isPattern(/^https?:\/\//), Schema.isMaxLength(2_048)))
})
export type FeedFile = typeof FeedFile.Type

const Listing = Schema.Struct({
  /** Of a product in the storefront; `{slug}` is filled in. */
  productPath: Schema.String.check(Schema.isPattern(/^\/.*\{slug\}/), Schema.isMaxLength(500)),
  files: Schema.Array(FeedFile).check(Schema.isMaxLength(50))
})

/** Outside stores (contract, plugins §13.1). */
export const stores = table("connected_stores", {
  provider: text.fewValues,
  /** Scheme, host and port. */
  storeDomain: text,
  status: oneOf(["connected", "disconnected", "error"]).default("connected"),
  /** Why it is in error. */
  lastError: longText.nullable,
  credentials: secret.nullable,
  webhookSecret: secret.nullable,
  /** When the credentials end; null: they do not. */
  credentialsExpireAt: timestamp.nullable,
  /** Until when a process that renews them has time to do so. */
  renewalUntil: timestamp.nullable,
  connectedAt: timestamp.defaultNow,
  webhooksCheckedAt: timestamp.nullable,
  /** The warehouse whose stock is meant; null: all of them. */
  warehouseId: idOf(WarehouseId).existing("warehouse").nullable,
  /** Units that are kept back. */
  buffer: integerBetween(0, 1_000_000).default(0),
  /** The most units that are offered. */
  maxQuantity: integerBetween(0, 1_000_000).nullable,
  priceRule: jsonOf(PriceRule, 500).nullable,
  catalog: jsonOf(CatalogRule, 30_000).nullable,
  listing: jsonOf(Listing, 60_000).nullable
}, {
  strict: true,
  unique: [{ columns: ["provider", "storeDomain"], where: "status <> 'disconnected'" }],
  indexes: [{ columns: ["provider", "storeDomain"] }]
})
export type Store = RowOf<typeof stores>

/** How a store moves (contract, plugins §13.2). */
export const store = machine(stores, {
  noun: "store",
  moves: {
    disconnect: { from: ["connected", "error"], to: "disconnected" },
    fail: { from: ["connected", "error"], to: "error" },
    recover: { from: ["connected", "error"], to: "connected" },
    reconnect: { from: ["disconnected"], to: "connected", stamp: "connectedAt" }
  }
})

/** Which product or variant of ours one of a store is. */
export const entityMap = table("channel_entity_map", {
  storeId: uuid.references(stores),
  kind: oneOf(["entity", "variant"]),
  externalId: text,
  entityId: idOf(EntityId),
  variantId: idOf(VariantId).nullable,
  /** Ours: the store sells it too, and changes nothing of it. */
  isLinked: boolean.default(false),
  /** When the store last showed it. */
  seenAt: timestamp.nullable,
  /** When it was found to be gone, or no longer admitted. */
  goneAt: timestamp.nullable
}, {
  changeLog: false,
  counted: false,
  unique: [{ columns: ["storeId", "kind", "externalId"] }],
  indexes: [{ columns: ["storeId", "kind", "id"] }, { columns: ["entityId"] }]
})

/** Webhooks that arrived, each once for a store. */
export const deliveries = table("channel_deliveries", {
  storeId: uuid.references(stores),
  deliveryId: text,
  topic: text,
  status: oneOf(["received", "handled", "ignored", "unreadable", "failed"]).default("received"),
  hints: jsonOf(Schema.Array(Hint), 100_000),
  error: longText.nullable
}, {
  changeLog: false,
  unique: [{ columns: ["storeId", "deliveryId"] }],
  indexes: [{ columns: ["storeId", "createdAt"], where: "status = 'received'" }]
})

/** Merchants who were sent to a provider for their consent, for five minutes. */
export const grants = table("channel_oauth_grants", {
  provider: text,
  storeDomain: text,
  endsAt: timestamp,
  isUsed: boolean.default(false)
}, { counted: false, indexes: [{ columns: ["endsAt"] }] })
