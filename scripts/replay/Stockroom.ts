import { Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import type { Good, Invoice, StockReturn } from "./InvoiceBook.ts"
import { currency } from "./InvoiceFile.ts"
import { readAll, reading, type Shop } from "./ShopClient.ts"

const Entity = Schema.Struct({
  data: Schema.Struct({ id: Schema.String, metadata: Schema.Record(Schema.String, Schema.Unknown) })
})

/** A page of the price list; prices come beside the modifiers that may touch them. */
const PriceList = Schema.Struct({
  prices: Schema.Array(Schema.Struct({
    entityId: Schema.String,
    variantId: Schema.NullOr(Schema.String),
    amount: Schema.Int,
    customerGroupId: Schema.NullOr(Schema.String),
    minQuantity: Schema.NullOr(Schema.Int),
    maxQuantity: Schema.NullOr(Schema.Int),
    validFrom: Schema.NullOr(Schema.String),
    validUntil: Schema.NullOr(Schema.String)
  }))
})

const Available = Schema.Struct({ data: Schema.Record(Schema.String, Schema.Int) })

/** A good as the store has it. `returns` are the keys of the stock returns that were booked before. */
export interface StoredGood {
  readonly id: string
  readonly created: boolean
  readonly metadata: Readonly<Record<string, unknown>>
  readonly returns: ReadonlyArray<string>
}

/** How many requests are under way at once where their order does not matter. */
export const lanes = 4

const stored = (created: boolean) => ({ data: { id, metadata } }: typeof Entity.Type): StoredGood => {
  const returns = metadata["returns"]
  return { id, created, metadata, returns: Array.isArray(returns) ? returns.map(String) : [] }
}

const findOrCreate = Effect.fnUntraced(function*(shop: Shop, { code, slug, title }: Good) {
  const path = `/api/catalog/entities/${slug}`
  const found = yield* shop({ method: "GET", path, expected: [404] })
  if (found.status !== 404) return yield* Effect.map(reading(Entity)(found), stored(false))
  const body = { type: "product", slug, status: "active", metadata: { sku: code }, attributes: { title } }
  const made = yield* shop({ method: "POST", path: "/api/catalog/entities", body, key: randomUUID(), expected: [409] })
  // 409: another replay was faster.
  return made.status === 409
    ? yield* Effect.map(Effect.flatMap(shop({ method: "GET", path }), reading(Entity)), stored(false))
    : yield* Effect.map(reading(Entity)(made), stored(true))
})

/** Finds the product of every good, or creates it; by slug. */
export const stockProducts = (shop: Shop, goods: ReadonlyArray<Good>) =>
  Effect.map(
    Effect.forEach(goods, (good) => Effect.map(findOrCreate(shop, good), (one) => [good.slug, one] as const), {
      concurrency: lanes
    }),
    (pairs): ReadonlyMap<string, StoredGood> => new Map(pairs)
  )

/** The price everybody pays for each product now, in pence, by product id; those for groups or quantities left out. */
export const pricesNow = Effect.fnUntraced(function*(shop: Shop) {
  const pages = yield* readAll(shop, `/api/pricing/prices?currency=${currency}`, PriceList)
  const rows = pages.flatMap(({ prices }) => prices)
  const open = rows.filter(({ amount: _, entityId: __, ...bounds }) => Object.values(bounds).every((b) => b === null))
  return new Map(open.map(({ amount, entityId }) => [entityId, amount]))
})

/** Sets those prices that differ from what holds now, and remembers them in `now`. Gives how many were set. */
export const setPrices = Effect.fnUntraced(
  function*(shop: Shop, now: Map<string, number>, wanted: ReadonlyMap<string, number>) {
    const changed = [...wanted].filter(([id, amount]) => now.get(id) !== amount)
    yield* Effect.forEach(changed, ([entityId, amount]) =>
      Effect.map(
        shop({
          method: "POST",
          path: "/api/pricing/prices",
          body: { entityId, currency, amount },
          key: randomUUID()
        }),
        () => now.set(entityId, amount)
      ), { concurrency: lanes })
    return changed.length
  }
)

const availableOf = Effect.fnUntraced(function*(shop: Shop, ids: ReadonlyArray<string>) {
  const units = new Map<string, number>()
  // The check takes a hundred ids at a time.
  for (let from = 0; from < ids.length; from += 100) {
    const path = `/api/inventory/check?entityIds=${ids.slice(from, from + 100).join(",")}`
    const { data } = yield* Effect.flatMap(shop({ method: "GET", path }), reading(Available))
    for (const [id, available] of Object.entries(data)) units.set(id, available)
  }
  return units
})

/** Receives what these units are short of; stock that is there is sold first. Gives how many units came in. */
export const receiveStock = Effect.fnUntraced(function*(shop: Shop, needed: ReadonlyMap<string, number>) {
  const available = yield* availableOf(shop, [...needed.keys()])
  const short = [...needed].flatMap(([entityId, units]) => {
    const missing = units - Math.max(0, available.get(entityId) ?? 0)
    return missing > 0 ? [{ entityId, quantity: missing }] : []
  })
  yield* Effect.forEach(short, ({ entityId, quantity }) =>
    shop({
      method: "POST",
      path: "/api/inventory/adjust",
      body: { entityId, type: "receipt", quantity, reason: "Replay of invoices" },
      key: randomUUID()
    }), { concurrency: lanes, discard: true })
  return short.reduce((units, { quantity }) => units + quantity, 0)
})

/** The prices and units that these invoices need, by product id. */
export const needsOf = (invoices: ReadonlyArray<Invoice>, idOf: (slug: string) => string) => {
  const prices = new Map<string, number>()
  const units = new Map<string, number>()
  for (const { quantity, slug, unitPrice } of invoices.flatMap(({ lines }) => lines)) {
    const id = idOf(slug)
    prices.set(id, unitPrice)
    units.set(id, (units.get(id) ?? 0) + quantity)
  }
  return { prices, units }
}

/**
 * Puts the returned units of one product back. The service remembers an answered key for a day, the product's metadata
 * which returns it has had for ever; together no return is booked twice, also by a run that broke off between the two.
 */
export const putBack = Effect.fnUntraced(
  function*(shop: Shop, { id, metadata, returns }: StoredGood, list: ReadonlyArray<StockReturn>) {
    const fresh = list.filter(({ key }) => !returns.includes(key))
    for (const { key, quantity } of fresh) {
      yield* shop({
        method: "POST",
        path: "/api/inventory/adjust",
        body: { entityId: id, type: "return", quantity, referenceType: "invoice", referenceId: key },
        key: `replay-${key}`
      })
    }
    if (fresh.length > 0) {
      const booked = [...returns, ...fresh.map(({ key }) => key)]
      const body = { metadata: { ...metadata, returns: booked } }
      yield* shop({ method: "PATCH", path: `/api/catalog/entities/${id}`, body, key: randomUUID() })
    }
    return fresh.reduce((units, { quantity }) => units + quantity, 0)
  }
)
