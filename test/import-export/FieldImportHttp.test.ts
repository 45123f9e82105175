import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { anOrganization } from "../support/Organizations.ts"
import { api, asAdmin, withApp } from "../support/TestApp.ts"
import { counts, exported, imported, jsonl, reasons } from "./ImportCalls.ts"

const as = asAdmin
const lines = { query: "format=jsonl" }

const define = Effect.fnUntraced(function*(fields: ReadonlyArray<object>, by = as) {
  for (const body of fields) {
    const made = yield* api("POST", "/api/admin/entity-field-definitions", { as: by, body })
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  }
})

/** One of every kind, for lamps and for bulbs. */
const fields = [
  { entityType: "lamp", name: "care", kind: "text" },
  { entityType: "lamp", name: "watts", kind: "number", isFilterable: true },
  { entityType: "lamp", name: "dimmable", kind: "boolean", defaultValue: false },
  { entityType: "lamp", name: "since", kind: "date" },
  { entityType: "lamp", name: "socket", kind: "enum", rules: { values: ["E14", "E27"] } },
  { entityType: "lamp", name: "deposit", kind: "money", isPublic: false },
  { entityType: "lamp", name: "related", kind: "reference" },
  { entityType: "lamp", name: "sheet", kind: "json" },
  { entityType: "lamp", name: "ean", kind: "text", isUnique: true },
  { entityType: "bulb", name: "fits", kind: "reference", isRequired: true, rules: { entityType: "lamp" } }
]

const lamp = {
  slug: "lamp-b",
  type: "lamp",
  status: "active",
  customFields: {
    care: "=wipe, \"dry\"\nonly",
    watts: 7.5,
    since: "2026-02-28",
    socket: "E27",
    deposit: { amount: 250, currency: "USD" },
    related: "lamp-b",
    sheet: [1, { deep: null }],
    ean: "4000000000001"
  }
}

const valuesOf = (slug: string, by = as) =>
  Effect.map(
    api("GET", `/api/catalog/entities/${slug}?include=customFields`, { as: by }),
    (answer) =>
      Object.fromEntries(
        answer.list("data.customFields").map((one) => {
          const { name, value } = one as { name: string; value: unknown }
          return [name, value]
        })
      )
  )

withApp("custom fields in files", (it) => {
  describe("of the catalog", () => {
    it.effect("are written as their route does, with defaults, and the same file changes nothing", () =>
      Effect.gen(function*() {
        yield* define(fields)
        const file = jsonl(lamp, { slug: "lamp-a", type: "lamp", customFields: { related: "lamp-b" } })
        assert.deepStrictEqual(counts(yield* imported(file, lines)), [2, 0, 0, 0])
        const { id } = (yield* api("GET", "/api/catalog/entities/lamp-b", { as })).at("data") as { id: string }
        const { deposit, related, ...rest } = lamp.customFields
        assert.deepStrictEqual(yield* valuesOf("lamp-b"), { ...rest, related: id, deposit, dimmable: false })
        assert.deepStrictEqual(counts(yield* imported(file, lines)), [0, 0, 2, 0])
        const change = jsonl({ slug: "lamp-b", customFields: { care: null, watts: 9 } })
        assert.deepStrictEqual(counts(yield* imported(change, lines)), [0, 1, 0, 0])
        const now = yield* valuesOf("lamp-b")
        assert.deepStrictEqual([now["care"], now["watts"], now["ean"]], [undefined, 9, "4000000000001"])
        assert.deepStrictEqual(counts(yield* imported(jsonl(lamp), lines)), [0, 1, 0, 0])
      }))

    it.effect("are in the change log, in revisions and found by search, as those of any other change", () =>
      Effect.gen(function*() {
        const { id } = (yield* api("GET", "/api/catalog/entities/lamp-b", { as })).at("data") as { id: string }
        const revisions = yield* api("GET", `/api/catalog/entities/${id}/revisions`, { as })
        assert.strictEqual(revisions.list("data").length, 3)
        assert.deepStrictEqual(revisions.list("data.0.changedFields").length, 2)
        const found = yield* api("GET", "/api/search?attr.watts=7.5", { as })
        assert.strictEqual(found.number("meta.total"), 1)
        const events = yield* api("GET", `/api/audit?entityType=catalog_entity&entityId=${id}`, { as })
        assert.deepInclude(events.at("data.0.payload.customFields"), { care: lamp.customFields.care, watts: 7.5 })
      }))

    it.effect("that are unknown, wrong, missing or somebody else's are refused with their line, and change nothing", () =>
      Effect.gen(function*() {
        const before = yield* exported("catalog", "jsonl")
        const done = yield* imported(
          jsonl(
            { slug: "lamp-b", customFields: { colour: "red" } },
            { slug: "lamp-b", customFields: { watts: "7" } },
            { slug: "lamp-b", status: "draft", customFields: { socket: "B22" } },
            { slug: "lamp-b", customFields: { related: "nowhere" } },
            { slug: "lamp-b", customFields: { related: 7 } },
            { slug: "lamp-a", customFields: { ean: "4000000000001" } },
            { slug: "bulb-a", type: "bulb" },
            { slug: "bulb-a", type: "bulb", customFields: { fits: "bulb-a" } },
            { slug: "bulb-a", type: "bulb", customFields: { fits: "bulb-z" } },
            { slug: "shade", type: "shade", customFields: { any: 1 } }
          ),
          lines
        )
        assert.deepStrictEqual(counts(done), [0, 0, 0, 10])
        assert.deepStrictEqual(yield* reasons(done.text("data.id")), [
          "1: customFields.colour No such custom field.",
          "2: customFields.watts must be a number",
          "3: customFields.socket must be one of E14, E27",
          "4: customFields.related No such catalog entity with the slug 'nowhere', here or before it in the file.",
          "5: customFields.related must be the slug of a catalog entity",
          "6: customFields.ean Another entity has this value already, which must be unique.",
          "7: customFields.fits is required",
          "8: customFields.fits No such catalog entity of type lamp with the slug 'bulb-a', here or before it in the file.",
          "9: customFields.fits No such catalog entity of type lamp with the slug 'bulb-z', here or before it in the file.",
          "10: customFields.any No such custom field."
        ])
        assert.strictEqual(yield* exported("catalog", "jsonl"), before)
      }))

    it.effect("pass a unique value on from one record to the next, and never have it twice", () =>
      Effect.gen(function*() {
        const moved = jsonl(
          { slug: "lamp-b", customFields: { ean: "4000000000002" } },
          { slug: "lamp-a", customFields: { ean: "4000000000001" } },
          { slug: "lamp-c", type: "lamp", customFields: { ean: "4000000000002" } }
        )
        const done = yield* imported(moved, lines)
        assert.deepStrictEqual(counts(done), [0, 2, 0, 1])
        const freed = jsonl({ slug: "lamp-b", customFields: { ean: null } }, {
          slug: "lamp-a",
          customFields: { ean: "4000000000002" }
        })
        assert.deepStrictEqual(counts(yield* imported(freed, lines)), [0, 2, 0, 0])
        assert.deepStrictEqual((yield* valuesOf("lamp-a"))["ean"], "4000000000002")
      }))

    it.effect("go with the type that had them", () =>
      Effect.gen(function*() {
        yield* imported(jsonl({ slug: "odd", type: "lamp", customFields: { ean: "1" } }), lines)
        assert.deepStrictEqual(counts(yield* imported(jsonl({ slug: "odd", type: "bulb" }), lines)), [0, 0, 0, 1])
        const turned = jsonl({ slug: "odd", type: "bulb", customFields: { fits: "lamp-b" } })
        assert.deepStrictEqual(counts(yield* imported(turned, lines)), [0, 1, 0, 0])
        assert.deepStrictEqual(Object.keys(yield* valuesOf("odd")), ["fits"])
        yield* imported(jsonl({ slug: "lamp-b", customFields: { ean: "1" } }), lines)
      }))

    it.effect("come out of another store as they went in, whatever they refer to", () =>
      Effect.gen(function*() {
        // Bulbs must have a lamp, which comes behind them by its slug; and these two name each other.
        yield* imported(
          jsonl(
            { slug: "a-bulb", type: "bulb", customFields: { fits: "lamp-b" } },
            { slug: "lamp-b", customFields: { related: "lamp-a" } }
          ),
          lines
        )
        const by = yield* anOrganization
        yield* define(fields, by)
        for (const [format, query] of [["jsonl", "format=jsonl"], ["csv", "format=csv"]] as const) {
          const whole = yield* exported("catalog", format)
          const done = yield* imported(whole, { query, as: by })
          assert.deepStrictEqual(yield* reasons(done.text("data.id"), by), [])
          assert.strictEqual(yield* exported("catalog", format, by), whole)
        }
        const first = yield* exported("catalog", "jsonl")
        assert.strictEqual(yield* exported("catalog", "jsonl", by), first)
        assert.deepStrictEqual(counts(yield* imported(first, { ...lines, as: by })).slice(0, 2), [0, 0])
      }))
  })
})
