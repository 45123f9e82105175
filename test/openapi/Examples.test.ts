import Ajv2020 from "ajv/dist/2020.js"
import { assert, describe, it } from "vitest"
import type { Json } from "../../src/http/openapi/Json.ts"
import { bodies, exampleOf, member } from "./JsonBodies.ts"
import { whole31 } from "./WholeDocument.ts"

describe("the examples of the document", () => {
  it("show every body in JSON, and fit its schema", () => {
    const ajv = new Ajv2020.default({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: "document", components: whole31["components"] ?? {} })
    const text = (schema: Json | undefined) => JSON.parse(JSON.stringify(schema).replaceAll("\"#/", "\"document#/"))
    const wrong = bodies.flatMap((body) => {
      const example = exampleOf(body)
      const name = `${body.part} of ${body.operation}`
      if (example === undefined) return [`${name} has none`]
      const validate = ajv.compile(text(body.media["schema"]))
      return validate(example) === true ? [] : [`${name}: ${ajv.errorsText(validate.errors)}`]
    })
    assert.isAbove(bodies.length, 900)
    assert.deepStrictEqual(wrong, [])
  })

  it("name one record by one id", () => {
    const text = JSON.stringify(bodies.map(exampleOf))
    const ids = new Set([...text.matchAll(/"customerId":"([0-9a-f-]{36})"/g)].map(([, id]) => id))
    assert.isAtMost(ids.size, 2)
  })

  it("are a small part of the document", () => {
    const examples = JSON.stringify(bodies.map(({ media }) => media["example"] ?? null)).length +
      JSON.stringify(member(whole31, "components", "examples")).length
    assert.isBelow(examples / JSON.stringify(whole31).length, 0.25)
  })
})
