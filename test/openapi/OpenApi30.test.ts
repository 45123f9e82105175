import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { securitySchemes } from "../../src/http/docs/Docs.ts"
import { isObject, type Json, type JsonObject } from "../../src/http/openapi/Json.ts"
import { toOpenApi30 } from "../../src/http/openapi/OpenApi30.ts"
import { toOpenApi31 } from "../../src/http/openapi/OpenApi31.ts"
import { toSchema30 } from "../../src/http/openapi/Schema30.ts"
import { describeDocument } from "./DocumentChecks.ts"
import { SampleApi } from "./SampleApi.ts"
import { complaints, objectsOf } from "./Validators.ts"

const credentials = {
  securitySchemes: securitySchemes("session"),
  isPublic: ({ path }: { path: string }) => path === "/api/health"
}

const onlyNull = { type: "string", nullable: true, maxLength: 0 }

const child = (value: Json | undefined, ...path: ReadonlyArray<string>): JsonObject => {
  const found = path.reduce<Json | undefined>((one, key) => isObject(one) ? one[key] : undefined, value)
  return isObject(found) ? found : {}
}

describeDocument("the sample", SampleApi, credentials)

describe("the sample in OpenAPI 3.0", () => {
  const document = toOpenApi30(toOpenApi31(OpenApi.fromApi(SampleApi), credentials))
  const get = child(document, "paths", "/api/things/{id}", "get")
  const fields = child(get, "responses", "200", "content", "application/json", "schema", "properties")

  const expected: ReadonlyArray<readonly [field: string, schema: JsonObject]> = [
    ["nullable", { type: "string", nullable: true }],
    ["nullableReference", { type: "object", nullable: true, allOf: [{ $ref: "#/components/schemas/Named" }] }],
    ["describedReference", {
      type: "object",
      nullable: true,
      description: "Perhaps one.",
      allOf: [{ $ref: "#/components/schemas/Named" }]
    }],
    ["nullableUnion", { anyOf: [{ type: "string", nullable: true }, { $ref: "#/components/schemas/Named" }] }],
    ["optional", { type: "number", nullable: true }],
    ["optionalNull", onlyNull],
    ["onlyNull", onlyNull],
    ["literal", { type: "string", enum: ["one"] }],
    ["exampled", { type: "string", example: "first" }],
    ["above", { type: "number", minimum: 0, exclusiveMinimum: true }],
    ["between", {
      type: "integer",
      format: "int32",
      minimum: 1,
      exclusiveMinimum: true,
      maximum: 5,
      exclusiveMaximum: true
    }],
    ["tuple", {
      type: "array",
      minItems: 2,
      maxItems: 2,
      items: { anyOf: [{ type: "string" }, { type: "number" }] }
    }],
    ["tupleWithRest", { type: "array", minItems: 1, items: { anyOf: [{ type: "string" }, { type: "number" }] } }],
    ["tupleWithOptional", {
      type: "array",
      minItems: 1,
      maxItems: 2,
      items: { anyOf: [{ type: "string" }, { type: "number" }] }
    }],
    ["emptyTuple", { type: "array", items: {}, maxItems: 0 }],
    ["array", { type: "array", items: { type: "string", nullable: true } }],
    ["embeddedJson", { type: "string" }],
    ["bytes", { type: "string", format: "byte" }],
    ["anything", {}],
    ["never", onlyNull],
    ["defaulted", { type: "string", nullable: true }]
  ]

  it.each(expected)("%s says in 3.0 what it said in 3.1", (field, schema) => {
    assert.deepStrictEqual(fields[field], schema)
  })

  it("describes pattern properties as additional ones", () => {
    assert.strictEqual(child(fields["patterns"], "additionalProperties")["type"], "integer")
    assert.strictEqual(child(fields["record"], "additionalProperties")["nullable"], true)
  })

  it("leaves nothing of the 3.1 dialect", () => {
    const text = JSON.stringify(document)
    for (const keyword of ["prefixItems", "contentSchema", "patternProperties", "const", "summary"]) {
      assert.notInclude(text, `"${keyword}":`)
    }
    assert.notInclude(text, `"type":"null"`)
    assert.deepStrictEqual(
      objectsOf(document).filter(([, one]) => "examples" in one && !("schema" in one || "schemas" in one)),
      []
    )
  })

  it("asks for any of the three credentials, and for none at a public operation", () => {
    const health = child(document, "paths", "/api/health", "get")

    assert.deepStrictEqual(get["security"], [{ apiKey: [] }, { bearer: [] }, { cookie: [] }])
    assert.deepStrictEqual(health["security"], [])
    assert.strictEqual(child(document, "components", "securitySchemes", "apiKey")["name"], "x-api-key")
  })

  it("names a tag that two groups share once, with its description", () => {
    assert.deepStrictEqual(document["tags"], [{ name: "things", description: "Shares its tag." }])
  })

  it("leaves the 3.1 document as it was", () => {
    const source = OpenApi.fromApi(SampleApi)
    const before = JSON.stringify(source)
    toOpenApi30(toOpenApi31(source, credentials))

    assert.strictEqual(JSON.stringify(source), before)
  })
})

describe("a schema of JSON Schema 2020-12 in 3.0", () => {
  const cases: ReadonlyArray<readonly [what: string, from: Json, to: JsonObject]> = [
    ["a constant", { const: "x" }, { type: "string", enum: ["x"] }],
    ["a constant null", { const: null, description: "d" }, { ...onlyNull, description: "d" }],
    ["a type array with null", { type: ["string", "null"], minLength: 1 }, {
      type: "string",
      minLength: 1,
      nullable: true
    }],
    ["a type array of several", { type: ["string", "array", "null"] }, {
      anyOf: [{ type: "string", nullable: true }, { type: "array", items: {} }]
    }],
    ["a reference with siblings", { $ref: "#/a", description: "d" }, { description: "d", allOf: [{ $ref: "#/a" }] }],
    ["a reference alone", { $ref: "#/a" }, { $ref: "#/a" }],
    ["a nullable enum", { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }] }, {
      type: "string",
      enum: ["a", null],
      nullable: true
    }],
    ["an enum that holds null", { enum: ["a", null] }, { enum: ["a", null] }],
    ["anything or null", { anyOf: [true, { type: "null" }] }, {}],
    ["a nullable intersection", { allOf: [{ minLength: 1 }, { maxLength: 2 }], nullable: true, title: "t" }, {
      title: "t",
      nullable: true,
      allOf: [{ minLength: 1 }, { maxLength: 2 }]
    }],
    ["a union of unions", { oneOf: [{ anyOf: [{ type: "string" }, { type: "null" }] }, { type: "null" }] }, {
      type: "string",
      nullable: true
    }],
    ["the tighter of two bounds", { minimum: 5, exclusiveMinimum: 3, maximum: 9, exclusiveMaximum: 9 }, {
      minimum: 5,
      maximum: 9,
      exclusiveMaximum: true
    }],
    ["a closed tuple", { type: "array", prefixItems: [{ type: "string" }], items: false }, {
      type: "array",
      maxItems: 1,
      items: { type: "string" }
    }],
    ["an open tuple", { type: "array", prefixItems: [{ type: "string" }] }, { type: "array", items: {} }],
    ["a schema that is true", true, {}],
    ["a schema that is false", false, { not: {} }],
    [
      "property names that look like keywords",
      { type: "object", properties: { const: { const: 1 }, examples: true } },
      {
        type: "object",
        properties: { const: { type: "number", enum: [1] }, examples: {} }
      }
    ],
    ["bytes in a string", { type: "string", contentEncoding: "base64" }, { type: "string", format: "byte" }],
    ["no required properties", { type: "object", required: [] }, { type: "object" }],
    ["an array of anything", { type: "array" }, { type: "array", items: {} }]
  ]

  it.each(cases)("translates %s", async (_what, from, to) => {
    const schema = toSchema30(from)
    const operation = { responses: { 200: { description: "ok", content: { "application/json": { schema } } } } }
    const parts = { info: { title: "t", version: "1" }, paths: { "/a": { get: operation } } }

    assert.deepStrictEqual(schema, to)
    if (!JSON.stringify(to).includes("#/a")) {
      assert.deepStrictEqual(await complaints({ openapi: "3.0.3", ...parts }), [])
    }
  })
})
