import { Schema } from "effect"
import {
  about,
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
import { Hint, MappedField } from "./ChannelRecords.ts"

/** Changes prices in one direction: first the percent, then `add`, then to a multiple of `roundTo` minor units. */
const PriceRule = Schema.Struct({
  percent: Schema.optional(
    Schema.Finite.check(Schema.isBetween({ minimum: -100, maximum: 1_000 })).pipe(
      about("Percent that prices are raised by.")
    )
  ),
  add: Schema.optional(
    Schema.Int.check(Schema.isBetween({ minimum: -1_000_000_000, maximum: 1_000_000_000 }))
      .pipe(about("Minor units that are added after the percent."))
  ),
  roundTo: Schema.optional(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
      .pipe(about("Prices are rounded to a multiple of these minor units."))
  )
})
export type PriceRule = typeof PriceRule.Type

/** Which products take part; an empty list means all. */
const CatalogRule = Schema.Struct({
  statuses: Schema.optional(
    Schema.Array(Schema.Literals(["active", "draft", "archived", "discontinued"]))
      .pipe(about("Statuses of products that take part; none means all."))
  ),
  categories: Schema.optional(Schema.Array(Text).check(Schema.isMaxLength(100)))
})

/** A file of a product feed. */
export const FeedFile = Schema.Struct({
  name: Schema.String.check(Schema.isPattern(/^[a-z0-9-]{1,60}\.(xml|csv|jsonl)$/))
    .pipe(about("Name of the file, which ends with its format.")),
  form: Schema.Literals(["google", "meta"]).pipe(about("Whose fields it has: Google Merchant's or Meta's.")),
  country: Schema.String.check(Schema.isPattern(/^[A-Z]{2}$/)),
  currency: CurrencyCode,
  locale: Text,
  pushUrl: Schema.optional(
    Schema.String.check(Schema.isPattern(/^https?:\/\//), Schema.isMaxLength(2_048))
      .pipe(about("Address where a job puts the file once a day."))
  )
})
export type FeedFile = typeof FeedFile.Type

const Listing = Schema.Struct({
  productPath: Schema.String.check(Schema.isPattern(/^\/.*\{slug\}/), Schema.isMaxLength(500))
    .pipe(about("Path of a product in the storefront; `{slug}` is filled in.")),
  files: Schema.Array(FeedFile).check(Schema.isMaxLength(50)).pipe(about("Files of the feed, at most 50."))
})

/** Outside stores (contract, plugins §13.1). */
export const stores = table("connected_stores", {
  provider: text.fewValues.about("Id of the adapter."),
  storeDomain: text.about("Scheme, host and port of the store."),
  status: oneOf(["connected", "disconnected", "error"]).default("connected")
    .about(
      "Status; `error` has its reason in `lastError` and ends with other credentials or the next check that succeeds."
    ),
  lastError: longText.nullable.about("Reason of the status `error`."),
  credentials: secret.nullable,
  webhookSecret: secret.nullable,
  credentialsExpireAt: timestamp.nullable.about("End of the credentials, ISO 8601; null when they do not end."),
  /** Until when a process that renews them has time to do so. */
  renewalUntil: timestamp.nullable,
  connectedAt: timestamp.defaultNow,
  webhooksCheckedAt: timestamp.nullable,
  warehouseId: idOf(WarehouseId).existing("warehouse").nullable
    .about("Warehouse that has the stock of the store; null for the first one."),
  buffer: integerBetween(0, 1_000_000).default(0).about("Units that are kept back."),
  maxQuantity: integerBetween(0, 1_000_000).nullable.about("Most units that are offered; null for no limit."),
  priceRule: jsonOf(PriceRule, 500).nullable.about("How prices of the store are changed here."),
  catalog: jsonOf(CatalogRule, 30_000).nullable.about("Products of the store that take part; null for all."),
  listing: jsonOf(Listing, 60_000).nullable.about("Files of a product feed."),
  catalogWriteEnabled: boolean.default(false).about("True when fields of our products are written to it."),
  catalogFieldMapping: jsonOf(Schema.Array(MappedField), 60_000).default([])
    .about("Fields that go elsewhere than the adapter says.")
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

/** Hashes of the values that a field had on both sides when they last agreed. */
const Agreed = Schema.Struct({
  here: Schema.String,
  there: Schema.String,
  /** Of a value that was sent since: whether the store took it is not known. */
  sent: Schema.optional(Schema.String)
})
export type Agreed = typeof Agreed.Type

/** Which product or variant of ours one of a store is. */
export const entityMap = table("channel_entity_map", {
  storeId: uuid.references(stores),
  kind: oneOf(["entity", "variant"]),
  externalId: text,
  entityId: idOf(EntityId),
  variantId: idOf(VariantId).nullable,
  /** Ours: the store sells it too, and changes nothing of it. */
  isLinked: boolean.default(false),
  /** The store gets changes of this entity: it is set while the store's `catalogWriteEnabled` is. */
  isPushed: boolean.default(false),
  /** What both sides agreed on, by the path of the field. */
  agreed: jsonOf(Schema.Record(Schema.String, Agreed), 250_000).nullable,
  /** Units that both sides agreed on, of our products that the store sells, too; below zero where it sold more than it had. */
  level: integerBetween(-2_147_483_648, 2_147_483_647).nullable,
  /** Level that the store is set to, with its key until it has answered. */
  sentLevel: integerBetween(0, 2_147_483_647).nullable,
  sentKey: uuid.nullable,
  /** When the store last showed it. */
  seenAt: timestamp.nullable,
  /** When it was found to be gone, or no longer admitted. */
  goneAt: timestamp.nullable
}, {
  changeLog: false,
  counted: false,
  unique: [{ columns: ["storeId", "kind", "externalId"] }],
  indexes: [
    { columns: ["storeId", "kind", "id"] },
    { columns: ["entityId"] },
    { columns: ["storeId", "id"], where: "kind = 'variant' and is_linked" }
  ]
})

/** Webhooks that arrived, each once for a store. */
export const deliveries = table("channel_deliveries", {
  storeId: uuid.references(stores),
  deliveryId: text,
  topic: text.about("Topic, as the store names it."),
  status: oneOf(["received", "handled", "ignored", "unreadable", "failed"]).default("received")
    .about("Status; `ignored` when the topic says nothing to us, `failed` with its reason in `error`."),
  hints: jsonOf(Schema.Array(Hint), 100_000).about("Records that the webhook says have changed."),
  error: longText.nullable.about("Reason of the status `failed`.")
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
