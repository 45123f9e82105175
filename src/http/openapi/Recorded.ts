import { Context, Schema } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { readFileSync } from "node:fs"
import { isObject, type JsonObject, toJson } from "./Json.ts"

/** Bodies of operations (`POST /api/carts`) that tests have sent and got: `request`, and answers by their status. */
export type Recorded = JsonObject

/** Annotation of a group: the file with recorded examples of its operations. Default: the file of the core. */
export const ExamplesFile = Context.Reference<URL>("stoa/http/openapi/ExamplesFile", {
  defaultValue: () => new URL("./recorded.json", import.meta.url)
})

const readJson = Schema.decodeSync(Schema.fromJsonString(Schema.Unknown))

export const readExamples = (file: URL): Recorded => {
  const read = toJson(readJson(readFileSync(file, "utf8")))
  return isObject(read) ? read : {}
}

/** Reads the recorded examples of an API. Nothing keeps them: a process makes its document once. */
export const recordedOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Recorded => {
  const files = new Map<string, URL>()
  HttpApi.reflect(api, {
    onGroup: ({ mergedAnnotations }) => {
      const file = Context.get(mergedAnnotations, ExamplesFile)
      files.set(file.href, file)
    },
    onEndpoint: () => undefined
  })
  return [...files.values()].reduce<Recorded>((all, file) => ({ ...all, ...readExamples(file) }), {})
}
