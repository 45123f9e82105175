import { Effect, Schema, Stream } from "effect"
import { CurrencyCode, type Outbound } from "stoa/plugin"
import type { ChannelCatalog } from "../ChannelAdapter.ts"
import { channelError, ChannelRefused, ChannelUnavailable } from "../ChannelErrors.ts"
import * as Api from "./ShopifyApi.ts"
import { channelProduct, fields, Item, itemWith } from "./ShopifyProduct.ts"

const { List, NullOr, Struct, Text } = Api

const media = `media { edges { node { ${fields.picture} } } }`
/** In a grouped file the lines of a product follow each other. Shopify may take too long to group a large catalog. */
const bulkQuery = (isGrouped: boolean) =>
  `{ products${isGrouped ? "" : "(sortKey: ID)"} { edges { node { ${fields.product} ${media}
    variants { edges { node { ${fields.variant} ${media} } } } } } } }`
const bulkRun = `mutation ($query: String!, $isGrouped: Boolean!) {
  done: bulkOperationRunQuery(query: $query, groupObjects: $isGrouped) {
    operation: bulkOperation { id } userErrors { code message } } }`
const Operation = Struct({ id: Text, status: Text, query: Text, url: NullOr(Text) })
const running: ReadonlyArray<string | undefined> = ["CREATED", "RUNNING", "CANCELING"]
const [mostTries, pollMs] = [4, 5_000]

const readLine = Schema.decodeUnknownEffect(Schema.fromJsonString(Item))

/** Reads up to `limit` products from byte `from` of the file; `next` is the byte of the next one. Undefined without the file. */
const readFile = Effect.fnUntraced(
  function*(http: Outbound, url: string, from: number, limit: number, isGrouped: boolean) {
    const { body, status } = yield* http.stream({ url, headers: { range: `bytes=${from}-` } })
    const [products, children] = [new Array<Item>(), new Map<string, Array<Item>>()]
    // A server without ranges sends the whole file.
    let [toSkip, at] = [status === 206 ? 0 : from, from]
    let next: number | null = null
    yield* body.pipe(
      Stream.map((part) => {
        const wanted = part.subarray(toSkip)
        toSkip -= part.length - wanted.length
        return wanted
      }),
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEachWhile((text) =>
        Effect.map(readLine(text), (line) => {
          const [begin, parent] = [at, line["__parentId"]]
          at += Buffer.byteLength(text) + 1
          if (parent === undefined && products.length === limit) {
            next ??= begin
            return !isGrouped
          }
          const siblings = parent === undefined ? products : children.get(String(parent))
          if (siblings?.push(line) !== undefined) children.set(line.id, [])
          return true
        })
      )
    )
    return { next, items: products.flatMap((one) => channelProduct(one, (id) => children.get(id) ?? []) ?? []) }
  },
  Effect.scoped,
  Effect.catchTag("SchemaError", () => Effect.fail(Api.nonsense())),
  Effect.catchIf(
    (error) => error._tag === "OutboundRejected" && error.status < 500 && error.status !== 429,
    () => Effect.undefined
  ),
  Effect.mapError((error) => error._tag === "ChannelUnavailable" ? error : channelError(error))
)

const Whole = itemWith({
  variants: Api.Page(itemWith({ media: Struct({ nodes: List(Item) }) })),
  media: Api.Page(Item)
})
const wholeQuery = `query ($id: ID!, $variants: String, $media: String) { found: product(id: $id) { ${fields.product}
  variants(first: 20, after: $variants) {
    ${Api.paged(`${fields.variant} media(first: 1) { nodes { ${fields.picture} } }`)} }
  media(first: 20, after: $media) { ${Api.paged(fields.picture)} } } }`

/** Reads the catalog from the file of a bulk operation: paged queries of 5,000 products would use up the limit for minutes. */
export const shopifyCatalog = (call: Api.ShopifyCall, http: Outbound): ChannelCatalog => {
  const begin = Effect.fnUntraced(function*(tries: number) {
    if (tries > mostTries) return yield* new ChannelRefused({ message: "The store cannot collect its products." })
    const [query, isGrouped] = [bulkQuery(tries === 0), tries === 0]
    const { known } = yield* call(
      Struct({ known: Struct({ nodes: List(Operation) }) }),
      "{ known: bulkOperations(first: 10, reverse: true) { nodes { id status query url } } }"
    )
    const same = known.nodes.find((one) => running.includes(one.status) && one.query === query)
    const { done } = same === undefined
      ? yield* call(Api.Done({ operation: NullOr(Struct({ id: Text })) }), bulkRun, { query, isGrouped })
      : { done: { operation: same, userErrors: [] } }
    if (done.operation === null) return yield* Api.refusal(done.userErrors)
    return { items: [], nextCursor: `${tries}:0:${Api.numberIn(done.operation.id)}` }
  })

  const page = Effect.fnUntraced(function*(cursor: string | null, limit: number) {
    if (cursor === null) return yield* begin(0)
    const [tries = 0, from = 0, id] = cursor.split(":").map(Number)
    const { operation } = yield* call(
      Struct({ operation: NullOr(Operation) }),
      "query ($id: ID!) { operation: bulkOperation(id: $id) { id status query url } }",
      { id: Api.gid("BulkOperation", String(id)) }
    )
    if (running.includes(operation?.status)) {
      return yield* new ChannelUnavailable({
        message: "The store is still collecting its products.",
        retryAfterMs: pollMs
      })
    }
    if (operation?.status !== "COMPLETED") return yield* begin(tries + 1)
    // A file without lines is not made.
    if (operation.url === null) return { items: [], nextCursor: null }
    const read = yield* readFile(http, operation.url, from, limit, tries === 0)
    if (read === undefined) return yield* begin(tries + 1)
    return { items: read.items, nextCursor: read.next === null ? null : `${tries}:${read.next}:${id}` }
  })

  const product = Effect.fnUntraced(function*(externalId: string) {
    const [id, children] = [Api.gid("Product", externalId), new Map<string, ReadonlyArray<Item>>()]
    let after: { readonly variants?: string | null | undefined; readonly media?: string | null | undefined } = {}
    for (;;) {
      const { found } = yield* call(Struct({ found: NullOr(Whole) }), wholeQuery, { id, ...after })
      if (found === null) return undefined
      const { media: { nodes: pictures, pageInfo: inMedia }, variants: { nodes: variants, pageInfo } } = found
      for (const one of variants) children.set(one.id, one.media.nodes)
      children.set(id, [...children.get(id) ?? [], ...variants, ...pictures])
      if (!pageInfo.hasNextPage && !inMedia.hasNextPage) return channelProduct(found, (one) => children.get(one) ?? [])
      after = { variants: pageInfo.endCursor ?? after.variants, media: inMedia.endCursor ?? after.media }
    }
  })

  const currency = Effect.map(
    call(Struct({ shop: Struct({ currencyCode: CurrencyCode }) }), "{ shop { currencyCode } }"),
    ({ shop }) => shop.currencyCode
  )
  return { currency, page, product }
}
