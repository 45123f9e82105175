import { assert, describe, it } from "@effect/vitest"
import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { isArray, isObject, type Json, type JsonObject, mapValues, without } from "../../src/http/openapi/Json.ts"
import { toOpenApi30 } from "../../src/http/openapi/OpenApi30.ts"
import { type Options, toOpenApi31 } from "../../src/http/openapi/OpenApi31.ts"
import { complaints, objectsOf } from "./Validators.ts"

const at = (document: Json, pointer: string): Json | undefined =>
  pointer.split("/").slice(1).reduce<Json | undefined>(
    (value, key) => isObject(value) ? value[key.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined,
    document
  )

/** The document as far as requests are concerned: without responses, and without components that only those name. */
const withoutResponses = (document: JsonObject): JsonObject => {
  const strip = (value: Json): Json =>
    isArray(value)
      ? value.map(strip)
      : isObject(value)
      ? mapValues(without(value, "responses"), strip)
      : value
  const named = (value: Json, known: ReadonlyArray<string> = []): ReadonlyArray<string> =>
    objectsOf(value).reduce((found, [, { $ref }]) =>
      typeof $ref !== "string" || found.includes($ref)
        ? found
        : named(at(document, $ref.slice(1)) ?? null, [...found, $ref]), known)
  const paths = strip(document["paths"] ?? null)
  return { paths, ...Object.fromEntries(named(paths).map((name) => [name, at(document, name.slice(1)) ?? null])) }
}

/** What must hold for the 3.0 document of any API; used for the synthetic one and for the real one. */
export const describeDocument = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  name: string,
  api: HttpApi.HttpApi<Id, Groups>,
  options: Options = {}
): void => {
  describe(`the OpenAPI document of ${name}`, () => {
    const source = OpenApi.fromApi(api)
    const document: JsonObject = toOpenApi30(toOpenApi31(source, options))

    it("is valid OpenAPI 3.0 by two independent validators", async () => {
      assert.strictEqual(document["openapi"], "3.0.3")
      assert.deepStrictEqual(await complaints(document), [])
    })

    it("keeps every path, method and component of the source", () => {
      const operations = (paths: Json | undefined) =>
        objectsOf(paths ?? null).flatMap(([path, object]) => "responses" in object ? [path] : [])
      const components = isObject(document["components"]) ? document["components"]["schemas"] : undefined

      assert.sameMembers(operations(document["paths"]), operations(JSON.parse(JSON.stringify(source.paths))))
      assert.sameMembers(Object.keys(isObject(components) ? components : {}), Object.keys(source.components.schemas))
    })

    it("points every reference at something", () => {
      const dangling = objectsOf(document).flatMap(([path, { $ref }]) =>
        typeof $ref === "string" && at(document, $ref.slice(1)) === undefined ? [`${path} -> ${$ref}`] : []
      )

      assert.deepStrictEqual(dangling, [])
    })

    it("declares request bodies open, since fields without a name in their schema are ignored", () => {
      const closed = objectsOf(withoutResponses(document)).flatMap(([path, { additionalProperties }]) =>
        additionalProperties === false ? [path] : []
      )

      assert.deepStrictEqual(closed, [])
    })

    it("lists each tag and each operation id once", () => {
      const operations = objectsOf(document["paths"] ?? null).map(([, object]) => object["operationId"])
      const ids = operations.filter((id) => typeof id === "string")
      const tags = Array.isArray(document["tags"]) ? document["tags"].map(({ name: tag }) => tag) : []

      assert.strictEqual(new Set(ids).size, ids.length)
      assert.strictEqual(new Set(tags).size, tags.length)
    })
  })
}
