import { isArray, isObject, type Json, type JsonObject, mapValues } from "./Json.ts"

/**
 * The document with open request bodies: fields that a schema does not name are ignored and not refused, so no schema of
 * a body says `additionalProperties: false`. A component that bodies and responses share is open in both.
 */
export const withOpenBodies = (document: JsonObject): JsonObject => {
  const components = isObject(document["components"]) ? document["components"] : {}
  const schemas = isObject(components["schemas"]) ? components["schemas"] : {}
  const paths = mapValues(document["paths"], (item) => mapValues(item, openBody))
  const inBodies = reachable(Object.values(paths).flatMap((item) => Object.values(mapValues(item, bodyOf))), schemas)
  return {
    ...document,
    paths,
    components: {
      ...components,
      schemas: mapValues(schemas, (schema, name) => inBodies.has(name) ? opened(schema) : schema)
    }
  }
}

const bodyOf = (operation: Json): Json => isObject(operation) ? operation["requestBody"] ?? null : null

/** The parameters of a path, a list beside its operations, stay as they are. */
const openBody = (operation: Json): Json =>
  isObject(operation) && operation["requestBody"] !== undefined
    ? { ...operation, requestBody: opened(operation["requestBody"]) }
    : operation

const opened = (value: Json): Json => {
  if (isArray(value)) return value.map(opened)
  if (!isObject(value)) return value
  const open = Object.entries(value).filter(([key, one]) => key !== "additionalProperties" || one !== false)
  return Object.fromEntries(open.map(([key, one]) => [key, opened(one)]))
}

/** The names of all components that lead on from these values, over other components too. */
const reachable = (from: ReadonlyArray<Json>, schemas: JsonObject): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (value: Json): void => {
    for (const name of namesIn(value)) {
      if (found.has(name)) continue
      found.add(name)
      visit(schemas[name] ?? null)
    }
  }
  from.forEach(visit)
  return found
}

const namesIn = (value: Json): ReadonlyArray<string> => {
  if (isArray(value)) return value.flatMap(namesIn)
  if (!isObject(value)) return []
  const { $ref } = value
  return [
    ...typeof $ref === "string" ? [$ref.replace("#/components/schemas/", "")] : [],
    ...Object.values(value).flatMap(namesIn)
  ]
}
