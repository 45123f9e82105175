import type { OpenApi } from "effect/http-api"
import { withExamples } from "./Examples.ts"
import { withHints } from "./Hints31.ts"
import { distinct, isArray, isObject, type Json, type JsonObject, list, mapValues, toJson, without } from "./Json.ts"
import type { Recorded } from "./Recorded.ts"
import { toSchema31 } from "./Schema31.ts"

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
  /** Names of operations. Default: those of the endpoints. */
  readonly idOf?: (operation: Operation) => string | undefined
  /** Who may call an operation (`x-permission`). Default: said of none. */
  readonly permissionOf?: (operation: Operation) => string | undefined
  /** Operations whose refusals have another shape than their schemas say. Default: none. */
  readonly hasOwnRefusals?: (operation: Operation) => boolean
  /** Header parameters that no schema of the endpoint names, because its middleware reads them. Default: none. */
  readonly headersOf?: (operation: Operation) => ReadonlyArray<JsonObject>
  /** Parameters and headers that every operation has, described once. Default: none. */
  readonly shared?: { readonly parameters: JsonObject; readonly headers: JsonObject }
  /** Recorded examples. Default: all are derived from schemas. */
  readonly recorded?: Recorded
}

/**
 * The document that Effect derives from the API, with what middleware and access rules add to it, in OpenAPI 3.1. Pure, and
 * the input is left alone; call it once at start.
 */
export const toOpenApi31 = (document: OpenApi.OpenAPISpec, options: Options = {}): JsonObject => {
  const source = toJson(document)
  if (!isObject(source)) return {}
  const { components, info, paths, servers, tags } = source
  const converted = mapValues(paths, (item, path) => convertPath(item, path, options))
  return withExamples(
    withHints(withOpenBodies({
      openapi: "3.1.0",
      info: info ?? {},
      ...(servers === undefined ? {} : { servers }),
      tags: uniqueTags(list(tags)),
      "x-tagGroups": tagGroups(converted),
      paths: converted,
      components: convertComponents(components, options)
    })),
    options.recorded
  )
}

/** Groups may share a tag; a document lists each once, with the first description that any of them gives. */
const uniqueTags = (tags: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const byName = new Map<Json | undefined, JsonObject>()
  for (const tag of tags) {
    if (isObject(tag)) byName.set(tag["name"], { ...tag, ...byName.get(tag["name"]) })
  }
  return [...byName.values()]
}

const titleOf = (part: string): string => `${part.charAt(0).toUpperCase()}${part.slice(1).replaceAll("-", " ")}`

/** Tags by the first part of the address of their first operation: `catalog` has brands, categories and variants. */
const tagGroups = (paths: JsonObject): ReadonlyArray<JsonObject> => {
  const known = new Set<Json>()
  const groups = new Map<string, ReadonlyArray<Json>>()
  for (const [path, item] of Object.entries(paths)) {
    const name = titleOf(path.replace(/^\/(api\/)?/, "").split("/")[0] ?? "")
    const tags = Object.values(mapValues(item, tagsOf)).flatMap(list).filter((tag) => !known.has(tag))
    tags.forEach((tag) => known.add(tag))
    if (tags.length > 0) groups.set(name, distinct([...groups.get(name) ?? [], ...tags]))
  }
  return [...groups].map(([name, tags]) => ({ name, tags }))
}

const tagsOf = (operation: Json): Json => isObject(operation) ? operation["tags"] ?? [] : []

const convertComponents = (components: Json | undefined, options: Options): JsonObject => {
  const known = isObject(components) ? components : {}
  return {
    schemas: mapValues(known["schemas"], toSchema31),
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
    ...(parameters === undefined ? {} : { parameters: list(parameters).map(convertParameter) })
  }
}

const convertOperation = (operation: JsonObject, method: string, path: string, options: Options): JsonObject => {
  const { operationId, parameters: declared, requestBody, responses, security, tags, ...rest } = operation
  const named: Operation = { method, path, operationId: String(operationId ?? "") }
  const parameters = [...list(declared).map(convertParameter), ...(options.headersOf?.(named) ?? [])]
  const id = options.idOf?.(named) ?? operationId
  const permission = options.permissionOf?.(named)
  return {
    ...rest,
    ...(id === undefined ? {} : { operationId: id }),
    ...(permission === undefined ? {} : { "x-permission": permission }),
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

const isFlag = (schema: Json): boolean => isObject(schema) && JSON.stringify(schema["enum"]) === `["true","false"]`

/** Parameters come as texts, which decoders read: `true` and `false` are written like a boolean. */
const convertParameter = (parameter: Json): Json => {
  const converted = convertSchemaOf(parameter)
  if (!isObject(converted) || !isObject(converted["schema"])) return converted
  const { description, ...schema } = converted["schema"]
  return {
    ...converted,
    ...(description === undefined ? {} : { description }),
    schema: isFlag(schema) ? { type: "boolean" } : schema
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

/** A refusal in a shape that the document does not know: any content. */
const withoutShape = (response: Json, status: string): Json =>
  isObject(response) && Number(status) >= 400 ? without(response, "content") : convertResponse(response)

const admitsNull = (schema: Json | undefined): boolean =>
  isObject(schema) &&
  (schema["type"] === "null" || list(schema["type"]).includes("null") || list(schema["anyOf"]).some(admitsNull))

/** A body that may be null may be left out. */
const convertBody = (body: JsonObject): JsonObject => {
  const converted = convertContentOf(body)
  const media = isObject(converted["content"]) ? Object.values(converted["content"]) : []
  const isOptional = media.some((one) => isObject(one) && admitsNull(one["schema"]))
  return isOptional ? { ...converted, required: false } : converted
}

/** How a stream is framed is said by its media type alone. */
const convertContentOf = (body: JsonObject): JsonObject => {
  const { content, ...rest } = body
  if (content === undefined) return rest
  return {
    ...rest,
    content: mapValues(content, (media) => isObject(media) ? convertSchemaOf(without(media, "x-effect-stream")) : media)
  }
}

const convertSchemaOf = (holder: Json): Json =>
  isObject(holder) && holder["schema"] !== undefined ? { ...holder, schema: toSchema31(holder["schema"]) } : holder

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
