import { hintKey } from "../../domain/platform/hints/Hints.ts"
import { isArray, isObject, type Json, type JsonObject, list, mapValues } from "./Json.ts"

/*
 * What a schema cannot know of itself, and the document can: the field beside an amount that has its currency, and the kind
 * of records that an operation lists.
 */

const hintOf = (schema: Json | undefined): JsonObject => {
  const hint = isObject(schema) ? schema[hintKey] : undefined
  return isObject(hint) ? hint : {}
}

const child = (value: Json | undefined, ...path: ReadonlyArray<string>): Json | undefined =>
  path.reduce<Json | undefined>((one, key) => isObject(one) ? one[key] : undefined, value)

/** The field of an object that has the currency of its amounts: `currency`, or the only one that ends so. */
const currencyOf = (properties: JsonObject): string | undefined => {
  if (properties["currency"] !== undefined) return "currency"
  const [only, ...others] = Object.keys(properties).filter((name) => name.endsWith("Currency"))
  return others.length === 0 ? only : undefined
}

const unitsOf = (currency: string | undefined): string =>
  currency === undefined
    ? "Minor units of the currency of the record around it."
    : `Minor units of \`${currency}\`.`

const amountWith = (amount: JsonObject, beside: string | undefined): JsonObject => {
  const hint = hintOf(amount)
  const currency = typeof hint["currency"] === "string" ? hint["currency"] : beside
  const description = String(amount["description"] ?? "")
  const units = /minor units/i.test(description) ? [] : [unitsOf(currency)]
  return {
    ...amount,
    description: [...description === "" ? [] : [description], ...units].join(" "),
    [hintKey]: { ...hint, ...(currency === undefined ? {} : { currency }) }
  }
}

/** Amounts say in which currency they are, also those in lists of an object with a currency. */
const withCurrencies = (value: Json, known?: string): Json => {
  if (isArray(value)) return value.map((one) => withCurrencies(one, known))
  if (!isObject(value)) return value
  const { properties } = value
  const beside = isObject(properties) ? currencyOf(properties) ?? known : known
  const inside = mapValues(value, (one) => withCurrencies(one, beside))
  return hintOf(inside)["kind"] === "money" ? amountWith(inside, known) : inside
}

/** The kind of the records that a GET lists by pages, of its schema of 200. */
const listed = (operation: JsonObject, schemas: JsonObject): Json | undefined => {
  const answer = child(operation, "responses", "200", "content", "application/json", "schema", "properties")
  if (child(answer, "meta") === undefined) return undefined
  const items = child(answer, "data", "items")
  const name = child(items, "$ref")
  const item = typeof name === "string" ? schemas[name.replace("#/components/schemas/", "")] : items
  return hintOf(child(item, "properties", "id"))["ref"]
}

const withList = (operation: Json, schemas: JsonObject): Json => {
  if (!isObject(operation)) return operation
  const ref = listed(operation, schemas)
  const isBelow = list(operation["parameters"]).some((parameter) => child(parameter, "in") === "path")
  return ref === undefined || isBelow ? operation : { ...operation, [hintKey]: { list: ref } }
}

/** The document with hints for generated screens: `currency` of amounts, and `list` at the GET that lists all records of a kind. */
export const withHints = (document: JsonObject): JsonObject => {
  const { components, paths, ...rest } = mapValues(document, (part) => withCurrencies(part))
  const schemas = child(components, "schemas")
  const known = isObject(schemas) ? schemas : {}
  return {
    ...rest,
    paths: mapValues(paths, (item) => mapValues(item, (one, method) => method === "get" ? withList(one, known) : one)),
    components: components ?? {}
  }
}
