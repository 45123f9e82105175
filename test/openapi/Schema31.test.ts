import { assert, describe, it } from "@effect/vitest"
import { hintKey, typedAs } from "../../src/domain/platform/hints/Hints.ts"
import type { Json } from "../../src/http/openapi/Json.ts"
import { toSchema31 } from "../../src/http/openapi/Schema31.ts"

const whole = { type: "integer", format: "int32" }

const cases: ReadonlyArray<readonly [what: string, from: Json, to: Json]> = [
  ["a whole number of 32 bits", { type: "integer", minimum: -2_147_483_648, maximum: 2_147_483_647 }, {
    ...whole,
    minimum: -2_147_483_648,
    maximum: 2_147_483_647
  }],
  ["one above 32 bits", { type: "integer", minimum: 0, maximum: 2_147_483_648 }, {
    type: "integer",
    minimum: 0,
    maximum: 2_147_483_648,
    format: "int64"
  }],
  ["one below them", { type: "integer", minimum: -2_147_483_649, maximum: 0 }, {
    type: "integer",
    minimum: -2_147_483_649,
    maximum: 0,
    format: "int64"
  }],
  ["one without an upper bound", { type: "integer", minimum: 0 }, { type: "integer", minimum: 0, format: "int64" }],
  ["the narrower of two bounds", { type: "integer", minimum: 0, maximum: 9e15, allOf: [{ maximum: 5 }] }, {
    ...whole,
    minimum: 0,
    maximum: 5
  }],
  ["a number of any kind", { type: "number" }, { type: "number" }],
  [
    "a whole number or null",
    { anyOf: [{ type: "integer", minimum: 0, maximum: 5, description: "d" }, { type: "null" }] },
    { type: ["integer", "null"], minimum: 0, maximum: 5, description: "d", format: "int32" }
  ],
  ["a word or null", { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }, { type: "null" }] }, {
    type: ["string", "null"],
    enum: ["a", null]
  }],
  ["a described reference or null", { anyOf: [{ $ref: "#/a", description: "d" }, { type: "null" }] }, {
    description: "d",
    anyOf: [{ $ref: "#/a" }, { type: "null" }]
  }],
  ["what is said of a field", { type: "string", description: "of all", allOf: [{ description: "of this" }] }, {
    type: "string",
    description: "of this"
  }],
  ["a described reference", { allOf: [{ $ref: "#/a" }, { description: "d", [hintKey]: { ref: "orders" } }] }, {
    $ref: "#/a",
    description: "d",
    [hintKey]: { ref: "orders" }
  }],
  ["conditions that contradict each other", { type: "string", pattern: "a", allOf: [{ pattern: "b" }] }, {
    type: "string",
    pattern: "a",
    allOf: [{ pattern: "b" }]
  }],
  ["a parameter that is read from a text", { type: "string", description: "d", ...typedAs({ type: "boolean" }) }, {
    type: "boolean",
    description: "d"
  }]
]

describe("a schema of the document", () => {
  it.each(cases)("says %s as generators read it", (_what, from, to) => {
    assert.deepStrictEqual(toSchema31(from), to)
  })
})
