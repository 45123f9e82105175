import { isObject, type Json, type JsonObject, list, mapValues, without } from "./Json.ts"
import { toSchema30 } from "./Schema30.ts"

/** A document of OpenAPI 3.1 (`toOpenApi31`) as a valid one of 3.0.3 (spec §7: `GET /api/doc`). */
export const toOpenApi30 = (document: JsonObject): JsonObject => {
  const components = isObject(document["components"]) ? document["components"] : {}
  const schemas = mapValues(components["schemas"], toSchema30)
  const converted = {
    ...document,
    openapi: "3.0.3",
    info: convertInfo(document["info"]),
    paths: mapValues(document["paths"], (item) => mapValues(item, convertOperation)),
    components: { ...components, schemas }
  }
  return typed(converted, schemas)
}

/** `summary` and an SPDX `identifier` of the license came with 3.1. */
const convertInfo = (info: Json | undefined): JsonObject => {
  if (!isObject(info)) return {}
  const license = info["license"]
  return { ...without(info, "summary"), ...(isObject(license) ? { license: without(license, "identifier") } : {}) }
}

/** The parameters of a path are a list beside its operations. */
const convertOperation = (operation: Json): Json => {
  if (!isObject(operation)) return list(operation).map(convertSchemaOf)
  const { parameters, requestBody, responses } = operation
  return {
    ...operation,
    ...(parameters === undefined ? {} : { parameters: list(parameters).map(convertSchemaOf) }),
    ...(isObject(requestBody) ? { requestBody: convertContentOf(requestBody) } : {}),
    responses: mapValues(responses, convertResponse)
  }
}

const convertResponse = (response: Json): Json => {
  if (!isObject(response)) return response
  const headers = response["headers"]
  return {
    ...convertContentOf(response),
    ...(headers === undefined ? {} : { headers: mapValues(headers, convertSchemaOf) })
  }
}

const convertContentOf = (body: JsonObject): JsonObject =>
  body["content"] === undefined ? body : { ...body, content: mapValues(body["content"], convertSchemaOf) }

const convertSchemaOf = (holder: Json): Json =>
  isObject(holder) && holder["schema"] !== undefined ? { ...holder, schema: toSchema30(holder["schema"]) } : holder

/** `nullable` counts beside a type only (3.0.3): beside a reference it needs the type of what is referred to. */
const typed = (document: JsonObject, schemas: JsonObject): JsonObject => {
  const typeOf = (schema: Json): Json | undefined => {
    if (!isObject(schema)) return undefined
    const { $ref } = schema
    return typeof $ref === "string"
      ? typeOf(schemas[$ref.replace("#/components/schemas/", "")] ?? null)
      : schema["type"]
  }
  const visit = (value: Json): Json => {
    if (!isObject(value)) return Array.isArray(value) ? value.map(visit) : value
    const { allOf, anyOf, nullable, oneOf, type } = value
    const [found] = list(allOf ?? anyOf ?? oneOf).map(typeOf)
    const isBare = nullable === true && type === undefined && found !== undefined
    return { ...(isBare ? { type: found } : {}), ...mapValues(value, visit) }
  }
  return mapValues(document, visit)
}
