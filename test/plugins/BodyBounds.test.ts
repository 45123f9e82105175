import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  FreeText,
  group,
  inputOf,
  json,
  jsonOf,
  list,
  longText,
  oneOf,
  StorableObject,
  table,
  Text,
  text,
  timestamp,
  Uuid
} from "stoa/plugin"
import { wholeIssue } from "../../src/domain/platform/errors/ApiErrors.ts"
import { issuesOf } from "../../src/domain/platform/text/Issues.ts"
import { boundFlaws, shopperScopes } from "../../src/plugins/kit/install/BodyBounds.ts"
import type { AnySchema } from "../../src/plugins/kit/routes/RouteShape.ts"

const routes = group("Open", "/open")

const permissions = [{ scope: "open:own", description: "", roles: ["customer"] }, {
  scope: "open:write",
  description: ""
}]

const flawsOf = (input: AnySchema, guard: object = { auth: true }) =>
  boundFlaws([{
    plugin: "open",
    route: routes.post("/things", { ...guard, input }).handle(() => Effect.succeed(null))
  }], shopperScopes([{ permissions }]))

/** The fields that the sentences name. */
const fieldsIn = (input: AnySchema) => flawsOf(input).map((flaw) => /no limit for "([^"]*)"/.exec(flaw)?.[1])

describe("the body of a route without a permission", () => {
  it("is refused at the start for a text, list or record of any size, by a sentence with route and field", () => {
    assert.deepStrictEqual(flawsOf(Schema.Struct({ note: FreeText })), [
      "The route POST /api/open/things of plugin \"open\" asks for no permission but those of shoppers, and its body has no limit for \"note\". " +
      "Use `Text`, `json`, `Schema.isMaxLength` or `Schema.isMaxProperties`."
    ])
    const Item = Schema.Struct({ name: Schema.String, sizes: Schema.Array(Schema.Int) })
    assert.deepStrictEqual(
      fieldsIn(Schema.Struct({
        items: Schema.Array(Item).check(Schema.isMaxLength(5)),
        tags: Schema.NullOr(Schema.Array(Text)),
        metadata: Schema.optional(StorableObject),
        anything: Schema.Unknown,
        either: Schema.Union([Schema.Int, Schema.String])
      })),
      ["items[].name", "items[].sizes", "tags", "metadata", "anything", "either"]
    )
  })

  it("is accepted with columns of the kit and other limits", () => {
    const rows = table("open_rows", {
      name: text,
      about: longText.nullable,
      kind: oneOf(["a", "b"]),
      at: timestamp,
      tags: list(text).default([]),
      metadata: json.default({}),
      large: json.upTo(100_000).nullable,
      pair: jsonOf(Schema.Struct({ one: Schema.String, two: Schema.Int }), 1_000)
    })
    assert.deepStrictEqual(flawsOf(inputOf(rows)), [])
    assert.deepStrictEqual(
      flawsOf(Schema.Struct({
        id: Uuid,
        code: Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/)),
        counts: Schema.Record(Text, Schema.Int).check(Schema.isMaxProperties(10))
      })),
      []
    )
  })

  it("needs limits only where callers need no permission, or one that shoppers hold", () => {
    const input = Schema.Struct({ note: FreeText })
    assert.deepStrictEqual(flawsOf(input, { permission: "open:write" }), [])
    assert.strictEqual(flawsOf(input, { permission: "open:own" }).length, 1)
    assert.strictEqual(flawsOf(input, { permission: "cart:update" }).length, 1)
    for (const guard of [{ public: "a test" }, { admits: { rule: () => true, missing: "open:write" } }]) {
      assert.strictEqual(flawsOf(input, guard).length, 1)
    }
  })

  it("is refused with a sentence for JSON beyond its bytes, or an object of too many keys", () => {
    const rows = table("open_sizes", {
      small: json.upTo(20).nullable,
      metadata: json.nullable,
      pairs: jsonOf(Schema.Array(Schema.String), 20).nullable
    })
    const decode = Schema.decodeUnknownResult(inputOf(rows))
    const refusal = (body: object) => {
      const read = decode(body)
      return read._tag === "Success" ? "none" : issuesOf(read.failure).map((one) => wholeIssue(one).message).join()
    }
    assert.strictEqual(refusal({ small: { a: "12345678901" }, pairs: ["123456789"] }), "none")
    assert.strictEqual(refusal({ small: { a: "12345678901234" } }), "small must be at most 20 bytes of JSON.")
    assert.strictEqual(refusal({ pairs: ["1234567890", "1234567890"] }), "pairs must be at most 20 bytes of JSON.")
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]))
    assert.strictEqual(refusal({ metadata: keys(100) }), "none")
    assert.strictEqual(refusal({ metadata: keys(101) }), "metadata must have at most 100 keys.")
  })
})
