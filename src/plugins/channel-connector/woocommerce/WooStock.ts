import { Array, Effect, Schema, Stream } from "effect"
import type { ChannelStock } from "../ChannelAdapter.ts"
import type { StockChange, StockOutcome } from "../ChannelRecords.ts"
import type { WooApi } from "./WooApi.ts"

const Item = Schema.Struct({
  id: Schema.Int,
  status: Schema.String,
  manage_stock: Schema.Union([Schema.Boolean, Schema.Literal("parent")]),
  stock_quantity: Schema.NullOr(Schema.Finite),
  stock_status: Schema.String
})

/** What is not counted is out of stock, or has no limit; a disabled variation is sold out. Below zero more was sold than there was. */
const levelOf = (path: string, { manage_stock, status, stock_quantity, stock_status }: typeof Item.Type) =>
  path.includes("/variations/") && status !== "publish"
    ? 0
    : manage_stock !== false
    ? Math.floor(stock_quantity ?? 0)
    : stock_status === "outofstock"
    ? 0
    : null

/** The last write of a level leaves its key, so that it is made once. */
const keyName = "_stoa_stock_key"
const Marked = Schema.Struct({
  ...Item.fields,
  meta_data: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
})

/** Units are `<product>`, or `<product>/<variation>`. */
const pathOf = (externalId: string): string => `products/${externalId.replace("/", "/variations/")}`

/** Sets a level, if it was not set with this key before. WooCommerce may save a product and then refuse it. */
const setLevel = Effect.fnUntraced(
  function*(api: WooApi, { available: wanted, expected, externalId }: StockChange, key: string) {
    const path = pathOf(externalId)
    const isMade = ({ meta_data }: typeof Marked.Type) =>
      meta_data.some((one) => one["key"] === keyName && one["value"] === key)
    const answer = (item: typeof Marked.Type, isSet: boolean): ReadonlyArray<StockOutcome> => [
      { externalId, available: levelOf(path, item), outcome: isSet ? "set" : "differs" }
    ]
    const item = yield* api.find(Marked, path)
    if (item === undefined) return []
    if (isMade(item)) return answer(item, true)
    if (levelOf(path, item) !== expected || item.manage_stock === "parent") return answer(item, false)
    const body = { manage_stock: true, stock_quantity: wanted, meta_data: [{ key: keyName, value: key }] }
    const after = yield* api.send(Marked, path, { method: "PUT", body }).pipe(
      Effect.catchTag(
        "ChannelRefused",
        (refused) =>
          Effect.flatMap(
            api.find(Marked, path),
            (saved) => saved !== undefined && isMade(saved) ? Effect.succeed(saved) : refused
          )
      )
    )
    return answer(after, true)
  }
)

/** Reads and sets stock. Variations that share the stock of their product show all of it, and cannot set it. */
export const wooStock = (api: WooApi): ChannelStock => ({
  read: Effect.fnUntraced(function*(externalIds) {
    const lists = Array.groupBy(externalIds.map(pathOf), (path) => path.slice(0, path.lastIndexOf("/")))
    const asked = Object.entries(lists).flatMap(([list, paths]) =>
      Array.chunksOf(paths.map((path) => path.slice(list.length + 1)), 100).map((ids) => ({
        list,
        include: ids.join()
      }))
    )
    const found = yield* Effect.forEach(asked, ({ include, list }) =>
      Effect.map(
        Stream.runCollect(api.rows(Item, list, { include, _fields: Object.keys(Item.fields).join() })),
        (items) =>
          items.map((item) => {
            const path = `${list}/${item.id}`
            const isFixed = item.manage_stock !== true || path.includes("/variations/") && item.status !== "publish"
            return [path, { available: levelOf(path, item), ...isFixed && { isFixed } }] as const
          })
      ), { concurrency: 4 })
    const levels = new Map(found.flat())
    return externalIds.flatMap((externalId) => {
      const level = levels.get(pathOf(externalId))
      return level === undefined ? [] : [{ externalId, ...level }]
    })
  }),
  // WooCommerce compares nothing: what it sells between the read and the write is overwritten.
  set: (changes, key) =>
    Effect.map(
      Effect.forEach(changes, (change) => setLevel(api, change, key), { concurrency: 4 }),
      (outcomes) => outcomes.flat()
    )
})
