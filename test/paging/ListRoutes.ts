import { OpenApi } from "effect/http-api"
import { Api } from "../../src/http/Api.ts"
import { isObject, type Json } from "../../src/http/openapi/Json.ts"
import { at } from "../support/TestApp.ts"

const document: Json = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))

const resolved = (schema: unknown): unknown => {
  const ref = at(schema, "$ref")
  return typeof ref === "string" ? at(document, ref.slice(2).replaceAll("/", ".")) : schema
}

/** Whether one of the shapes of an answer has `meta.pagination`. */
const isPage = (given: unknown): boolean => {
  const schema = resolved(given)
  const choices = at(schema, "anyOf")
  if (Array.isArray(choices)) return choices.some(isPage)
  return at(resolved(at(schema, "properties.meta")), "properties.pagination") !== undefined
}

const paths = isObject(document) && isObject(document["paths"]) ? document["paths"] : {}

/** The list routes of the core by the OpenAPI document; parameters of their paths have a colon. */
export const listRoutes = Object.entries(paths).flatMap(([given, operations]) => {
  if (!isPage(at(operations, "get.responses.200.content.application/json.schema"))) return []
  const path = given.replace(/\{(\w+)\}/g, ":$1")
  const pattern = new RegExp(`^${path.replace(/:[^/]+/g, "[^/]+")}$`)
  return [{ path, matches: (asked: string) => pattern.test(asked.split("?")[0] ?? "") }]
})
