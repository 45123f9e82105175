import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { isObject, type Json, type JsonObject, list, toJson } from "../../src/http/openapi/Json.ts"
import { StoaRpcs } from "../../src/http/rpc/StoaRpcs.ts"
import { documentWith } from "../../src/plugins/kit/install/PluginDocument.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { marketplace } from "../../src/plugins/marketplace/index.ts"

type Complaint = (schema: JsonObject) => boolean

/** Where in a schema something is wrong; each named schema is looked into once on a way. */
const found = (
  schema: Json | undefined,
  named: (reference: string) => Json | undefined,
  complaint: Complaint,
  path: string,
  within: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  if (!isObject(schema)) return []
  const { $ref } = schema
  if (typeof $ref === "string") {
    return within.includes($ref) ? [] : found(named($ref), named, complaint, path, [...within, $ref])
  }
  const inside = (one: Json | undefined, name: string) => found(one, named, complaint, `${path}${name}`, within)
  const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : []
  return [
    ...complaint(schema) ? [path] : [],
    ...inside(schema["items"], "[]"),
    ...inside(schema["additionalProperties"], ".*"),
    ...properties.flatMap(([name, one]) => inside(one, `.${name}`)),
    ...["anyOf", "oneOf", "allOf"].flatMap((keyword) => list(schema[keyword]).flatMap((one) => inside(one, "")))
  ]
}

/** What a schema says together with the further conditions on the same value. */
const said = (schema: JsonObject, keyword: string): boolean =>
  [schema, ...list(schema["allOf"])].some((one) => isObject(one) && one[keyword] !== undefined)

const isUnboundedArray: Complaint = (schema) => schema["type"] === "array" && !said(schema, "maxItems")

/** A record whose values are looked at one by one. */
const isUnboundedRecord: Complaint = (schema) =>
  isObject(schema["additionalProperties"]) && Object.keys(schema["additionalProperties"]).length > 0 &&
  !said(schema, "maxProperties")

/** Formats and patterns count as bounds: what they admit is short. */
const isUnboundedText: Complaint = (schema) =>
  schema["type"] === "string" && !["maxLength", "enum", "format", "pattern"].some((keyword) => said(schema, keyword))

const document = documentWith(testSettings("postgres://nowhere/none", {}), [marketplace()], "1.0.0")

const ofDocument = (reference: string): Json | undefined => {
  const { components } = document
  const schemas = isObject(components) ? components["schemas"] : undefined
  return isObject(schemas) ? schemas[reference.replace("#/components/schemas/", "")] : undefined
}

const inBodies = (complaint: Complaint): ReadonlyArray<string> => {
  const paths = isObject(document["paths"]) ? Object.entries(document["paths"]) : []
  return paths.flatMap(([path, methods]) =>
    Object.entries(isObject(methods) ? methods : {}).flatMap(([method, operation]) => {
      const body = isObject(operation) && isObject(operation["requestBody"]) ? operation["requestBody"] : {}
      const content = isObject(body["content"]) ? Object.values(body["content"]) : []
      return content.flatMap((one) =>
        found(isObject(one) ? one["schema"] : undefined, ofDocument, complaint, `${method} ${path} `)
      )
    })
  )
}

const inCalls = (complaint: Complaint): ReadonlyArray<string> =>
  [...StoaRpcs.requests].flatMap(([tag, { payloadSchema }]) => {
    const { definitions, schema } = Schema.toJsonSchemaDocument(payloadSchema)
    const all = toJson(definitions)
    const named = (reference: string) => isObject(all) ? all[reference.replace("#/$defs/", "")] : undefined
    return found(toJson(schema), named, complaint, `${tag} `)
  })

describe("the bodies of requests", () => {
  it.each([
    ["array", isUnboundedArray],
    ["record", isUnboundedRecord]
  ])("have a bound for every %s, at /rpc too", (_, complaint) => {
    assert.deepStrictEqual([...inBodies(complaint), ...inCalls(complaint)], [])
  })

  it("have a bound for every text", () => {
    assert.deepStrictEqual(inBodies(isUnboundedText), [])
  })
})
