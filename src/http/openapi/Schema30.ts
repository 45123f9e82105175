import { distinct, isArray, isObject, type Json, type JsonObject, list, mapValues, without } from "./Json.ts"

const keywords = new Set(
  ("title multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems " +
    "uniqueItems maxProperties minProperties required enum type allOf oneOf anyOf not items properties " +
    "additionalProperties description format default nullable discriminator readOnly writeOnly xml externalDocs " +
    "example deprecated").split(" ")
)

/** 3.0 has no boolean schemas and no type "null": an empty text comes next to one. */
const nothing: JsonObject = { not: {} }
const onlyNull: JsonObject = { type: "string", nullable: true, maxLength: 0 }

const isNull = (schema: Json): boolean =>
  isObject(schema) && (schema["type"] === "null" || schema["const"] === null || equalsOnlyNull(schema["enum"])) &&
  schema["$ref"] === undefined

const equalsOnlyNull = (values: Json | undefined): boolean =>
  isArray(values) && values.length === 1 && values[0] === null

/**
 * Converts JSON Schema 2020-12 to 3.0.3. Nulls become `nullable`; features that 3.0 lacks become the nearest weaker
 * statement: valid values stay valid.
 */
export const toSchema30 = (schema: Json): JsonObject => {
  if (!isObject(schema)) return schema === false ? nothing : {}
  if (isNull(schema)) return { ...onlyNull, ...annotationsOf(schema) }
  const steps = [reference, constant, types, unions, bounds, arrays, objects, examples, encodings, nulls]
  const converted = steps.reduce((current, step) => step(current), schema)
  return Object.fromEntries(
    Object.entries(converted).filter(([key]) => keywords.has(key) || key === "$ref" || key.startsWith("x-"))
  )
}

const annotationsOf = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => ["title", "description", "deprecated"].includes(key)))

/** In 3.0 a reference hides its siblings: they go beside an `allOf`. */
const reference = (schema: JsonObject): JsonObject => {
  const { $ref, ...siblings } = schema
  if ($ref === undefined || Object.keys(siblings).length === 0) return schema
  return { ...siblings, allOf: [...list(siblings["allOf"]), { $ref }] }
}

const constant = (schema: JsonObject): JsonObject => {
  const value = schema["const"]
  if (value === undefined) {
    const values = schema["enum"]
    if (isArray(values) && values.length === 0) return { ...without(schema, "enum"), ...nothing }
    return list(values).includes(null) ? { ...schema, nullable: true } : schema
  }
  const type = isArray(value) ? "array" : typeof value
  return { type, ...without(schema, "const"), enum: [value] }
}

const types = (schema: JsonObject): JsonObject => {
  const all = schema["type"]
  if (!isArray(all)) return schema
  const rest = all.filter((type) => type !== "null")
  const nullable = rest.length < all.length ? { nullable: true } : {}
  const [only] = rest
  if (rest.length === 1 && only !== undefined) return { ...schema, type: only, ...nullable }
  const alternatives = rest.map((type) => ({ type, ...(type === "array" ? { items: {} } : {}) }))
  const untyped = without(schema, "type")
  return untyped["anyOf"] === undefined
    ? { ...untyped, anyOf: alternatives, ...nullable }
    : { ...untyped, allOf: [...list(untyped["allOf"]), { anyOf: alternatives }], ...nullable }
}

const unions = (schema: JsonObject): JsonObject => {
  const combined = schema["allOf"] === undefined ? schema : { ...schema, allOf: list(schema["allOf"]).map(toSchema30) }
  const negated = combined["not"] === undefined ? combined : { ...combined, not: toSchema30(combined["not"]) }
  return alternatives(alternatives(negated, "anyOf"), "oneOf")
}

/** Null members become `nullable`; a union of one is that one. */
const alternatives = (schema: JsonObject, keyword: "anyOf" | "oneOf"): JsonObject => {
  const members = schema[keyword]
  if (!isArray(members)) return schema
  const rest = without(schema, keyword)
  const present = distinct(members.filter((member) => !isNull(member) && !isNever(member)).map(toSchema30))
  const nullable = members.some(isNull) ? { nullable: true } : {}
  const [only] = present
  if (only === undefined) return { ...rest, ...(members.some(isNull) ? onlyNull : nothing) }
  if (present.length > 1) return { ...rest, [keyword]: present, ...nullable }
  if (!isObject(only)) return rest
  return inlined(only, { ...rest, ...nullable })
}

const isNever = (schema: Json): boolean =>
  schema === false || (isObject(schema) && isObject(schema["not"]) && Object.keys(schema["not"]).length === 0)

const inlined = (only: JsonObject, beside: JsonObject): JsonObject => {
  if (Object.keys(beside).length === 0) return only
  const clash = Object.entries(beside).some(([key, value]) =>
    key in only && only[key] !== value && !(key in annotationsOf(beside))
  )
  return only["$ref"] === undefined && !clash
    ? { ...only, ...beside }
    : { ...beside, allOf: [...list(beside["allOf"]), only] }
}

const bounds = (schema: JsonObject): JsonObject =>
  exclusive(exclusive(schema, "minimum", "exclusiveMinimum", 1), "maximum", "exclusiveMaximum", -1)

const exclusive = (
  schema: JsonObject,
  inclusive: "minimum" | "maximum",
  keyword: "exclusiveMinimum" | "exclusiveMaximum",
  tighter: 1 | -1
): JsonObject => {
  const [bound, other] = [schema[keyword], schema[inclusive]]
  if (typeof bound !== "number") return schema
  return typeof other === "number" && other * tighter > bound * tighter
    ? without(schema, keyword)
    : { ...schema, [inclusive]: bound, [keyword]: true }
}

/** Tuples lose their positions. 3.0 wants `items` on every array. */
const arrays = (schema: JsonObject): JsonObject => {
  const { items, prefixItems, ...rest } = schema
  if (prefixItems === undefined && items === undefined) return rest["type"] === "array" ? { ...rest, items: {} } : rest
  if (prefixItems === undefined) {
    return items === false ? { ...rest, items: {}, maxItems: 0 } : { ...rest, items: toSchema30(items ?? true) }
  }
  const positions = list(prefixItems)
  const closed = items === false || (items === undefined && typeof rest["maxItems"] === "number" &&
    rest["maxItems"] <= positions.length)
  const members = closed ? positions : [...positions, items ?? true]
  const open = members.some((member) => member === true)
  const longest = items === false ? { maxItems: positions.length } : {}
  return { ...rest, ...longest, items: open ? {} : toSchema30({ anyOf: members }) }
}

const objects = (schema: JsonObject): JsonObject => {
  const { additionalProperties: extra, patternProperties, properties, required, ...rest } = schema
  const patterns = isObject(patternProperties) ? Object.values(patternProperties) : []
  const open = extra === true || (extra === undefined && patterns.length > 0)
  const additional = open ? true : [...patterns, ...(isObject(extra) ? [extra] : [])]
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: mapValues(properties, toSchema30) }),
    ...(list(required).length === 0 ? {} : { required: list(required) }),
    ...(extra === undefined && patterns.length === 0 ? {} : { additionalProperties: additionalOf(additional) })
  }
}

const additionalOf = (additional: true | ReadonlyArray<Json>): Json =>
  additional === true || (additional.length > 0 && toSchema30({ anyOf: [...additional] }))

const examples = (schema: JsonObject): JsonObject => {
  const [first] = list(schema["examples"])
  return first === undefined || schema["example"] !== undefined ? schema : { ...schema, example: first }
}

/** Bytes in a string are a `format`; a schema for text in a string has no counterpart. */
const encodings = (schema: JsonObject): JsonObject => {
  if (schema["format"] !== undefined || typeof schema["contentEncoding"] !== "string") return schema
  return { ...schema, format: schema["contentEncoding"].startsWith("base64") ? "byte" : "binary" }
}

/**
 * `nullable` counts beside a type (3.0.3). A union of schemas with types has it at the first of these; beside references
 * `toOpenApi30` adds their type, and generators read `nullable` with `allOf` as the record or null.
 */
const nulls = (schema: JsonObject): JsonObject => {
  if (schema["nullable"] !== true) return schema
  const named = nullInEnum(schema)
  if (named["type"] !== undefined) return named
  const { allOf, anyOf, oneOf } = named
  const union = isArray(anyOf) ? "anyOf" : "oneOf"
  const members = list(anyOf ?? oneOf)
  const first = members.findIndex((member) => isObject(member) && member["type"] !== undefined)
  if (allOf === undefined && first >= 0) {
    return {
      ...without(named, "nullable"),
      [union]: members.map((member, index) =>
        index === first && isObject(member) ? nullInEnum({ ...member, nullable: true }) : member
      )
    }
  }
  return allOf === undefined && members.length === 0 ? without(named, "nullable") : named
}

const nullInEnum = (schema: JsonObject): JsonObject => {
  const values = schema["enum"]
  return !isArray(values) || values.includes(null) ? schema : { ...schema, enum: [...values, null] }
}
