import { validate } from "@readme/openapi-parser"
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { Validator } from "@seriousme/openapi-schema-validator"
import { isArray, isObject, type Json, type JsonObject } from "../../src/http/openapi/Json.ts"

/** What two independent validators have against a document; nothing when it is a valid one. */
export const complaints = async (document: JsonObject): Promise<ReadonlyArray<unknown>> => {
  const text = JSON.stringify(document)
  const first = await new Validator().validate(JSON.parse(text))
  const second = await validate(JSON.parse(text))
  return [...(first.valid ? [] : [first.errors]), ...(second.valid ? [] : second.errors)]
}

/** What a linter has against it: what no schema of OpenAPI can say, such as two paths that are the same. */
export const lintErrors = async (document: JsonObject): Promise<ReadonlyArray<string>> => {
  const config = await createConfig({ extends: ["recommended"] })
  const source = JSON.stringify(document)
  const found = await lintFromString({ source, absoluteRef: "/openapi.json", config })
  return found.filter(({ severity }) => severity === "error").map(({ location, message, ruleId }) =>
    `${ruleId} ${location[0]?.pointer ?? ""}: ${message}`
  )
}

/** Every object of the document that stands where a schema may stand, with the path that leads to it. */
export const objectsOf = (value: Json, path = "#"): ReadonlyArray<readonly [path: string, object: JsonObject]> => {
  if (isArray(value)) return value.flatMap((one, index) => objectsOf(one, `${path}/${index}`))
  if (!isObject(value)) return []
  return [[path, value], ...Object.entries(value).flatMap(([key, one]) => objectsOf(one, `${path}/${key}`))]
}
