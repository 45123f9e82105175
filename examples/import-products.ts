import { Console, Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { StoaClient } from "stoa/client"
import type { EntityId } from "stoa/ids"
import { CurrencyCode } from "stoa/money"
import { target } from "./Target.ts"

/*
 * node examples/import-products.ts [FILE]
 *
 * Brings a list of products into the catalog: words, a price, stock, and then into the open. A second run changes what
 * differs and doubles nothing: a product is known by its slug, a price by what it is for, and stock is brought to what the
 * list says. Four products at once; where the store is busy, the client waits and sends the request again.
 */
const Products = Schema.fromJsonString(Schema.Array(Schema.Struct({
  slug: Schema.String,
  title: Schema.String,
  description: Schema.optional(Schema.String),
  currency: CurrencyCode,
  /** Minor units. */
  price: Schema.Int,
  stock: Schema.Int
})))
type Product = typeof Products.Type[number]

const found = Effect.fn(function*({ slug }: Product) {
  const stoa = yield* StoaClient
  return yield* stoa.catalog.read({ params: { id: slug }, query: {} }).pipe(
    Effect.catchTag("NotFound", () => Effect.undefined)
  )
})

/** The product as it is in the catalog, made where it was missing. */
const entityOf = Effect.fn(function*(product: Product) {
  const stoa = yield* StoaClient
  const known = yield* found(product)
  const words = {
    title: product.title,
    ...(product.description === undefined ? {} : { description: product.description })
  }
  if (known === undefined) {
    return yield* stoa.catalog.create({ payload: { type: "product", slug: product.slug, attributes: words } })
  }
  yield* stoa.catalog.setAttributes({ params: { id: known.id, locale: "en" }, payload: words })
  return known
})

const stocked = Effect.fn(function*(entityId: EntityId, wanted: number) {
  const stoa = yield* StoaClient
  const { items } = yield* stoa.inventory.levels({ query: { entityId } })
  const onHand = items.reduce((sum, level) => sum + level.quantityOnHand, 0)
  if (onHand === wanted) return
  yield* stoa.inventory.adjust({ payload: { entityId, adjustment: wanted - onHand, reason: "import" } })
})

const bring = Effect.fn(function*(product: Product) {
  const stoa = yield* StoaClient
  const { id } = yield* entityOf(product)
  yield* stoa.pricing.setPrice({ payload: { entityId: id, currency: product.currency, amount: product.price } })
  yield* stocked(id, product.stock)
  yield* stoa.catalog.publish({ params: { id } })
  yield* Console.log(`${product.slug}: ${product.price} ${product.currency}, ${product.stock} in stock`)
})

const main = Effect.gen(function*() {
  const path = process.argv[2] ?? new URL("products.json", import.meta.url)
  const products = yield* Schema.decodeEffect(Products)(yield* Effect.promise(() => readFile(path, "utf8")))
  const bringAll = Effect.forEach(products, bring, { concurrency: 4, discard: true })
  yield* Effect.provide(bringAll, StoaClient.layer({ ...yield* target, retries: { times: 8 } }))
  yield* Console.log(`${products.length} products`)
})

await Effect.runPromise(main)
