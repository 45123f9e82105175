import { Effect, Option, Schema } from "effect"
import type { EntityId } from "stoa/plugin"
import type { CatalogCall } from "./StoreStock.ts"

const readJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const words = ["title", "subtitle", "description", "seoTitle", "seoDescription"] as const

/** The HTML of a formatted text; null for another format. */
export const htmlOf = (rich: unknown): string | null => {
  const html: unknown = Reflect.get(Object(rich), "html")
  return typeof html === "string" ? html : null
}

/** A value as a text, as stores have it. */
export const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value)

type Texts = Partial<Record<typeof words[number] | "richDescription", unknown>>

const ofTexts = (locale: string, texts: Texts): ReadonlyArray<readonly [string, string | null]> => [
  ...words.map((word) => [`attributes.${locale}.${word}`, textOf(texts[word])] as const),
  [`attributes.${locale}.richDescription`, htmlOf(texts.richDescription)]
]

/** Values of entities by their paths; texts that wait for approval are those that are approved. */
export const entityValues = Effect.fn("EntityFields.read")(
  function*({ services }: CatalogCall, ids: ReadonlyArray<EntityId>) {
    if (ids.length === 0) return new Map<EntityId, ReadonlyMap<string, string | null>>()
    const { items } = yield* services.catalog.list({
      ids,
      page: 1,
      limit: ids.length,
      sort: { field: "createdAt", ascending: true },
      include: ["attributes", "customFields"],
      approvedOnly: true
    })
    return new Map(items.map(({ attributes = [], customFields = [], id }) => [
      id,
      new Map([
        ...attributes.flatMap((texts) => ofTexts(texts.locale, texts)),
        ...customFields.map(({ name, value }) => [`customFields.${name}`, textOf(value)] as const)
      ])
    ]))
  },
  (work) => Effect.catch(work, Effect.die)
)

/** Writes the value that a store has of a field. */
export const writeField = Effect.fn("EntityFields.write")(
  function*({ services }: CatalogCall, entityId: EntityId, path: string, value: string | null) {
    const [kind, first = "", field = ""] = path.split(".")
    if (kind === "attributes") {
      const sent = field === "richDescription" && value !== null ? { format: "html", html: value } : value
      return yield* services.catalog.setAttributes(entityId, first, { [field]: sent, status: "approved" })
    }
    const { customFields = [] } = yield* services.catalog.get(entityId, ["customFields"])
    const before = customFields.find(({ name }) => name === first)?.value
    const isText = value === null || before === undefined || before === null || typeof before === "string"
    yield* services.catalog.update(entityId, {
      customFields: { [first]: isText ? value : Option.getOrElse(readJson(value), () => value) }
    })
  }
)
