import { assert, describe, it } from "vitest"
import { hintKey } from "../../src/domain/platform/hints/Hints.ts"
import { isObject, type Json, type JsonObject, list } from "../../src/http/openapi/Json.ts"
import { objectsOf } from "./Validators.ts"
import { entriesOf, whole30 } from "./WholeDocument.ts"

interface Property {
  /** `Order.grandTotal` */
  readonly place: string
  readonly name: string
  readonly schema: JsonObject
}

const properties: ReadonlyArray<Property> = objectsOf(whole30).flatMap(([path, object]) =>
  path.endsWith("/example") || !isObject(object["properties"])
    ? []
    : entriesOf(object["properties"]).flatMap(([name, schema]) =>
      isObject(schema) ? [{ place: `${path.replace("#/components/schemas/", "")}.${name}`, name, schema }] : []
    )
)

const component = (reference: string): Json | undefined =>
  Object.fromEntries(entriesOf(isObject(whole30["components"]) ? whole30["components"]["schemas"] : {}))[
    reference.replace("#/components/schemas/", "")
  ]

/** Whether a schema, or the component that it refers to, is described. */
const isDescribed = (schema: Json | undefined): boolean =>
  isObject(schema) && (
    typeof schema["description"] === "string" ||
    typeof schema["$ref"] === "string" && isDescribed(component(schema["$ref"])) ||
    list(schema["allOf"]).some(isDescribed)
  )

const kindOf = ({ schema }: Property): Json | undefined =>
  isObject(schema[hintKey]) ? schema[hintKey]["kind"] : undefined

/** Names that mean an amount wherever a whole number has them, and those that count or weigh other things. */
const isMoneyName = (name: string): boolean =>
  /(amount|price|cost|fee|subtotal|discount|balance|spend|cents|tip|freight|duty|(grand|tax|shipping|discount)Total)$/i
    .test(name)
const others = ["InventoryAdjustment.amount", "AuthApiKey.refillAmount", "AuthApiKeyWithKey.refillAmount"]

/** Names that say what they are, and records that carry their name. */
const telling = new Set(
  ("accountHolder address addresses adjustments alt apiKeys attachments attributes barcode bill body booking brands cards carrier " +
    "carts categories city comments company contentType count country currency customer data description email " +
    "fulfillments height iban id interactions inventory invitation invitations invoices ip items label line1 line2 " +
    "lineItems lines locale media member members message meta modifiers name note notes optionTypes orders pagination " +
    "password path phone photos postalCode prices pricing profile promotionCodes quantity reason recipe " +
    "reconciliation refunds returns session shift sku slug subtitle supplier swift text tickets title total totals " +
    "transaction transactions transfer url user userAgent variants vatNumber width").split(" ")
)

const endings = /(Address|Count|Email|Ids?|Name|Number|Password|Phone|Title|Url)$/

/** A choice of values always needs words; an answer that is only `true` needs none. */
const saysAll = ({ name, schema }: Property): boolean =>
  schema["enum"] === undefined
    ? telling.has(name) || /^is[A-Z]/.test(name) || endings.test(name)
    : JSON.stringify(schema["enum"]) === "[true]"

/** Its words are those of schema.org. */
const isForeign = ({ place }: Property): boolean => place.startsWith("ReviewJsonLd")

describe("the fields of the document", () => {
  it("that are amounts say in which currency they are, in minor units", () => {
    const amounts = properties.filter((one) => kindOf(one) === "money")
    assert.isAbove(amounts.length, 300)
    assert.deepStrictEqual(
      amounts.filter(({ schema }) => !/minor units/i.test(String(schema["description"]))).map(({ place }) => place),
      []
    )
    const unmarked = properties.filter((one) =>
      one.schema["type"] === "integer" && isMoneyName(one.name) && kindOf(one) !== "money" &&
      !others.includes(one.place)
    )
    assert.deepStrictEqual(unmarked.map(({ place }) => place), [])
  })

  it("that are moments have their format and say how they are written", () => {
    const moments = properties.filter(({ name, schema }) =>
      schema["type"] === "string" && /(At|Until|timestamp)$/.test(name)
    )
    assert.isAbove(moments.length, 300)
    const wrong = moments.filter(({ schema }) =>
      !["date-time", "date"].includes(String(schema["format"])) || !isDescribed(schema)
    )
    assert.deepStrictEqual(wrong.map(({ place }) => place), [])
  })

  it("have 64 bits where their bounds need them", () => {
    const bare = objectsOf(whole30).filter(([, { enum: values, format, maximum, type }]) =>
      type === "integer" && values === undefined && format !== (Number(maximum) <= 2_147_483_647 ? "int32" : "int64")
    )
    assert.deepStrictEqual(
      bare.filter(([, { minimum }]) => Number(minimum) >= -2_147_483_648).map(([path]) => path),
      []
    )
  })

  it("are described unless their name says all", () => {
    const left = properties.filter((one) => !isDescribed(one.schema) && !saysAll(one) && !isForeign(one))
    assert.deepStrictEqual(left.map(({ place }) => place), [], "describe them at their column or schema (`about`)")
  })

  it("are described in sentences that begin with a word", () => {
    const words = properties.flatMap(({ place, schema: { description } }) =>
      typeof description === "string" ? [`${place}: ${description}`] : []
    )
    assert.isAbove(words.length, 5_000)
    assert.deepStrictEqual(words.filter((one) => /^\S+: (`|(What|Who|Which|Where|Of|Whether)\b)/.test(one)), [])
  })

  it("never are a null by name: generators of other languages stumble over it", () => {
    assert.deepStrictEqual(objectsOf(whole30).filter(([, schema]) => JSON.stringify(schema["enum"]) === "[null]"), [])
  })
})

describe("the parameters of the document", () => {
  it("have the types that clients write", () => {
    const found = objectsOf(whole30["paths"] ?? null).filter(([, one]) => one["in"] === "query")
    const typeOf = ([, { schema }]: readonly [string, JsonObject]) => isObject(schema) ? schema["type"] : undefined
    const named = (pattern: RegExp) => found.filter(([, { name }]) => pattern.test(String(name)))
    for (const name of [/^page$/, /^(limit|width|depth)$/]) {
      assert.deepStrictEqual(named(name).filter((one) => typeOf(one) !== "integer"), [], String(name))
    }
    const flags = named(
      /^(is[A-Z]\w*|includeArchived|descendants|fallback|signed|dryRun|pictures|metadataReplace|unread)$/
    )
    assert.isAbove(flags.length, 20)
    assert.deepStrictEqual(flags.filter((one) => typeOf(one) !== "boolean"), [])
  })
})
