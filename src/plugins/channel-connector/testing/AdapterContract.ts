import { DateTime, Effect, Redacted, Result, Schema } from "effect"
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict"
import { inspect } from "node:util"
import { CurrencyCode, type Outbound } from "stoa/plugin"
import type { Capability, Channel, ChannelAdapter, PushableFields, WebhookRequest } from "../ChannelAdapter.ts"
import type { ChannelError } from "../ChannelErrors.ts"
import { CatalogPage, ChannelProduct, Hint, type OrderSlice, RemoteOrder, StockLevel } from "../ChannelRecords.ts"

/** A store with at least two products, which nothing else changes during the checks, and what the checks need of it. */
export interface StoreUnderTest {
  readonly adapter: ChannelAdapter
  readonly domain: string
  readonly http: Outbound
  readonly credentials: unknown
  /** Of the right form, and refused by the store. */
  readonly refusedCredentials: unknown
  /** Texts that no error may contain. */
  readonly secrets: ReadonlyArray<string>
  readonly webhookSecret: string
  /** A genuine webhook with this id; `body` replaces its body with nonsense, which is signed as well. */
  readonly webhook: (deliveryId: string, body?: string) => WebhookRequest
  /** An order of a variant of the store, under an id that is new to it. */
  readonly slice: () => OrderSlice
}

/** A check with a name. */
export interface AdapterCheck {
  readonly name: string
  readonly run: () => Promise<void>
}

const parts: ReadonlyArray<Capability> = ["catalog", "pushCatalog", "stock", "orders", "webhooks", "listings"]
const decodes = <A, E>(schema: Schema.Codec<A, E>, value: A) => {
  Schema.decodeUnknownSync(schema)(Schema.encodeSync(schema)(value))
}
const json = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Unknown))
const run = <A>(work: Effect.Effect<A, ChannelError>) => Effect.runPromise(work)

const part = <A>(value: A | undefined): A => {
  ok(value !== undefined, "a capability without its part")
  return value
}

/** Waits while the store asks to come back, as it does when it has to collect its products. */
const readPage = (channel: Channel, cursor: string | null, limit: number): Effect.Effect<CatalogPage, ChannelError> =>
  Effect.catchTag(
    part(channel.catalog).page(cursor, limit),
    "ChannelUnavailable",
    (error) =>
      error.retryAfterMs === undefined
        ? Effect.fail(error)
        : Effect.delay(Effect.suspend(() => readPage(channel, cursor, limit)), error.retryAfterMs)
  )

const pagesOf = async (channel: Channel, limit: number) => {
  const pages: Array<CatalogPage> = []
  let cursor: string | null = null
  do {
    const page: CatalogPage = await run(readPage(channel, cursor, limit))
    pages.push(page)
    cursor = page.nextCursor
    ok(pages.length < 1_000, "the catalog has no end")
  } while (cursor !== null)
  return pages
}

const firstProduct = async (channel: Channel): Promise<ChannelProduct> => {
  const pages = await pagesOf(channel, 100)
  return part(pages.flatMap(({ items }) => items)[0])
}

const catalogChecks = (channel: () => Promise<Channel>): ReadonlyArray<AdapterCheck> => [{
  name: "gives its catalog in pages, each product once",
  run: async () => {
    const one = await channel()
    const pages = await pagesOf(one, 1)
    ok(pages.every(({ items }) => items.length <= 1), "a page has more than its limit")
    for (const page of pages) decodes(CatalogPage, page)
    const items = pages.flatMap((page) => page.items)
    ok(items.length >= 2, "the store under test has fewer than two products")
    strictEqual(new Set(items.map(({ externalId }) => externalId)).size, items.length)
    for (const { draft, unitIds } of items) strictEqual(unitIds.length, draft.sold.length)
    decodes(CurrencyCode, await run(part(one.catalog).currency))
    const whole = (await pagesOf(one, 100)).flatMap((page) => page.items)
    deepStrictEqual(whole.map(({ externalId }) => externalId), items.map(({ externalId }) => externalId))
  }
}, {
  name: "finds a product by its id, and none that is not there",
  run: async () => {
    const one = await channel()
    const item = await firstProduct(one)
    const found = await run(part(one.catalog).product(item.externalId))
    decodes(ChannelProduct, part(found))
    deepStrictEqual(found, item)
    strictEqual(await run(part(one.catalog).product("999999999999")), undefined)
  }
}]

const pushChecks = (
  channel: () => Promise<Channel>,
  pushes: PushableFields | undefined
): ReadonlyArray<AdapterCheck> => [{
  name: "writes fields of products, and only those that are named",
  run: async () => {
    const one = await channel()
    const [push, { accepts, batch, defaults }] = [part(one.pushCatalog), part(pushes)]
    ok(batch >= 1 && defaults.every(accepts), "a field of its mapping cannot be written")
    ok(!accepts({ target: "native", remoteKey: "no such field" }), "a field that does not exist is accepted")
    const { externalId } = await firstProduct(one)
    const fields = [...new Map(defaults.map((field) => [field.remoteKey, field])).values()].map((
      { remoteKey, target }
    ) => ({ remoteKey, target }))
    const read = async () => fields.map(part((await run(push.read([{ externalId, fields }]))).get(externalId)))
    const [field, before] = [part(fields[0]), await read()]
    const value = `${before[0] ?? ""} by hand`
    const values = [{ ...field, value }]
    const written = (await run(push.write([{ externalId, values }]))).get(externalId)
    ok(typeof written === "function" && written(field) === value, "the value after the write is another one")
    deepStrictEqual(await read(), [value, ...before.slice(1)])
    const gone = { externalId: "999999999999", fields }
    deepStrictEqual((await run(push.read([gone]))).size, 0)
    const answers = await run(
      push.write([{ ...gone, values }, { externalId, values: [{ ...field, value: before[0] ?? null }] }])
    )
    ok(typeof answers.get(gone.externalId) !== "function", "a product that is not there was written")
    deepStrictEqual(await read(), before)
  }
}]

const stockChecks = (channel: () => Promise<Channel>): ReadonlyArray<AdapterCheck> => [{
  name: "sets stock only where it is as expected, and once for a key",
  run: async () => {
    const one = await channel()
    const stock = part(one.stock)
    const { unitIds: [externalId] } = await firstProduct(one)
    const levels = await run(stock.read([externalId, "999999999999"]))
    for (const level of levels) decodes(StockLevel, level)
    strictEqual(levels.length, 1)
    const before = part(levels[0]).available
    const available = (before ?? 0) + 3
    const set = (expected: number | null, to: number) =>
      run(stock.set([{ externalId, available: to, expected }], `${externalId}-${expected}-${to}`))
    for (const _ of ["made", "asked for again"]) {
      deepStrictEqual(await set(before, available), [{ externalId, available, outcome: "set" }])
    }
    deepStrictEqual(await set(available + 1, 0), [{ externalId, available, outcome: "differs" }])
    deepStrictEqual(await run(stock.read([externalId])), [{ externalId, available }])
  }
}]

const orderChecks = (channel: () => Promise<Channel>, slice: () => OrderSlice): ReadonlyArray<AdapterCheck> => [{
  name: "takes an order, finds it by our id and among those that changed, and cancels it if it can",
  run: async () => {
    const orders = part((await channel()).orders)
    const sent = slice()
    const before = DateTime.toDateUtc(DateTime.subtract(await run(DateTime.now), { minutes: 1 }))
    strictEqual(await run(orders.lookup(sent.orderId)), undefined)
    const pushed = await run(orders.push(sent))
    decodes(RemoteOrder, pushed)
    strictEqual(part(await run(orders.lookup(sent.orderId))).remoteOrderId, pushed.remoteOrderId)
    strictEqual(part(await run(orders.get(pushed.remoteOrderId))).status, "open")
    const changed: Array<string> = []
    let cursor: string | null = null
    do {
      const page: Effect.Success<ReturnType<typeof orders.changedSince>> = await run(
        orders.changedSince(before, cursor)
      )
      changed.push(...page.ids)
      cursor = page.nextCursor
    } while (cursor !== null)
    ok(changed.includes(pushed.remoteOrderId), "an order that changed is left out")
    if (await run(orders.cancel(pushed.remoteOrderId))) {
      strictEqual(part(await run(orders.get(pushed.remoteOrderId))).status, "cancelled")
    }
  }
}]

const webhookChecks = (
  channel: () => Promise<Channel>,
  webhook: StoreUnderTest["webhook"]
): ReadonlyArray<AdapterCheck> => [{
  name: "registers its topics and shows them as active",
  run: async () => {
    const webhooks = part((await channel()).webhooks)
    const address = "https://stoa.example/api/channels/webhooks/7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11"
    const here = async () => (await run(webhooks.list)).filter((one) => one.address === address)
    const known = await here()
    for (const topic of webhooks.topics) {
      await run(webhooks.register(topic, address, known.find((one) => one.topic === topic)))
    }
    const active = (await here()).filter(({ isActive }) => isActive)
    deepStrictEqual(active.map(({ topic }) => topic).toSorted(), webhooks.topics.toSorted())
    for (const { externalId } of await here()) await run(webhooks.unregister(externalId))
    deepStrictEqual(await here(), [])
  }
}, {
  name: "knows its webhooks by the bytes that it signed",
  run: async () => {
    const webhooks = part((await channel()).webhooks)
    const request = webhook("delivery-1")
    ok(webhooks.isGenuine(request), "a genuine webhook is refused")
    const changed = Buffer.from(request.body)
    changed[changed.length - 1] = (changed[changed.length - 1] ?? 0) ^ 1
    ok(!webhooks.isGenuine({ ...request, body: changed }), "a changed body is accepted")
    ok(!webhooks.isGenuine({ ...request, headers: {} }), "a webhook without a signature is accepted")
    const delivery = part(webhooks.read(request))
    ok(delivery.deliveryId.startsWith("delivery-1"), "the id of the delivery is lost")
    deepStrictEqual(webhooks.read(request), delivery)
    for (const hint of delivery.hints) decodes(Hint, hint)
    for (const nonsense of ["", "[", "null", "[]", "\u0000", "{\"id\":{}}"]) {
      webhooks.read(webhook("delivery-2", nonsense))
    }
  }
}]

/** What every adapter has to do. Each check can run alone. */
export const adapterContract = (test: StoreUnderTest): ReadonlyArray<AdapterCheck> => {
  const { adapter, domain, http, secrets, slice, webhook, webhookSecret } = test
  const accessWith = (sent: unknown) => {
    const read = part(adapter.readCredentials(sent))
    return {
      storeId: "7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11",
      domain,
      http,
      credentials: Redacted.make(read.text),
      webhookSecret: Redacted.make(webhookSecret)
    }
  }
  const channel = () => run(adapter.connect(accessWith(test.credentials)))
  const has = (capability: Capability) => adapter.capabilities.includes(capability)
  return [
    {
      name: "reads its credentials, and no others",
      run: async () => {
        for (const other of [undefined, null, 7, "text", [], {}]) strictEqual(adapter.readCredentials(other), undefined)
        const { text } = part(adapter.readCredentials(test.credentials))
        deepStrictEqual(adapter.readCredentials(json(text)), adapter.readCredentials(test.credentials))
      }
    },
    {
      name: "has the parts that its capabilities say",
      run: async () => {
        const one = await channel()
        deepStrictEqual(parts.filter((name) => one[name] !== undefined), parts.filter(has))
      }
    },
    {
      name: "verifies credentials, and says nothing secret about those that are refused",
      run: async () => {
        await run((await channel()).verify)
        const refused = await run(adapter.connect(accessWith(test.refusedCredentials)))
        const result = await Effect.runPromise(Effect.result(refused.verify))
        ok(Result.isFailure(result), "refused credentials are accepted")
        strictEqual(result.failure._tag, "CredentialsRefused")
        for (const secret of secrets) ok(!inspect(result.failure).includes(secret), "an error contains a secret")
      }
    },
    ...has("catalog") ? catalogChecks(channel) : [],
    ...has("pushCatalog") ? pushChecks(channel, adapter.pushes) : [],
    ...has("stock") ? stockChecks(channel) : [],
    ...has("orders")
      ? orderChecks(channel, slice)
      : [],
    ...has("webhooks") ? webhookChecks(channel, webhook) : []
  ]
}
