import { DateTime, Effect, Option, Redacted, Schema, Stream } from "effect"
import { createHmac } from "node:crypto"
import {
  CurrentActor,
  defineTask,
  EntityId,
  NotFound,
  notFound,
  type PluginCall,
  type PluginContext,
  type PluginTaskCall,
  VariantId
} from "stoa/plugin"
import { channelAdapter, isSame } from "./ChannelAdapter.ts"
import { channelError, ChannelRefused } from "./ChannelErrors.ts"
import { Channels, manage, routes } from "./ChannelOptions.ts"
import { feedColumns, feedFormats, feedItem, type PricedUnit } from "./FeedItem.ts"
import { listedEntities } from "./FeedRepo.ts"
import { ofStore } from "./Registration.ts"
import { admitsProduct } from "./StoreRules.ts"
import { StoreSessions } from "./StoreSessions.ts"
import { type FeedFile, type Store, stores } from "./StoreTables.ts"

const feedId = "product-feed"
const pageSize = 100
/** Units of one price list. */
const listSize = 500
/** Pushed files are sent as one text. */
const mostCharacters = 50_000_000

/** Product feeds for Google and Meta: fetched at an address, or put to one. The store is the storefront that they lead to. */
export const productFeed = channelAdapter({
  id: feedId,
  capabilities: ["listings"],
  credentialsForm: "{ authorization }",
  credentials: Schema.Struct({ authorization: Schema.optional(Schema.NonEmptyString) }),
  connect: ({ credentials, http }) => ({
    verify: Effect.void,
    listings: {
      send: ({ address, contentType, text }) => {
        const { authorization } = Redacted.value(credentials)
        const headers = { "content-type": contentType, ...(authorization !== undefined && { authorization }) }
        return http.request({ method: "PUT", url: address, headers, body: text }).pipe(
          Effect.mapError(channelError),
          Effect.asVoid
        )
      }
    }
  })
})

/** What a product has to sell, with the prices of the core; what has no price in the currency is left out. */
const pricedUnits = Effect.fnUntraced(
  function*({ db, services }: PluginCall, store: Store, { currency, locale }: FeedFile, after: string) {
    const ids = yield* db.use(listedEntities)(after, pageSize)
    const { items } = ids.length === 0 ? { items: [] } : yield* services.catalog.list({
      ids: ids.map((id) => EntityId.make(id)),
      page: 1,
      limit: pageSize,
      sort: { field: "createdAt", ascending: true },
      include: ["attributes", "brands", "categories", "inventory", "media", "pricing", "variants"],
      locale,
      approvedOnly: true
    })
    const products = new Map(items.map((product) => [product.id, product]))
    const goods = items.filter((product) =>
      admitsProduct(store, { status: product.status, categories: (product.categories ?? []).map(({ slug }) => slug) })
    ).flatMap(({ id, variants = [] }) =>
      variants.length === 0
        ? [{ entityId: id }]
        : variants.filter(({ status }) => status === "active").map((one) => ({
          entityId: id,
          variantId: VariantId.make(one.id)
        }))
    )
    const units: Array<PricedUnit> = []
    for (let from = 0; from < goods.length; from += listSize) {
      const priced = yield* services.orders.priceList({ currency, goods: goods.slice(from, from + listSize) })
      for (const { entityId, unitPrice, variantId } of priced) {
        const product = products.get(entityId)
        if (product !== undefined) units.push({ product, variantId: variantId ?? null, unitPrice })
      }
    }
    return [units, Option.fromUndefinedOr(ids.length < pageSize ? undefined : ids.at(-1))] as const
  }
)

/** The text of a feed in parts, a page of products at a time; `call` acts as the service itself. */
const feedText = (call: PluginCall, store: Store, file: FeedFile, publicUrl: string) => {
  const format = feedFormats[file.name.slice(file.name.lastIndexOf(".") + 1)] ?? feedFormats["jsonl"]
  if (format === undefined) return undefined
  const items = Stream.paginate(
    "00000000-0000-0000-0000-000000000000",
    (after) => pricedUnits(call, store, file, after)
  ).pipe(
    Stream.map((unit) => format.item(feedItem(unit, store, file, publicUrl)))
  )
  const text = Stream.make(format.head(feedColumns[file.form])).pipe(
    Stream.concat(items),
    Stream.concat(Stream.make(format.tail)),
    Stream.provideService(CurrentActor, call.actor)
  )
  return { contentType: format.contentType, text }
}

class FeedNotFound extends notFound("Feed", "Feed not found.") {}

/** The key in the address of a store's feeds; another webhook secret makes it another one. */
const feedKey = (store: Store, secret: Redacted.Redacted<string> | null): string =>
  createHmac("sha256", secret === null ? store.id : Redacted.value(secret)).update(`feed ${store.id}`).digest(
    "base64url"
  )

const filesOf = ({ listing }: Store) => listing?.files ?? []

const FeedLink = Schema.Struct({ name: Schema.String, url: Schema.String })

/** Addresses of feeds, and the feeds themselves. */
export const feedRoutes = ({ ofRecord }: PluginContext) => [
  routes.get("/stores/:id/feeds", {
    summary: "Get the addresses of the feeds of a store",
    description:
      "Who has an address can read its feed; another `webhookSecret` makes other addresses. 404 without the store.",
    permission: manage,
    success: Schema.Array(FeedLink)
  }).handle(({ db, params: { id } }) =>
    Effect.gen(function*() {
      const { settings: { publicUrl = "" } } = yield* Channels
      const store = yield* db.table(stores).get(id)
      const key = feedKey(store, yield* db.table(stores).secret(id, "webhookSecret"))
      return filesOf(store).map(({ name }) => ({ name, url: `${publicUrl}/api/channels/feeds/${id}/${key}/${name}` }))
    })
  ),
  routes.post("/stores/:id/feeds/push", {
    summary: "Send the feeds of a store now",
    description: "404 without the store.",
    permission: manage,
    success: Schema.Struct({ enqueued: Schema.Literal(true), storeId: Schema.String })
  }).handle(({ db, jobs, params: { id } }) =>
    Effect.gen(function*() {
      const store = yield* db.table(stores).get(id)
      yield* jobs.enqueue(pushTask, { storeId: store.id })
      return { enqueued: true as const, storeId: store.id }
    })
  ),
  routes.raw("GET", "/feeds/:id/:key/:file", {
    summary: "Get a product feed",
    description: "In the format of its name. 404 for an address that is not, or no longer, the right one.",
    public: "The address has a key in place of credentials.",
    params: { id: Schema.String, key: Schema.String, file: Schema.String }
  }, ({ params: { file: name, id, key } }) =>
    ofRecord(stores, id)((call) =>
      Effect.gen(function*() {
        const store = yield* call.db.table(stores).get(id)
        const file = filesOf(store).find((one) => one.name === name)
        const expected = feedKey(store, yield* call.db.table(stores).secret(id, "webhookSecret"))
        if (store.status === "disconnected" || !isSame(key, expected) || file === undefined) {
          return yield* new FeedNotFound()
        }
        const { settings: { publicUrl = store.storeDomain } } = yield* Channels
        const feed = feedText(call, store, file, publicUrl)
        if (feed === undefined) return yield* new FeedNotFound()
        return {
          headers: { "content-type": feed.contentType, "cache-control": "public, max-age=900" },
          body: Stream.encodeText(feed.text)
        }
      })
    ).pipe(Effect.catchIf((error) => error instanceof NotFound, () => new FeedNotFound())))
]

const pushTask = "channel/push-feeds"

/** Puts the feeds of a store to where their files say; without a store, of all stores of the organization, once a day. */
export const feedPushing = defineTask({
  slug: pushTask,
  schedule: "17 4 * * *",
  everyOrganization: true,
  retries: { attempts: 5, backoff: { type: "exponential", delay: 60_000 } },
  concurrency: { key: (input) => input["storeId"] === undefined ? pushTask : ofStore(input) },
  handler: Effect.fnUntraced(function*(call: PluginTaskCall) {
    const { ctx, input } = call
    const storeId = input["storeId"]
    if (typeof storeId !== "string") {
      const feeds = yield* ctx.db.table(stores).list({ provider: feedId, status: { not: "disconnected" } })
      const pushed = feeds.filter((one) => filesOf(one).some(({ pushUrl }) => pushUrl !== undefined))
      yield* Effect.forEach(pushed, ({ id }) => ctx.jobs.enqueue(pushTask, { storeId: id }))
      return { output: { stores: pushed.length } }
    }
    const { work } = yield* StoreSessions
    const { settings: { publicUrl } } = yield* Channels
    return yield* work(call, storeId, ({ channel, store }) =>
      Effect.gen(function*() {
        const sent: Array<string> = []
        for (const file of filesOf(store)) {
          const feed = feedText(ctx, store, file, publicUrl ?? store.storeDomain)
          if (file.pushUrl === undefined || feed === undefined || channel.listings === undefined) continue
          const text = yield* wholeText(feed.text)
          yield* channel.listings.send({ name: file.name, contentType: feed.contentType, address: file.pushUrl, text })
          sent.push(file.name)
        }
        return { output: { sent, at: (yield* DateTime.now).toString() } }
      }))
  })
})

const tooLarge = new ChannelRefused({ message: `A pushed feed has more than ${mostCharacters} characters.` })

/** The whole text; refused where it is more than fits into memory. */
const wholeText = <E>(parts: Stream.Stream<string, E>) =>
  parts.pipe(
    Stream.mapAccum(() => 0, (size, part) => [size + part.length, [{ size: size + part.length, part }]] as const),
    Stream.mapEffect(({ part, size }) => size > mostCharacters ? Effect.fail(tooLarge) : Effect.succeed(part)),
    Stream.mkString,
    Effect.mapError((error) =>
      error === tooLarge ? tooLarge : new ChannelRefused({ message: "The products cannot be read." })
    )
  )
