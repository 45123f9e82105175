import { OpenApi } from "effect/http-api"
import { pageQuery } from "../../src/domain/platform/paging/Paging.ts"
import { Api } from "../../src/http/Api.ts"
import type { Json } from "../../src/http/openapi/Json.ts"
import { at } from "../support/TestApp.ts"

const resolved = (document: unknown, schema: unknown): unknown => {
  const ref = at(schema, "$ref")
  return typeof ref === "string" ? at(document, ref.slice(2).replaceAll("/", ".")) : schema
}

/** Whether one of the shapes of an answer has `meta.pagination`. */
const isPage = (document: unknown, given: unknown): boolean => {
  const schema = resolved(document, given)
  const choices = at(schema, "anyOf")
  if (Array.isArray(choices)) return choices.some((one) => isPage(document, one))
  return at(resolved(document, at(schema, "properties.meta")), "properties.pagination") !== undefined
}

const pathsOf = (document: unknown) => Object.entries(Object(at(document, "paths")))

/** Parameters of a query but for those of pages, with the values of those that have a list of them. */
const filtersOf = (operation: unknown): ReadonlyMap<string, ReadonlyArray<string>> => {
  const parameters = at(operation, "parameters")
  return new Map((Array.isArray(parameters) ? parameters : []).flatMap((one) => {
    const [name, choices] = [String(at(one, "name")), at(one, "schema.enum")]
    return at(one, "in") === "query" && !(name in pageQuery) ? [[name, Array.isArray(choices) ? choices : []]] : []
  }))
}

/** The list routes of an OpenAPI document; parameters of their paths have a colon. */
export const listRoutesOf = (document: unknown) =>
  pathsOf(document).flatMap(([given, operations]) => {
    if (!isPage(document, at(operations, "get.responses.200.content.application/json.schema"))) return []
    const path = given.replace(/\{(\w+)\}/g, ":$1")
    const pattern = new RegExp(`^${path.replace(/:[^/]+/g, "[^/]+")}$`)
    const choices = filtersOf(at(operations, "get"))
    const filters = [...choices.keys()]
    return [{ path, filters, choices, matches: (asked: string) => pattern.test(asked.split("?")[0] ?? "") }]
  })

const core: Json = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))

/** The list routes of the core. */
export const listRoutes = listRoutesOf(core)
