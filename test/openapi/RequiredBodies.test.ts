import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isObject, type JsonObject, toJson } from "../../src/http/openapi/Json.ts"
import { marketplace } from "../../src/plugins/marketplace/index.ts"
import { api, asAdmin, testAppLayer } from "../support/TestApp.ts"

interface Operation {
  readonly method: string
  readonly path: string
  readonly required: boolean
}

const entriesOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> => {
  const json = toJson(value)
  return isObject(json) ? Object.entries(json) : []
}

/** Bodies that are read as a stream, the library's with refusals of their own, and routes that are the vendors' alone. */
const others = /^\/api\/(imports$|auth\/|marketplace\/vendor\/me)/

/** Every other operation that takes JSON. */
const operationsOf = (document: JsonObject): ReadonlyArray<Operation> =>
  entriesOf(document["paths"]).filter(([path]) => !others.test(path)).flatMap((
    [path, methods]
  ) =>
    entriesOf(methods).flatMap(([method, operation]) => {
      const body = isObject(toJson(operation)) ? new Map(entriesOf(operation)).get("requestBody") : undefined
      const parts = new Map(entriesOf(body))
      return new Map(entriesOf(parts.get("content"))).has("application/json")
        ? [{ method: method.toUpperCase(), path, required: parts.get("required") === true }]
        : []
    })
  )

/** An address that leads to nothing that there is. */
const addressOf = (path: string): string =>
  path.replace(/\{locale\}/g, "en").replace(/\{\w+\}/g, "0197a8f0-0000-7000-8000-000000000000")

layer(testAppLayer({ plugins: [marketplace()] }), { timeout: "60 seconds" })("the document", (it) => {
  it.effect("says of every body whether it may be left out", () =>
    Effect.gen(function*() {
      const document = toJson((yield* api("GET", "/api/doc")).body)
      const operations = isObject(document) ? operationsOf(document) : []
      assert.isAbove(operations.length, 80)
      const wrong: Array<string> = []
      const optional = operations.filter(({ required }) => !required).map(({ method, path }) => `${method} ${path}`)
      for (const { method, path, required } of operations) {
        const answer = yield* api(method, addressOf(path), { as: asAdmin })
        const refused = answer.status === 422 && /^The request must be an? /.test(String(answer.at("error.message")))
        if (refused !== required) wrong.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      }
      assert.deepStrictEqual(wrong, [])
      assert.includeMembers(optional, [
        "POST /api/orders/{id}/capture",
        "POST /api/orders/{id}/refund",
        "POST /api/orders/{id}/invoice/email"
      ])
    }))
})
