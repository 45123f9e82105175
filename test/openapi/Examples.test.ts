import Ajv2020 from "ajv/dist/2020.js"
import { assert, describe, it } from "vitest"
import { isObject, type Json, type JsonObject } from "../../src/http/openapi/Json.ts"
import { entriesOf, operationsIn, whole31 } from "./WholeDocument.ts"

const member = (value: Json | undefined, ...path: ReadonlyArray<string>): Json | undefined =>
  path.reduce<Json | undefined>((one, key) => isObject(one) ? one[key] : undefined, value)

interface Body {
  readonly name: string
  readonly media: JsonObject
}

/** The bodies in JSON of all requests and of all successful answers. */
const bodies: ReadonlyArray<Body> = operationsIn(whole31).flatMap(({ name, operation }) => {
  const answers = entriesOf(operation["responses"]).filter(([status]) => Number(status) < 300)
  return [["request", operation["requestBody"]] as const, ...answers].flatMap(([what, holder]) => {
    const media = member(holder, "content", "application/json")
    return isObject(media) ? [{ name: `${what} of ${name}`, media }] : []
  })
})

const exampleOf = ({ media }: Body): Json | undefined => {
  const $ref = member(media, "examples", "typical", "$ref")
  return typeof $ref === "string"
    ? member(whole31, "components", "examples", $ref.replace("#/components/examples/", ""), "value")
    : media["example"]
}

describe("the examples of the document", () => {
  it("show every body in JSON, and fit its schema", () => {
    const ajv = new Ajv2020.default({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: "document", components: whole31["components"] ?? {} })
    const text = (schema: Json | undefined) => JSON.parse(JSON.stringify(schema).replaceAll("\"#/", "\"document#/"))
    const wrong = bodies.flatMap((body) => {
      const example = exampleOf(body)
      if (example === undefined) return [`${body.name} has none`]
      const validate = ajv.compile(text(body.media["schema"]))
      return validate(example) === true ? [] : [`${body.name}: ${ajv.errorsText(validate.errors)}`]
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
