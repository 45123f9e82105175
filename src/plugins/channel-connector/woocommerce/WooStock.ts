import { Array, Effect, Schema, Stream } from "effect"
import type { ChannelStock } from "../ChannelAdapter.ts"
import type { StockOutcome } from "../ChannelRecords.ts"
import type { WooApi } from "./WooApi.ts"

const Item = Schema.Struct({
  id: Schema.Int,
  status: Schema.String,
  manage_stock: Schema.Union([Schema.Boolean, Schema.Literal("parent")]),
  stock_quantity: Schema.NullOr(Schema.Finite),
  stock_status: Schema.String
})

/** What is not counted is out of stock, or has no limit; a disabled variation is sold out. */
const levelOf = (path: string, { manage_stock, status, stock_quantity, stock_status }: typeof Item.Type) =>
  path.includes("/variations/") && status !== "publish"
    ? 0
    : manage_stock !== false
    ? Math.max(0, Math.floor(stock_quantity ?? 0))
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

/** Reads and sets stock. Variations that share the stock of their product show and set all of it. */
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
            const isFixed = path.includes("/variations/") &&
              (item.manage_stock === "parent" || item.status !== "publish")
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
      Effect.forEach(
        changes,
        Effect.fnUntraced(function*({ available: wanted, expected, externalId }) {
          const path = pathOf(externalId)
          const item = yield* api.find(Marked, path)
          if (item === undefined) return []
          const before = levelOf(path, item)
          const mark = { key: keyName, value: key }
          if (item.meta_data.some((one) => one["key"] === mark.key && one["value"] === mark.value)) {
            return [{ externalId, available: before, outcome: "set" as const }]
          }
          const owner = item.manage_stock === "parent" ? externalId.split("/", 1).join() : externalId
          const available = before !== expected || before === wanted ? before : levelOf(
            path,
            yield* api.send(Item, pathOf(owner), {
              method: "PUT",
              body: { manage_stock: true, stock_quantity: wanted, meta_data: [mark] }
            })
          )
          const outcome: StockOutcome = { externalId, available, outcome: available === wanted ? "set" : "differs" }
          return [outcome]
        }),
        { concurrency: 4 }
      ),
      (outcomes) => outcomes.flat()
    )
})
