import { Effect, Schema, Stream } from "effect"
import { CurrencyCode, readExternal } from "stoa/plugin"
import type { ChannelCatalog } from "../ChannelAdapter.ts"
import { ChannelRefused } from "../ChannelErrors.ts"
import type { ChannelProduct } from "../ChannelRecords.ts"
import { textOf, type WooApi } from "./WooApi.ts"
import { askedFields, WooProduct, wooRow, wooSlug } from "./WooRows.ts"

const Setting = Schema.Struct({ value: Schema.String })
const Category = Schema.Struct({ id: Schema.Int, name: Schema.String, parent: Schema.Int })

/** Reads products as the file of the store has them, but those with nothing to sell. */
export const wooCatalog = (api: WooApi): ChannelCatalog => {
  const setting = (name: string) => Effect.map(api.send(Setting, `settings/${name}`), ({ value }) => value)
  const allOf = (id: number) => Stream.runCollect(api.rows(WooProduct, `products/${id}/variations`, askedFields))

  const read = Effect.fnUntraced(function*(products: ReadonlyArray<WooProduct>) {
    const weightUnit = yield* setting("products/woocommerce_weight_unit")
    const categories = yield* Stream.runCollect(
      api.rows(Category, "products/categories", { _fields: "id,name,parent" })
    )
    const byId = new Map<unknown, typeof Category.Type>(categories.map((one) => [one.id, one]))
    /** `Clothes > Shirts` */
    const path = (id: unknown, below: ReadonlyArray<string> = []): string => {
      const one = byId.get(id)
      return one === undefined || below.length > 20 ? below.join(" > ") : path(one.parent, [one.name, ...below])
    }
    const productOf = Effect.fnUntraced(function*(one: WooProduct) {
      const isVariable = one["type"] === "variable"
      const variations = isVariable ? yield* allOf(one.id) : []
      const [first, ...others] = isVariable ? variations.map(({ id }) => `${one.id}/${id}`) : [`${one.id}`]
      const rows = [
        wooRow(one, { weightUnit, path }),
        ...variations.map((each) => wooRow(each, { weightUnit, path }, one))
      ]
      const draft = readExternal("woocommerce", rows, wooSlug(one))
      if (first === undefined || one["type"] === "grouped" || "problem" in draft) return []
      const product: ChannelProduct = {
        externalId: `${one.id}`,
        slug: wooSlug(one),
        draft,
        unitIds: [first, ...others]
      }
      return [product]
    })
    return (yield* Effect.forEach(products, productOf, { concurrency: 4 })).flat()
  })

  const find = (id: string) =>
    Effect.map(
      api.find(WooProduct, `products/${encodeURIComponent(id)}?${new URLSearchParams(askedFields)}`),
      (found) => found?.["status"] === "trash" ? undefined : found
    )

  return {
    currency: Effect.flatMap(
      setting("general/woocommerce_currency"),
      (code) =>
        Effect.mapError(Schema.decodeEffect(CurrencyCode)(code), ({ message }) => new ChannelRefused({ message }))
    ),
    page: Effect.fnUntraced(function*(cursor, limit) {
      const { items, nextCursor } = yield* api.page([WooProduct, "products", askedFields], cursor ?? "0:0", limit)
      return { items: yield* read(items), nextCursor }
    }),
    product: Effect.fnUntraced(function*(externalId) {
      const found = yield* find(externalId)
      // Webhooks of variations name the variation.
      const whole = found?.["type"] === "variation" ? yield* find(textOf(found["parent_id"])) : found
      return whole === undefined ? undefined : (yield* read([whole]))[0]
    })
  }
}
