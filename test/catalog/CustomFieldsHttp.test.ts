import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { api, asAdmin, asStaff, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { created, entities, make, onDatabase, refused, searching, shopper } from "./CatalogCalls.ts"

const definitions = "/api/admin/entity-field-definitions"

/** A new type, so that tests do not share fields. */
const aType = () => `type-${newId().slice(-12)}`

const define = (body: object) => Effect.map(created(definitions, body), (answer) => answer.text("data.id"))

const redefine = (id: string, body: object) => api("PATCH", `${definitions}/${id}`, { as: asAdmin, body })

const patch = (id: string, customFields: object) =>
  api("PATCH", `${entities}/${id}`, { as: asStaff, body: { customFields } })

/** Values by name, as this actor is shown them. */
const fieldsOf = (id: string, as: typeof asAdmin = asAdmin) =>
  Effect.map(
    api("GET", `${entities}/${id}?include=customFields`, { as }),
    (answer) =>
      Object.fromEntries(
        answer.list("data.customFields").map((one) => {
          const { name, value } = one as { name: string; value: unknown }
          return [name, value]
        })
      )
  )

/** Refused with 422 for this one field. */
const refusedField = (method: string, path: string, body: object, field: string) =>
  Effect.map(
    refused(method, path, body, 422),
    (answer) => assert.strictEqual(answer.at("error.details.issues.0.path"), field, JSON.stringify(answer.body))
  )

withSharedApp("custom fields over HTTP", (it) => {
  it.effect("a definition is made with its defaults, read, listed by type, changed, archived and brought back", () =>
    Effect.gen(function*() {
      const entityType = aType()
      const made = yield* api("POST", definitions, { as: asAdmin, body: { entityType, name: "ean", kind: "text" } })
      const { createdAt: _, id, updatedAt: __, ...rest } = made.at("data") as Record<string, unknown>
      assert.deepStrictEqual(rest, {
        organizationId: yield* theOrganization,
        entityType,
        name: "ean",
        label: "ean",
        kind: "text",
        isRequired: false,
        isUnique: false,
        isFilterable: false,
        isPublic: true,
        rules: {},
        defaultValue: null,
        sortOrder: 0,
        status: "active"
      })
      const changed = yield* redefine(String(id), { label: "EAN", rules: { maxLength: 13 }, sortOrder: 3 })
      assert.deepStrictEqual([changed.at("data.label"), changed.at("data.rules")], ["EAN", { maxLength: 13 }])
      const read = yield* api("GET", `${definitions}/${String(id)}`, { as: asStaff })
      assert.deepStrictEqual(read.at("data"), changed.at("data"))
      const listed = (query: string) =>
        Effect.map(
          api("GET", `${definitions}?entityType=${entityType}${query}`, { as: asAdmin }),
          (answer) => answer.list("data").length
        )
      assert.strictEqual(yield* listed(""), 1)
      const archived = yield* api("POST", `${definitions}/${String(id)}/archive`, { as: asAdmin })
      assert.strictEqual(archived.at("data.status"), "archived")
      assert.deepStrictEqual([yield* listed(""), yield* listed("&includeArchived=true")], [0, 1])
      const back = yield* api("POST", `${definitions}/${String(id)}/restore`, { as: asAdmin })
      assert.strictEqual(back.at("data.status"), "active")
    }))

  it.effect("an invalid definition is refused, naming the field", () =>
    Effect.gen(function*() {
      const usable = { entityType: aType(), name: "f", kind: "text" }
      const bodies: ReadonlyArray<readonly [string, object]> = [
        ["name", { ...usable, name: "1st" }],
        ["name", { ...usable, name: "a b" }],
        ["kind", { ...usable, kind: "colour" }],
        ["rules.values", { ...usable, kind: "enum" }],
        ["rules.values", { ...usable, kind: "enum", rules: { values: ["a", "a"] } }],
        ["rules.values", { ...usable, kind: "enum", rules: { values: [] } }],
        ["rules", { ...usable, rules: { minLength: 3, maxLength: 2 } }],
        ["isUnique", { ...usable, kind: "boolean", isUnique: true }],
        ["isFilterable", { ...usable, kind: "json", isFilterable: true }],
        ["isFilterable", { ...usable, isPublic: false, isFilterable: true }],
        ["defaultValue", { ...usable, kind: "number", defaultValue: "x" }],
        ["defaultValue", { ...usable, isUnique: true, defaultValue: "x" }]
      ]
      for (const [path, body] of bodies) yield* refusedField("POST", definitions, body, path)
      yield* define(usable)
      yield* refused("POST", definitions, usable, 409)
      yield* refused("PATCH", `${definitions}/${newId()}`, { label: "x" }, 404)
    }))

  it.effect("values of each kind are taken as they should be and refused as they should not, by create and by change", () =>
    Effect.gen(function*() {
      const type = aType()
      const other = yield* make({})
      const kinds: ReadonlyArray<readonly [string, object, unknown, ReadonlyArray<unknown>]> = [
        ["text", { maxLength: 3 }, "abc", ["abcd", 5, true, {}]],
        ["number", { minimum: 1, maximum: 9, isInteger: true }, 5, [0, 10, 1.5, "5"]],
        ["boolean", {}, false, ["false", 0]],
        ["date", {}, "2024-02-29", ["2023-02-29", "2024-02-29T10:00:00Z", 5, "today"]],
        ["enum", { values: ["s", "m"] }, "m", ["l", 1]],
        ["money", {}, { amount: 199, currency: "EUR" }, [199, { amount: 1.5, currency: "EUR" }, {
          amount: 1,
          currency: "QQQ"
        }]],
        ["reference", { entityType: "product" }, other.id, ["nonsense", newId(), 5]],
        ["json", {}, { any: ["thing", 1] }, []]
      ]
      for (const [kind, rules] of kinds) yield* define({ entityType: type, name: kind, kind, rules })
      const good = Object.fromEntries(kinds.map(([kind, , value]) => [kind, value]))
      const { id } = yield* make({ type, customFields: good })
      assert.deepStrictEqual(yield* fieldsOf(id), good)
      for (const [kind, , , wrong] of kinds) {
        for (const value of wrong) {
          const customFields = { [kind]: value }
          yield* refusedField("PATCH", `${entities}/${id}`, { customFields }, `customFields.${kind}`)
          yield* refusedField("POST", entities, { type, slug: newId(), customFields }, `customFields.${kind}`)
        }
      }
      assert.deepStrictEqual(yield* fieldsOf(id), good)
      yield* refusedField("PATCH", `${entities}/${id}`, { customFields: { nothing: 1 } }, "customFields.nothing")
      yield* refusedField("PATCH", `${entities}/${other.id}`, { customFields: { text: "a" } }, "customFields.text")
    }))

  it.effect("values are kept by a change that does not name them, and cleared by null", () =>
    Effect.gen(function*() {
      const type = aType()
      for (const name of ["a", "b", "constructor"]) yield* define({ entityType: type, name, kind: "text" })
      const { id } = yield* make({ type, customFields: { a: "1", b: "2" } })
      yield* patch(id, { b: "3" })
      yield* api("PATCH", `${entities}/${id}`, { as: asStaff, body: { metadata: { x: 1 } } })
      assert.deepStrictEqual(yield* fieldsOf(id), { a: "1", b: "3" })
      yield* patch(id, { a: null, constructor: "c" })
      assert.deepStrictEqual(yield* fieldsOf(id), { b: "3", constructor: "c" })
    }))

  it.effect("values that are required come from the request or from the default, and cannot be cleared", () =>
    Effect.gen(function*() {
      const type = aType()
      yield* define({ entityType: type, name: "must", kind: "text", isRequired: true })
      yield* define({ entityType: type, name: "usual", kind: "number", isRequired: true, defaultValue: 7 })
      yield* refusedField("POST", entities, { type, slug: newId() }, "customFields.must")
      const { id } = yield* make({ type, customFields: { must: "x" } })
      assert.deepStrictEqual(yield* fieldsOf(id), { must: "x", usual: 7 })
      yield* refusedField("PATCH", `${entities}/${id}`, { customFields: { must: null } }, "customFields.must")
      yield* refusedField("PATCH", `${entities}/${id}`, { customFields: { usual: null } }, "customFields.usual")
    }))

  it.effect("values that are unique are so in an organization, also for two at once, and free again when they go", () =>
    Effect.gen(function*() {
      const type = aType()
      yield* define({ entityType: type, name: "ean", kind: "text", isUnique: true })
      const { id } = yield* make({ type, customFields: { ean: "1" } })
      const second = { type, slug: newId(), customFields: { ean: "1" } }
      const answer = yield* refused("POST", entities, second, 409)
      assert.include(answer.text("error.message"), "customFields.ean")
      assert.strictEqual((yield* api("GET", `${entities}/${second.slug}`, { as: asAdmin })).status, 404)
      yield* patch(id, { ean: "2" })
      const both = yield* Effect.forEach(
        [1, 2, 3, 4],
        () => api("POST", entities, { as: asAdmin, body: { ...second, slug: newId() } }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [201, 409, 409, 409])
      yield* refused("PATCH", `${entities}/${id}`, { customFields: { ean: "1" } }, 409)
      const long = { customFields: { ean: "x".repeat(256) } }
      yield* refusedField("PATCH", `${entities}/${id}`, long, "customFields.ean")
    }))

  it.effect("values that are not public are shown to those who keep the catalog only", () =>
    Effect.gen(function*() {
      const type = aType()
      yield* define({ entityType: type, name: "cost", kind: "number", isPublic: false })
      yield* define({ entityType: type, name: "care", kind: "text" })
      const { id } = yield* make({ type, status: "active", customFields: { cost: 3, care: "wash" } })
      assert.deepStrictEqual(yield* fieldsOf(id, shopper), { care: "wash" })
      assert.deepStrictEqual(yield* fieldsOf(id, asStaff), { cost: 3, care: "wash" })
      const list = yield* api("GET", `${entities}?type=${type}&include=customFields`, { as: shopper })
      assert.strictEqual(list.list("data.0.customFields").length, 1)
    }))

  it.effect("values that refer to an entity go with it", () =>
    Effect.gen(function*() {
      const type = aType()
      yield* define({ entityType: type, name: "fits", kind: "reference" })
      const [target, outsider] = [
        yield* make({}),
        yield* onDatabase((sql) =>
          sql<
            { id: string }
          >`with o as (insert into organizations (id, slug, name) values ('org_r', 'r', 'R') returning id)
          insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
          select gen_random_uuid(), id, 'product', 'theirs', 'active', true from o returning id`
        )
      ]
      const { id } = yield* make({ type, customFields: { fits: target.id } })
      const foreign = { customFields: { fits: outsider[0]?.id } }
      yield* refusedField("PATCH", `${entities}/${id}`, foreign, "customFields.fits")
      yield* api("DELETE", `${entities}/${target.id}`, { as: asAdmin })
      assert.deepStrictEqual(yield* fieldsOf(id), {})
    }))

  it.effect("events, revisions and restorations include custom fields, and there is no event without a change", () =>
    Effect.gen(function*() {
      const type = aType()
      const note = yield* define({ entityType: type, name: "note", kind: "text", rules: { maxLength: 9 } })
      const { id } = yield* make({ type, customFields: { note: "old" } })
      yield* patch(id, { note: "new" })
      yield* patch(id, { note: "new" })
      const recorded = yield* onDatabase((sql) =>
        sql<{ before: unknown; after: unknown }>`select before->'customFields' as before,
          payload->'customFields' as after from outbox_events where entity_id = ${id} order by entry_number`
      )
      assert.deepStrictEqual(recorded.map(({ after, before }) => [before, after]), [
        [null, { note: "old" }],
        [{ note: "old" }, { note: "new" }]
      ])
      const restore = (number: number) => api("POST", `${entities}/${id}/revisions/${number}/restore`, { as: asAdmin })
      assert.strictEqual((yield* restore(1)).status, 200)
      assert.deepStrictEqual(yield* fieldsOf(id), { note: "old" })
      yield* patch(id, { note: null })
      yield* redefine(note, { rules: { maxLength: 2 } })
      const answer = yield* restore(1)
      assert.deepStrictEqual([answer.status, answer.at("error.details.issues.0.path")], [422, "customFields.note"])
      yield* api("POST", `${definitions}/${note}/archive`, { as: asAdmin })
      assert.strictEqual((yield* restore(1)).status, 200)
      assert.deepStrictEqual(yield* fieldsOf(id), {})
    }))

  it.effect("a change of a definition is refused while values are there that it would not allow, and changes nothing", () =>
    Effect.gen(function*() {
      const type = aType()
      const size = yield* define({ entityType: type, name: "size", kind: "enum", rules: { values: ["s", "m"] } })
      const [one, two] = [yield* make({ type, customFields: { size: "m" } }), yield* make({ type })]
      for (
        const body of [
          { rules: { values: ["s"] } },
          { kind: "number" },
          { kind: "reference" },
          { isRequired: true }
        ]
      ) yield* refused("PATCH", `${definitions}/${size}`, body, 409)
      yield* patch(two.id, { size: "m" })
      yield* redefine(size, { kind: "text", rules: {} })
      yield* refused("PATCH", `${definitions}/${size}`, { isUnique: true }, 409)
      yield* patch(two.id, { size: "s" })
      assert.strictEqual((yield* redefine(size, { isUnique: true, isRequired: true })).status, 200)
      yield* refused("PATCH", `${entities}/${two.id}`, { customFields: { size: "m" } }, 409)
      assert.deepStrictEqual([yield* fieldsOf(one.id), yield* fieldsOf(two.id)], [{ size: "m" }, { size: "s" }])
      yield* refusedField("PATCH", `${definitions}/${size}`, { kind: "boolean" }, "isUnique")
    }))

  it.effect("a change of a definition gives entities without a value the default when it makes the field required", () =>
    Effect.gen(function*() {
      const type = aType()
      const { id } = yield* make({ type })
      yield* refused("POST", definitions, { entityType: type, name: "f", kind: "text", isRequired: true }, 409)
      const usual = { isRequired: true, defaultValue: "plain", isFilterable: true }
      yield* define({ entityType: type, name: "f", kind: "text", ...usual })
      assert.deepStrictEqual(yield* fieldsOf(id), { f: "plain" })
      assert.strictEqual((yield* searching(`type=${type}&attr.f=plain`)).total, 1)
    }))

  it.effect("a change of a definition at the same time as values are written leaves none that it would refuse", () =>
    Effect.gen(function*() {
      const type = aType()
      const field = yield* define({ entityType: type, name: "n", kind: "number" })
      const made = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => make({ type }))
      for (const maximum of [100, 50, 20]) {
        yield* Effect.all([
          redefine(field, { rules: { maximum } }),
          ...made.map(({ id }, n) => patch(id, { n: maximum - 2 + n }))
        ], { concurrency: "unbounded" })
        const definition = yield* api("GET", `${definitions}/${field}`, { as: asAdmin })
        const most = definition.at("data.rules.maximum") as number | undefined
        for (const { id } of made) {
          const { n } = yield* fieldsOf(id)
          if (typeof n === "number" && most !== undefined) assert.isAtMost(n, most)
        }
        yield* Effect.forEach(made, ({ id }) => patch(id, { n: 1 }))
      }
    }))

  it.effect("custom fields are found in search where they are filterable, as long as they are", () =>
    Effect.gen(function*() {
      const type = aType()
      const colour = yield* define({
        entityType: type,
        name: "colour",
        kind: "enum",
        rules: { values: ["red", "blue"] },
        isFilterable: true
      })
      yield* define({ entityType: type, name: "hidden", kind: "text" })
      const { id } = yield* make({ type, status: "active", customFields: { colour: "red", hidden: "x" } })
      const total = (query: string) => Effect.map(searching(`type=${type}&${query}`, shopper), (found) => found.total)
      assert.deepStrictEqual([yield* total("attr.colour=red"), yield* total("attr.hidden=x")], [1, 0])
      yield* patch(id, { colour: "blue" })
      assert.deepStrictEqual([yield* total("attr.colour=red"), yield* total("attr.colour=blue")], [0, 1])
      yield* api("POST", `${definitions}/${colour}/archive`, { as: asAdmin })
      assert.strictEqual(yield* total("attr.colour=blue"), 0)
      yield* api("POST", `${definitions}/${colour}/restore`, { as: asAdmin })
      assert.strictEqual(yield* total("attr.colour=blue"), 1)
      yield* patch(id, { colour: null })
      assert.strictEqual(yield* total("attr.colour=blue"), 0)
    }))
})
