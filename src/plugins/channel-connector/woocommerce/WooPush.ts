import { Effect, Schema, Stream } from "effect"
import type { ChannelPush, ProductValues, PushableFields, ValueOf } from "../ChannelAdapter.ts"
import type { MappedField, RemoteField } from "../ChannelRecords.ts"
import { textOf, type WooApi } from "./WooApi.ts"

const natives = ["name", "description", "short_description"] as const

const Attribute = Schema.StructWithRest(
  Schema.Struct({
    name: Schema.String,
    options: Schema.optional(Schema.Array(Schema.String)),
    variation: Schema.optional(Schema.Boolean)
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
const Meta = Schema.Struct({ key: Schema.String, value: Schema.Unknown })
const Product = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  description: Schema.String,
  short_description: Schema.String,
  attributes: Schema.Array(Attribute),
  meta_data: Schema.Array(Meta)
})
type Product = typeof Product.Type

const Failed = Schema.Struct({ id: Schema.Int, error: Schema.Struct({ message: Schema.String }) })
const Answer = Schema.Struct({ update: Schema.Array(Schema.Union([Failed, Product])) })

const native = (fieldPath: string, remoteKey: string): MappedField => ({ fieldPath, target: "native", remoteKey })

/** WordPress hides keys that begin with `_`, and keeps prices and stock in them. */
export const wooPushes: PushableFields = {
  batch: 100,
  defaults: [
    native("attributes.en.title", "name"),
    native("attributes.en.richDescription", "description"),
    native("attributes.en.description", "description")
  ],
  accepts: ({ remoteKey, target }) =>
    target === "native"
      ? natives.some((one) => one === remoteKey)
      : target === "attribute" || !/^_(?!yoast|rank_math)/.test(remoteKey)
}

const valueOf = (product: Product): ValueOf => ({ remoteKey, target }) => {
  if (target === "native") return textOf(Reflect.get(product, remoteKey)) || null
  if (target === "attribute") {
    return product.attributes.find(({ name }) => name === remoteKey)?.options?.join(" | ") ?? null
  }
  const value = product.meta_data.find(({ key }) => key === remoteKey)?.value
  return value === undefined || value === null ? null : typeof value === "string" ? value : JSON.stringify(value)
}

/** The change of a product; attributes are written as a whole list. Options of variations stay as they are. */
const changeOf = (product: Product, { values }: ProductValues) => {
  const of = (target: RemoteField["target"]) => values.filter((one) => one.target === target)
  const attributes = of("attribute")
  const isChanged = ({ name, variation }: typeof Attribute.Type) =>
    variation !== true && attributes.some(({ remoteKey }) => remoteKey === name)
  const taken = product.attributes.filter(({ variation }) => variation === true).map(({ name }) => name)
  return {
    id: product.id,
    ...Object.fromEntries(of("native").map(({ remoteKey, value }) => [remoteKey, value ?? ""])),
    ...(of("meta").length > 0 && { meta_data: of("meta").map(({ remoteKey, value }) => ({ key: remoteKey, value })) }),
    ...(attributes.length > 0 && {
      attributes: [
        ...product.attributes.filter((one) => !isChanged(one)),
        ...attributes.filter(({ remoteKey, value }) => value !== null && !taken.includes(remoteKey)).map((
          { remoteKey, value }
        ) => ({
          ...product.attributes.find(({ name }) => name === remoteKey),
          name: remoteKey,
          visible: true,
          options: (value ?? "").split("|").map((option) => option.trim())
        }))
      ]
    })
  }
}

/** Writes fields of products, 100 at once. */
export const wooPush = (api: WooApi): ChannelPush => {
  const find = Effect.fnUntraced(function*(externalIds: ReadonlyArray<string>) {
    const asked = { context: "edit", include: externalIds.join(), _fields: Object.keys(Product.fields).join() }
    const found = yield* Stream.runCollect(api.rows(Product, "products", asked))
    return new Map(found.map((one) => [`${one.id}`, one]))
  })
  return {
    read: (products) =>
      Effect.map(
        find(products.map(({ externalId }) => externalId)),
        (found) => new Map(Array.from(found, ([id, product]) => [id, valueOf(product)]))
      ),
    write: Effect.fnUntraced(function*(products) {
      const found = yield* find(products.map(({ externalId }) => externalId))
      const update = products.flatMap((one) => {
        const product = found.get(one.externalId)
        return product === undefined ? [] : [changeOf(product, one)]
      })
      if (update.length === 0) return new Map()
      const answer = yield* api.send(Answer, "products/batch?context=edit", { method: "PUT", body: { update } })
      return new Map(
        answer.update.map((one) => [`${one.id}`, "error" in one ? { refused: one.error.message } : valueOf(one)])
      )
    })
  }
}
