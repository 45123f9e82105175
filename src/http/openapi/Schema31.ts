import { hintKey, typeKey } from "../../domain/platform/hints/Hints.ts"
import { isArray, isObject, type Json, type JsonObject, list, mapValues, without } from "./Json.ts"

/** Keywords that say nothing of values: an outer schema may take them over, or say them in another way. */
const annotations = ["title", "description", "deprecated", "default", "examples", "readOnly", "writeOnly", hintKey]

const inOne = ["items", "additionalProperties", "not", "contains", "propertyNames"]
const inMany = ["prefixItems", "anyOf", "oneOf", "allOf"]
const inNamed = ["properties", "patternProperties"]

/**
 * A schema of JSON Schema 2020-12 as generators read it best: conditions that stand apart only for their annotations join
 * the schema, a type that may be null is a list of types, and whole numbers say how many bits they need.
 */
export const toSchema31 = (schema: Json): Json => {
  if (!isObject(schema)) return schema
  const parts = [schema, ...list(schema["allOf"])].filter(isObject)
  const typed = parts.map((part) => part[typeKey]).find(isObject)
  if (typed !== undefined) return toSchema31(Object.assign({}, ...parts.map(annotationsOf), typed))
  return [within, joined, nullable, sized, plainUuid].reduce((current, step) => step(current), schema)
}

const annotationsOf = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => annotations.includes(key)))

const within = (schema: JsonObject): JsonObject =>
  mapValues(schema, (value, key) => {
    if (inNamed.includes(key)) return mapValues(value, toSchema31)
    if (inMany.includes(key)) return list(value).map(toSchema31)
    return inOne.includes(key) ? toSchema31(value) : value
  })

const limits = new Map([["minimum", Math.max], ["maximum", Math.min], ["minLength", Math.max], ["maxLength", Math.min]])

/** Whether two schemas of one value can be said in one: they agree where both say something, or one is the narrower. */
const fits = (schema: JsonObject, member: JsonObject): boolean =>
  Object.entries(member).every(([key, value]) =>
    annotations.includes(key) || limits.has(key) || schema[key] === undefined ||
    JSON.stringify(schema[key]) === JSON.stringify(value)
  )

const both = (schema: JsonObject, member: JsonObject): JsonObject => ({
  ...schema,
  ...mapValues(member, (value, key) => {
    const [other, tighter] = [schema[key], limits.get(key)]
    return tighter && typeof other === "number" && typeof value === "number" ? tighter(other, value) : value
  })
})

const joined = (schema: JsonObject): JsonObject => {
  const { allOf, ...rest } = schema
  if (!isArray(allOf)) return schema
  const [one, apart] = allOf.reduce<readonly [JsonObject, ReadonlyArray<Json>]>(
    ([all, apart], member) =>
      isObject(member) && fits(all, member) && (member["$ref"] === undefined || Object.keys(all).length === 0)
        ? [both(all, member), apart]
        : [all, [...apart, member]],
    [rest, []]
  )
  return apart.length === 0 ? one : { ...one, allOf: apart }
}

const isNull = (schema: Json): boolean => isObject(schema) && schema["type"] === "null"

/** What a value that may be null is otherwise, with one null; its annotations are those of the value. */
const nullable = (schema: JsonObject): JsonObject => {
  const members = list(schema["anyOf"])
  const [only, ...others] = members.filter((member) => !isNull(member))
  if (!members.some(isNull) || !isObject(only)) return schema
  if (others.length > 0) return { ...schema, anyOf: [only, ...others, { type: "null" }] }
  const beside = without(schema, "anyOf")
  const { type, enum: values } = only
  if (typeof type === "string" && only["const"] === undefined && fits(only, beside)) {
    return { ...both(only, beside), type: [type, "null"], ...(isArray(values) ? { enum: [...values, null] } : {}) }
  }
  const said = annotationsOf(only)
  return { ...said, ...beside, anyOf: [without(only, ...Object.keys(said)), { type: "null" }] }
}

/** The format says enough: the pattern of a UUID is longer than most schemas. */
const plainUuid = (schema: JsonObject): JsonObject => schema["format"] === "uuid" ? without(schema, "pattern") : schema

const largest32 = 2_147_483_647

const bound = (schema: JsonObject, inclusive: string, exclusive: string): number =>
  Number(schema[inclusive] ?? schema[exclusive] ?? Number.NaN)

/** A whole number that no 32 bits hold for certain needs 64. */
const sized = (schema: JsonObject): JsonObject => {
  const { enum: values, format, type } = schema
  if (format !== undefined || values !== undefined || !(type === "integer" || list(type).includes("integer"))) {
    return schema
  }
  const fits32 = bound(schema, "maximum", "exclusiveMaximum") <= largest32 &&
    bound(schema, "minimum", "exclusiveMinimum") >= -largest32 - 1
  return { ...schema, format: fits32 ? "int32" : "int64" }
}
