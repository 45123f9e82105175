import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, group, inputOf, integerBetween, table, Text, text, Uuid, uuid } from "stoa/plugin"
import { Email } from "../../src/domain/platform/text/Email.ts"
import { Moment } from "../../src/domain/platform/text/Time.ts"
import { flawOf } from "../openapi/Messages.ts"
import { type Answer, api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const labels = table("sent_labels", {
  code: text.unique(),
  size: integerBetween(1, 9),
  least: integerBetween(0, 9).default(0)
}, { checks: { bounds: "least <= size" } })
const marks = table("sent_marks", { labelId: uuid.references(labels, "restrict") })

const Sent = Schema.Struct({
  name: Text,
  count: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))),
  rate: Schema.optional(Schema.Finite.check(Schema.isGreaterThan(0))),
  word: Schema.optional(Schema.Literals(["small", "large"])),
  either: Schema.optional(Schema.NullOr(Schema.Union([Schema.String, Schema.Boolean]))),
  tags: Schema.optional(Schema.Array(Text).check(Schema.isBetweenLength(1, 2), Schema.isUnique())),
  extra: Schema.optional(Schema.Record(Schema.String, Schema.Number).check(Schema.isMaxProperties(1))),
  id: Schema.optional(Uuid),
  code: Schema.optional(Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/, { expected: "three capital letters" }))),
  email: Schema.optional(Email),
  at: Schema.optional(Moment),
  lines: Schema.optional(Schema.Array(Schema.Struct({ quantity: Schema.Int }))),
  pay: Schema.optional(Schema.Union([
    Schema.Struct({ kind: Schema.Literal("card"), token: Text }),
    Schema.Struct({ kind: Schema.Literal("cash") })
  ]))
})

const routes = group("Sent", "/sent")
const rule = { permission: "sent:write" }

const sent = definePlugin({
  id: "sent",
  version: "1.0.0",
  permissions: [{ scope: "sent:write", description: "Send" }],
  schema: () => ({ labels, marks }),
  routes: () => [
    routes.post("/", {
      ...rule,
      input: Sent,
      strict: true,
      query: { page: Schema.optional(Schema.FiniteFromString.check(Schema.isInt())) },
      headers: { "x-sent": Schema.optional(Schema.String.check(Schema.isMaxLength(3))) },
      success: Schema.Null
    }).handle(() => Effect.succeed(null)),
    routes.get("/:id", { ...rule, params: { id: Uuid }, success: Schema.Null }).handle(() => Effect.succeed(null)),
    routes.post("/labels", { ...rule, input: inputOf(labels), success: labels.Row })
      .handle(({ db, input }) => db.table(labels).insert(input)),
    routes.delete("/labels/:id", { ...rule, success: labels.Row })
      .handle(({ db, params }) => db.table(labels).delete(params.id)),
    routes.post("/marks", { ...rule, input: inputOf(marks), success: marks.Row })
      .handle(({ db, input }) => db.table(marks).insert(input))
  ]
})

const post = (body: object, path = "/api/sent", headers: Readonly<Record<string, string>> = {}) =>
  api("POST", path, { as: asAdmin, body, headers })

/** Code and message of each issue of a refusal, whose message has all of them. */
const said = (answer: Answer) => {
  assert.strictEqual(answer.status, 422, JSON.stringify(answer.body))
  const issues = answer.list("error.details.issues").map((issue) => {
    const { code, message, path } = issue as { readonly code: string; readonly message: string; readonly path: string }
    assert.isUndefined(flawOf({ code, paths: [path], text: message }), message)
    return [code, message]
  })
  assert.strictEqual(answer.at("error.message"), issues.map(([, message]) => message).join(" "))
  return issues
}

const rows: ReadonlyArray<readonly [body: object, code: string, message: string]> = [
  [{ name: undefined }, "required", "name is required."],
  [{ name: null }, "type", "name must be a string."],
  [{ name: "" }, "too_short", "name must not be empty."],
  [{ name: "x".repeat(256) }, "too_long", "name must have at most 255 characters."],
  [{ name: "a\0" }, "format", "name must be valid Unicode without NUL."],
  [{ count: "1" }, "type", "count must be a number."],
  [{ count: 1.5 }, "type", "count must be a whole number."],
  [{ count: 0 }, "too_small", "count must be between 1 and 9."],
  [{ count: 10 }, "too_large", "count must be between 1 and 9."],
  [{ rate: 0 }, "too_small", "rate must be above 0."],
  [{ word: "medium" }, "unknown_value", "word must be \"small\" or \"large\"."],
  [{ either: 5 }, "type", "either must be a string, true or false or null."],
  [{ tags: [] }, "too_few", "tags must have 1 to 2 entries."],
  [{ tags: ["a", "b", "c"] }, "too_many", "tags must have at most 2 entries."],
  [{ tags: ["a", "a"] }, "duplicate", "tags must not have an entry twice."],
  [{ tags: ["a", 1] }, "type", "tags.1 must be a string."],
  [{ extra: { a: 1, b: 2 } }, "too_many", "extra must have at most 1 keys."],
  [{ id: "x" }, "format", "id must be a UUID."],
  [{ code: "abc" }, "format", "code must be three capital letters."],
  [{ email: "x" }, "format", "email must be one e-mail address, such as ann@example.com."],
  [
    { at: "today" },
    "format",
    "at must be a date or a time in ISO 8601, such as 2026-11-25 or 2026-11-25T09:30:00+01:00."
  ],
  [{ at: "2026-02-31" }, "invalid", "at must be a day of the calendar."],
  [{ lines: [{ quantity: 1 }, {}] }, "required", "lines.1.quantity is required."],
  [{ lines: {} }, "type", "lines must be an array."],
  [{ pay: { kind: "card" } }, "required", "pay.token is required."],
  [{ pay: { kind: "gold" } }, "type", "pay must be an object."],
  [{ nmae: 1 }, "unknown_key", "nmae is not a known field. Did you mean \"name\"?"]
]

layer(testAppLayer({ plugins: [sent] }), live)("a refused field", (it) => {
  it.effect("has a whole sentence and a code for each kind of mistake", () =>
    Effect.gen(function*() {
      for (const [body, code, message] of rows) {
        assert.deepStrictEqual(said(yield* post({ name: "n", ...body })), [[code, message]])
      }
      assert.strictEqual((yield* post({ name: "n" })).status, 201)
    }))

  it.effect("is one of all that are refused", () =>
    Effect.gen(function*() {
      const both = said(yield* post({ count: 0 }))
      assert.deepStrictEqual(both.map(([code]) => code), ["required", "too_small"])
    }))

  it.effect("may be a parameter, a part of the path or a header", () =>
    Effect.gen(function*() {
      const named = { name: "n" }
      assert.deepStrictEqual(said(yield* post(named, "/api/sent?page=x")), [["type", "page must be a number."]])
      assert.deepStrictEqual(said(yield* post(named, "/api/sent?page=1.5")), [["type", "page must be a whole number."]])
      assert.deepStrictEqual(said(yield* api("GET", "/api/sent/x", { as: asAdmin })), [[
        "format",
        "id must be a UUID."
      ]])
      assert.deepStrictEqual(
        said(yield* post(named, "/api/sent", { "x-sent": "long" })),
        [["too_long", "x-sent must have at most 3 characters."]]
      )
    }))

  it.effect("may be the whole body", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(said(yield* post([])), [["type", "The request must be an object."]])
      const headers = { "content-type": "application/json" }
      const broken = yield* api("POST", "/api/sent", { as: asAdmin, body: "{", headers })
      assert.deepStrictEqual([broken.status, broken.at("error.message")], [
        400,
        "The body of the request must be JSON."
      ])
    }))

  it.effect("may be one that the database refuses", () =>
    Effect.gen(function*() {
      const [labelsAt, marksAt] = ["/api/sent/labels", "/api/sent/marks"]
      const label = yield* post({ code: "a", size: 2 }, labelsAt)
      assert.strictEqual(label.status, 201)
      const again = yield* post({ code: "a", size: 2 }, labelsAt)
      assert.deepStrictEqual([again.status, again.at("error.message")], [
        409,
        "Another record has the same code. Change it."
      ])
      assert.deepStrictEqual(
        said(yield* post({ code: "b", size: 2, least: 3 }, labelsAt)),
        [["too_large", "least must be at most size."]]
      )
      const unknown = yield* post({ labelId: crypto.randomUUID() }, marksAt)
      assert.deepStrictEqual(said(unknown), [["not_found", "labelId names no record of this organization."]])
      assert.strictEqual((yield* post({ labelId: label.text("data.id") }, marksAt)).status, 201)
      const referred = yield* api("DELETE", `${labelsAt}/${label.text("data.id")}`, { as: asAdmin })
      assert.deepStrictEqual([referred.status, referred.at("error.message")], [
        409,
        "Other records refer to this one: delete or change them first."
      ])
    }))
})
