import { Array, Effect, Record } from "effect"
import type { ChannelPush, ProductValues, PushableFields, ValueOf } from "../ChannelAdapter.ts"
import { ChannelRefused } from "../ChannelErrors.ts"
import type { MappedField, RemoteField } from "../ChannelRecords.ts"
import { Done, gid, List, NullOr, numberIn, optional, refusal, type ShopifyCall, Struct, Text } from "./ShopifyApi.ts"

/** Native fields by their keys, which are their paths in a product. */
const natives: ReadonlyArray<string> = [
  "title",
  "descriptionHtml",
  "vendor",
  "productType",
  "seo.title",
  "seo.description"
]
const metafieldKey = /^[\w-]{3,255}\.[\w-]{2,64}$/

const native = (fieldPath: string, remoteKey: string): MappedField => ({ fieldPath, target: "native", remoteKey })

/** Shopify has no free attributes; `meta` is a metafield, `<namespace>.<key>`. */
export const shopifyPushes: PushableFields = {
  batch: 50,
  defaults: [
    native("attributes.en.title", "title"),
    native("attributes.en.richDescription", "descriptionHtml"),
    native("attributes.en.description", "descriptionHtml"),
    native("attributes.en.seoTitle", "seo.title"),
    native("attributes.en.seoDescription", "seo.description")
  ],
  accepts: ({ remoteKey, target }) =>
    target === "native"
      ? natives.includes(remoteKey)
      : target === "meta" && metafieldKey.test(remoteKey.replaceAll("*", "xxx"))
}

const Product = Struct({
  id: Text,
  title: Text,
  descriptionHtml: Text,
  vendor: Text,
  productType: Text,
  seo: Struct({ title: NullOr(Text), description: NullOr(Text) }),
  metafields: optional(Struct({ nodes: List(Struct({ namespace: Text, key: Text, value: Text, type: Text })) }))
})
type Product = typeof Product.Type

const fields = "id title descriptionHtml vendor productType seo { title description }"
const mostMetafields = 25
/** Products of one query with so many metafields: a query costs at most 1,000 points. */
const mostAsked = 20
const metafields = `metafields(first: ${mostMetafields}, keys: $keys) { nodes { namespace key value type } }`
const found = Struct({ nodes: List(NullOr(Product)) })
const findQuery = (hasMeta: boolean) =>
  `query ($ids: [ID!]!${hasMeta ? ", $keys: [String!]" : ""}) { nodes(ids: $ids) { ... on Product { ${fields} ${
    hasMeta ? metafields : ""
  } } } }`
const updateQuery = `mutation ($product: ProductUpdateInput!) {
  done: productUpdate(product: $product) { userErrors { message } } }`
const setQuery = `mutation ($metafields: [MetafieldsSetInput!]!) {
  done: metafieldsSet(metafields: $metafields) { userErrors { code message } } }`
const deleteQuery = `mutation ($metafields: [MetafieldIdentifierInput!]!) {
  done: metafieldsDelete(metafields: $metafields) { userErrors { message } } }`

const metafieldOf = (product: Product, remoteKey: string) =>
  product.metafields?.nodes.find(({ key, namespace }) => `${namespace}.${key}` === remoteKey)

const valueOf = (product: Product): ValueOf => ({ remoteKey, target }) => {
  if (target === "meta") return metafieldOf(product, remoteKey)?.value ?? null
  const value = remoteKey.split(".").reduce((of: unknown, name) => Reflect.get(Object(of), name), product)
  return typeof value === "string" && value !== "" ? value : null
}

/** Values of native fields as the input of a change. */
const inputOf = (values: ReadonlyArray<{ readonly remoteKey: string; readonly value: string | null }>) => {
  const plain = Record.fromEntries(values.map(({ remoteKey, value }) => [remoteKey, value ?? ""]))
  const seo = Record.fromEntries(
    Object.entries(plain).flatMap(([key, value]) => key.startsWith("seo.") ? [[key.slice(4), value]] : [])
  )
  return {
    ...Record.filter(plain, (_, key) => !key.startsWith("seo.")),
    ...(Object.keys(seo).length > 0 && { seo })
  }
}

const send = (call: ShopifyCall, query: string, variables: object) =>
  Effect.flatMap(
    call(Done({}), query, variables),
    ({ done: { userErrors } }) => userErrors.length === 0 ? Effect.void : Effect.fail(refusal(userErrors))
  )

/** A metafield that is new is a text of several lines; others keep their type. */
const writeProduct = Effect.fnUntraced(function*(call: ShopifyCall, product: Product, { values }: ProductValues) {
  const of = (target: RemoteField["target"]) => values.filter((one) => one.target === target)
  const input = inputOf(of("native"))
  if (Object.keys(input).length > 0) yield* send(call, updateQuery, { product: { id: product.id, ...input } })
  const metas = of("meta").map(({ remoteKey, value }) => {
    const [namespace = "", key = ""] = remoteKey.split(".")
    const before = metafieldOf(product, remoteKey)
    return { before, value, meta: { ownerId: product.id, namespace, key } }
  })
  const gone = metas.filter(({ before, value }) => value === null && before !== undefined).map(({ meta }) => meta)
  const set = metas.flatMap(({ before, meta, value }) =>
    value === null ? [] : [{ ...meta, value, type: before?.type ?? "multi_line_text_field" }]
  )
  for (const some of Array.chunksOf(set, mostMetafields)) yield* send(call, setQuery, { metafields: some })
  if (gone.length > 0) yield* send(call, deleteQuery, { metafields: gone })
})

/** Writes fields of products. */
export const shopifyPush = (call: ShopifyCall): ChannelPush => {
  const find = Effect.fnUntraced(
    function*(products: ReadonlyArray<{ externalId: string; fields: ReadonlyArray<RemoteField> }>) {
      const keys = [
        ...new Set(
          products.flatMap((one) => one.fields.flatMap(({ remoteKey, target }) => target === "meta" ? [remoteKey] : []))
        )
      ]
      const ids = Array.chunksOf(products.map(({ externalId }) => gid("Product", externalId)), mostAsked)
      const parts: ReadonlyArray<ReadonlyArray<string>> = keys.length === 0
        ? [[]]
        : Array.chunksOf(keys, mostMetafields)
      const asked = parts.flatMap((some) => ids.map((part) => ({ ids: part, ...(some.length > 0 && { keys: some }) })))
      const answers = yield* Effect.forEach(asked, (part) => call(found, findQuery("keys" in part), part))
      const all = answers.flatMap(({ nodes }) => nodes.flatMap((one) => one ?? []))
      return new Map(all.map((product) => {
        const nodes = all.filter(({ id }) => id === product.id).flatMap((one) => one.metafields?.nodes ?? [])
        return [numberIn(product.id), { ...product, metafields: { nodes } }]
      }))
    }
  )

  return {
    read: (products) =>
      Effect.map(find(products), (known) => new Map([...known].map(([id, product]) => [id, valueOf(product)]))),
    write: Effect.fnUntraced(function*(products) {
      const asked = products.map(({ externalId, values }) => ({ externalId, fields: values }))
      const before = yield* find(asked)
      const refused = yield* Effect.forEach(products, (one) => {
        const product = before.get(one.externalId)
        const sent = product === undefined
          ? Effect.fail(new ChannelRefused({ message: "The store has no such product." }))
          : writeProduct(call, product, one)
        return Effect.catchTag(sent, "ChannelRefused", ({ message }) => Effect.succeed(message))
      }, { concurrency: 4 })
      const after = yield* find(asked)
      return new Map(products.map(({ externalId }, at) => {
        const [product, reason = "The product is gone."] = [after.get(externalId), refused[at]]
        const isWritten = product !== undefined && refused[at] === undefined
        return [externalId, isWritten ? valueOf(product) : { refused: reason }]
      }))
    })
  }
}
