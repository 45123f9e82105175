import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, withApp } from "../support/TestApp.ts"
import { aStore, expectRoundTrip, jsonl, type Store, withReasons } from "./ImportFixtures.ts"

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

const lamps = jsonl(lamp, { slug: "lamp-a", type: "lamp", customFields: { related: "lamp-b" } })

/** A store with the definitions of the fields. */
const aLampStore = Effect.tap(aStore, ({ as }) =>
  Effect.forEach(fields, (body) =>
    Effect.map(
      api("POST", "/api/admin/entity-field-definitions", { as, body }),
      ({ status }) => assert.strictEqual(status, 201)
    )))

/** Records of an entity with these custom fields. */
const withFields = (slug: string, customFields: object, rest: object = {}) => ({ slug, ...rest, customFields })

const valuesOf = ({ get }: Store, slug: string) =>
  Effect.map(get(`catalog/entities/${slug}?include=customFields`), (answer) =>
    Object.fromEntries(
      answer.list("data.customFields").map((one) => {
        const { name, value } = one as { name: string; value: unknown }
        return [name, value]
      })
    ))

withApp("imports of custom fields", (it) => {
  it.effect("write them as their route does: with defaults, in the change log, in revisions and for search", () =>
    Effect.gen(function*() {
      const store = yield* aLampStore
      assert.deepStrictEqual(yield* store.send(lamps), [2, 0, 0, 0])
      const id = (yield* store.get("catalog/entities/lamp-b")).text("data.id")
      const { deposit, related, ...rest } = lamp.customFields
      assert.deepStrictEqual(yield* valuesOf(store, "lamp-b"), { ...rest, related: id, deposit, dimmable: false })
      assert.deepStrictEqual(yield* store.send(lamps), [0, 0, 2, 0])
      assert.deepStrictEqual(yield* store.send(jsonl(withFields("lamp-b", { care: null, watts: 9 }))), [0, 1, 0, 0])
      const { care, ean, watts } = yield* valuesOf(store, "lamp-b")
      assert.deepStrictEqual([care, watts, ean], [undefined, 9, "4000000000001"])
      assert.deepStrictEqual(yield* store.send(jsonl(lamp)), [0, 1, 0, 0])
      const revisions = yield* store.get(`catalog/entities/${id}/revisions`)
      assert.deepStrictEqual([revisions.list("data").length, revisions.list("data.0.changedFields").length], [3, 2])
      assert.strictEqual((yield* store.get("search?attr.watts=7.5")).number("meta.total"), 1)
      const events = yield* store.get(`audit?entityType=catalog_entity&entityId=${id}`)
      assert.deepInclude(events.at("data.0.payload.customFields"), { care: lamp.customFields.care, watts: 7.5 })
    }))

  it.effect("refuse unknown, invalid, missing and taken values with the name of the field, and change nothing", () =>
    Effect.gen(function*() {
      const store = yield* aLampStore
      yield* store.send(lamps)
      const before = yield* store.exported()
      const wrong: ReadonlyArray<readonly [record: object, reason: string]> = [
        [withFields("lamp-b", { colour: "red" }), "colour customFields.colour is not a custom field of this type."],
        [withFields("lamp-b", { watts: "7" }), "watts customFields.watts must be a number."],
        [
          withFields("lamp-b", { socket: "B22" }, { status: "draft" }),
          "socket customFields.socket must be one of E14, E27."
        ],
        [
          withFields("lamp-b", { related: "nowhere" }),
          "related customFields.related must be the slug of a catalog entity, here or before it in the file: 'nowhere' is none."
        ],
        [withFields("lamp-b", { related: 7 }), "related customFields.related must be the slug of a catalog entity."],
        [
          withFields("lamp-a", { ean: "4000000000001" }),
          "ean customFields.ean must be unique, and another entity has this value."
        ],
        [{ slug: "bulb-a", type: "bulb" }, "fits customFields.fits is required."],
        ...["bulb-a", "bulb-z"].map((fits) =>
          [
            withFields("bulb-a", { fits }, { type: "bulb" }),
            `fits customFields.fits must be the slug of a catalog entity of type lamp, here or before it in the file: '${fits}' is none.`
          ] as const
        ),
        [withFields("cable", { any: 1 }, { type: "cable" }), "any customFields.any is not a custom field of this type."]
      ]
      assert.deepStrictEqual(
        yield* store.send(jsonl(...wrong.map(([record]) => record))),
        withReasons(
          [0, 0, 0, wrong.length],
          ...wrong.map(([, reason], index) => `${index + 1}: customFields.${reason}`)
        )
      )
      assert.strictEqual(yield* store.exported(), before)
    }))

  it.effect("pass a unique value from one record to the next, and never store it twice", () =>
    Effect.gen(function*() {
      const store = yield* aLampStore
      yield* store.send(lamps)
      const moved = jsonl(
        withFields("lamp-b", { ean: "4000000000002" }),
        withFields("lamp-a", { ean: "4000000000001" }),
        withFields("lamp-c", { ean: "4000000000002" }, { type: "lamp" })
      )
      assert.deepStrictEqual((yield* store.send(moved)).slice(0, 4), [0, 2, 0, 1])
      const freed = jsonl(withFields("lamp-b", { ean: null }), withFields("lamp-a", { ean: "4000000000002" }))
      assert.deepStrictEqual(yield* store.send(freed), [0, 2, 0, 0])
      assert.strictEqual((yield* valuesOf(store, "lamp-a"))["ean"], "4000000000002")
    }))

  it.effect("drop the values of a type when the type changes", () =>
    Effect.gen(function*() {
      const store = yield* aLampStore
      yield* store.send(jsonl(lamp, withFields("odd", { ean: "1" }, { type: "lamp" })))
      const turned = yield* store.send(jsonl({ slug: "odd", type: "bulb" }))
      assert.deepStrictEqual(turned.slice(0, 4), [0, 0, 0, 1])
      assert.deepStrictEqual(
        yield* store.send(jsonl(withFields("odd", { fits: "lamp-b" }, { type: "bulb" }))),
        [0, 1, 0, 0]
      )
      assert.deepStrictEqual(Object.keys(yield* valuesOf(store, "odd")), ["fits"])
      assert.deepStrictEqual(yield* store.send(jsonl(withFields("lamp-b", { ean: "1" }))), [0, 1, 0, 0])
    }))

  it.effect("give another store the same entities, also where they reference later ones or each other", () =>
    Effect.gen(function*() {
      const [from, to] = [yield* aLampStore, yield* aLampStore]
      // Bulbs must reference a lamp, which follows them by its slug; and these lamps reference each other.
      yield* from.send(lamps)
      yield* from.send(
        jsonl(
          withFields("a-bulb", { fits: "lamp-b" }, { type: "bulb" }),
          withFields("lamp-b", { related: "lamp-a" })
        )
      )
      yield* expectRoundTrip(from, to)
      const first = yield* from.exported()
      assert.deepStrictEqual((yield* to.send(first)).slice(0, 2), [0, 0])
    }))
})
