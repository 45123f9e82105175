import type { OpenApi } from "effect/http-api"
import { distinct, isArray, isObject, type Json, type JsonObject, list, mapValues, toJson, without } from "./Json.ts"
import { toSchema30 } from "./Schema30.ts"

/** An operation of the document, as the access rule of an endpoint is asked for. */
export interface Operation {
  /** Upper case: `GET`. */
  readonly method: string
  /** As documented: `/api/carts/{id}`. */
  readonly path: string
  readonly operationId: string
}

export interface Options {
  /** The credentials of the document, any of which opens an operation; see `securitySchemes`. */
  readonly securitySchemes?: JsonObject
  /** Operations that ask for no credentials. Default: none. */
  readonly isPublic?: (operation: Operation) => boolean
  /** Operations whose refusals have another shape than their schemas say. Default: none. */
  readonly hasOwnRefusals?: (operation: Operation) => boolean
  /** Header parameters that no schema of the endpoint names, because its middleware reads them. Default: none. */
  readonly headersOf?: (operation: Operation) => ReadonlyArray<JsonObject>
  /** Parameters and headers that every operation has, described once. Default: none. */
  readonly shared?: { readonly parameters: JsonObject; readonly headers: JsonObject }
}

/**
 * The OpenAPI 3.1 document that Effect derives from the API, as a valid 3.0.3 document (spec §7: `GET /api/doc`).
 * Pure, and the input is left alone; call it once at start.
 */
export const toOpenApi30 = (document: OpenApi.OpenAPISpec, options: Options = {}): JsonObject => {
  const source = toJson(document)
  if (!isObject(source)) return {}
  const { components, info, paths, servers, tags } = source
  return withOpenBodies({
    openapi: "3.0.3",
    info: convertInfo(info),
    ...(servers === undefined ? {} : { servers }),
    tags: uniqueTags(list(tags)),
    paths: mapValues(paths, (item, path) => convertPath(item, path, options)),
    components: convertComponents(components, options)
  })
}

/** `summary` and an SPDX `identifier` of the license came with 3.1. */
const convertInfo = (info: Json | undefined): JsonObject => {
  if (!isObject(info)) return {}
  const license = info["license"]
  return { ...without(info, "summary"), ...(isObject(license) ? { license: without(license, "identifier") } : {}) }
}

/** Groups may share a tag; a document lists each once, with the first description that any of them gives. */
const uniqueTags = (tags: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const byName = new Map<Json | undefined, JsonObject>()
  for (const tag of tags) {
    if (isObject(tag)) byName.set(tag["name"], { ...tag, ...byName.get(tag["name"]) })
  }
  return [...byName.values()]
}

const convertComponents = (components: Json | undefined, options: Options): JsonObject => {
  const known = isObject(components) ? components : {}
  return {
    schemas: mapValues(known["schemas"], toSchema30),
    ...options.shared,
    securitySchemes: { ...mapValues(known["securitySchemes"], (scheme) => scheme), ...options.securitySchemes }
  }
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

const convertPath = (item: Json, path: string, options: Options): Json => {
  if (!isObject(item)) return item
  const { parameters } = item
  const operations = methods.flatMap((method): ReadonlyArray<[string, Json]> => {
    const operation = item[method]
    return isObject(operation) ? [[method, convertOperation(operation, method.toUpperCase(), path, options)]] : []
  })
  return {
    ...Object.fromEntries(operations),
    ...(parameters === undefined ? {} : { parameters: list(parameters).map(convertSchemaOf) })
  }
}

const convertOperation = (operation: JsonObject, method: string, path: string, options: Options): JsonObject => {
  const { operationId, parameters: declared, requestBody, responses, security, tags, ...rest } = operation
  const named: Operation = { method, path, operationId: String(operationId ?? "") }
  const parameters = [...list(declared).map(convertSchemaOf), ...(options.headersOf?.(named) ?? [])]
  return {
    ...rest,
    ...(operationId === undefined ? {} : { operationId }),
    tags: distinct(list(tags)),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(isObject(requestBody) ? { requestBody: convertBody(requestBody) } : {}),
    responses: mapValues(responses, options.hasOwnRefusals?.(named) === true ? withoutShape : convertResponse),
    ...securityOf(list(security), named, options)
  }
}

/** What the endpoint declares by itself wins; otherwise any of the document's credentials, unless it is public. */
const securityOf = (declared: ReadonlyArray<Json>, operation: Operation, options: Options): JsonObject => {
  if (declared.length > 0) return { security: declared }
  if (options.securitySchemes === undefined) return {}
  const names = options.isPublic?.(operation) === true ? [] : Object.keys(options.securitySchemes)
  return { security: names.map((name) => ({ [name]: [] })) }
}

const convertResponse = (response: Json): Json => {
  if (!isObject(response)) return response
  const headers = response["headers"]
  return {
    ...convertContentOf(response),
    ...(headers === undefined ? {} : { headers: mapValues(headers, convertSchemaOf) })
  }
}

/** A refusal in a shape that the document does not know: any content. */
const withoutShape = (response: Json, status: string): Json =>
  isObject(response) && Number(status) >= 400 ? without(response, "content") : convertResponse(response)

/** Whether a schema of 3.0 admits null: as its type does, or as an alternative. */
const admitsNull = (schema: Json | undefined): boolean =>
  isObject(schema) && (schema["nullable"] === true || list(schema["anyOf"]).some(admitsNull))

/** A body that may be null may be left out. */
const convertBody = (body: JsonObject): JsonObject => {
  const converted = convertContentOf(body)
  const media = isObject(converted["content"]) ? Object.values(converted["content"]) : []
  const isOptional = media.some((one) => isObject(one) && admitsNull(one["schema"]))
  return isOptional ? { ...converted, required: false } : converted
}

/** How a stream is framed is said by its media type alone: the extension carries schemas in the 3.1 dialect. */
const convertContentOf = (body: JsonObject): JsonObject => {
  const { content, ...rest } = body
  if (content === undefined) return rest
  return {
    ...rest,
    content: mapValues(content, (media) => isObject(media) ? convertSchemaOf(without(media, "x-effect-stream")) : media)
  }
}

const convertSchemaOf = (holder: Json): Json =>
  isObject(holder) && holder["schema"] !== undefined ? { ...holder, schema: toSchema30(holder["schema"]) } : holder

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
