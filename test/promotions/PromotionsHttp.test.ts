import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { assertPermissions, otherOrganization, seedOrganization } from "../pricing/Seed.ts"
import { api, asAdmin, inOrganization, theOrganization, withSharedApp } from "../support/TestApp.ts"

const elsewhere = inOrganization(otherOrganization, asAdmin)

const path = "/api/promotions"
const tenOff = () => ({ code: `C${newId()}`, name: "Ten off", type: "percentage_off_order", value: 10 })
const create = (fields: object = {}, as = asAdmin) => api("POST", path, { body: { ...tenOff(), ...fields }, as })

describe("promotions over HTTP", () => {
  withSharedApp((it) => {
    it.effect("creating answers 201 with the whole record", () =>
      Effect.gen(function*() {
        const window = { validFrom: "2026-01-01T00:00:00.000Z", validUntil: "2036-01-01T00:00:00.000Z" }
        const made = yield* create({ code: "  spring-26 ", value: 12.5, ...window })
        assert.strictEqual(made.status, 201)
        const data = made.at("data") as Record<string, unknown>
        assert.deepStrictEqual({ ...data, id: null, createdAt: null, updatedAt: null }, {
          id: null,
          organizationId: yield* theOrganization,
          code: "SPRING-26",
          name: "Ten off",
          type: "percentage_off_order",
          value: 12.5,
          currency: null,
          buyQuantity: null,
          getQuantity: null,
          isAutomatic: false,
          isActive: true,
          stackable: true,
          priority: 100,
          conditions: {},
          usageLimitTotal: null,
          usageLimitPerCustomer: null,
          usedCount: 0,
          ...window,
          metadata: {},
          createdAt: null,
          updatedAt: null
        })
      }))

    it.effect("every type is accepted, and all conditions come back", () =>
      Effect.gen(function*() {
        const conditions = {
          minimumOrderValue: 100,
          minimumQuantity: 2,
          entityTypes: ["product"],
          categories: ["shoes"],
          customerGroups: ["vip"],
          firstOrderOnly: true
        }
        const types = [
          "percentage_off_order",
          "fixed_off_order",
          "percentage_off_item",
          "fixed_off_item",
          "free_shipping"
        ]
        for (const type of types) assert.strictEqual((yield* create({ type, value: 0 })).status, 201)
        const made = yield* create({ type: "buy_x_get_y", buyQuantity: 2, getQuantity: 1, conditions })
        assert.deepStrictEqual([made.status, made.at("data.conditions")], [201, conditions])
      }))

    it.effect("refuses an invalid promotion, naming the field", () =>
      Effect.gen(function*() {
        const refused: ReadonlyArray<readonly [object, string]> = [
          [{ type: "everything_free" }, "type"],
          [{ value: -1 }, "value"],
          [{ value: 200 }, "value"],
          [{ value: "10" }, "value"],
          [{ type: "fixed_off_order", value: 9.99 }, "value"],
          [{ type: "buy_x_get_y", buyQuantity: 2 }, "getQuantity"],
          [{ type: "buy_x_get_y", getQuantity: 1 }, "buyQuantity"],
          [{ validFrom: "next week" }, "validFrom"],
          [{ validFrom: "2026-02-01", validUntil: "2026-01-01" }, "validUntil"],
          [{ name: undefined }, "name"],
          [{ code: "   " }, "code"],
          [{ usageLimitTotal: 1.5 }, "usageLimitTotal"],
          [{ conditions: { minimumOrderValue: -5 } }, "conditions.minimumOrderValue"],
          [{ metadata: { a: ["\u0000"] } }, "metadata.a.0"]
        ]
        for (const [fields, field] of refused) {
          const answer = yield* create(fields)
          assert.deepStrictEqual(
            [answer.status, answer.at("error.code"), answer.at("error.details.issues.0.path")],
            [422, "VALIDATION_FAILED", field]
          )
        }
        const malformed = yield* api("POST", path, { body: "{", as: asAdmin })
        assert.deepStrictEqual([malformed.status, malformed.at("error.code")], [400, "BAD_REQUEST"])
      }))

    it.effect("a code that is taken answers 409, at creation and at a change", () =>
      Effect.gen(function*() {
        const taken = (yield* create()).text("data.code")
        const again = yield* create({ code: taken.toLowerCase() })
        assert.deepStrictEqual([again.status, again.at("error.code")], [409, "CONFLICT"])
        const other = (yield* create()).text("data.id")
        const change = yield* api("PATCH", `${path}/${other}`, { body: { code: taken }, as: asAdmin })
        assert.deepStrictEqual([change.status, change.at("error.code")], [409, "CONFLICT"])
      }))

    it.effect("the list shows the active ones unless another status is asked for, with pagination", () =>
      Effect.gen(function*() {
        const ids = Effect.fnUntraced(function*(query: string) {
          const answer = yield* api("GET", `${path}?limit=100&${query}`, { as: asAdmin })
          assert.strictEqual(answer.status, 200)
          assert.strictEqual(answer.number("meta.pagination.total"), answer.list("data").length)
          return answer.list("data").map((_, index) => answer.text(`data.${index}.id`))
        })
        const active = (yield* create()).text("data.id")
        const off = (yield* create({ isActive: false })).text("data.id")
        assert.include(yield* ids(""), active)
        assert.notInclude(yield* ids(""), off)
        assert.include(yield* ids("status=inactive"), off)
        assert.includeMembers(yield* ids("status=all"), [active, off])
        assert.strictEqual((yield* api("GET", `${path}?status=some`, { as: asAdmin })).status, 422)
        yield* seedOrganization
        const foreign = yield* api("GET", `${path}?status=all`, { as: elsewhere })
        assert.deepStrictEqual(foreign.body, {
          data: [],
          meta: { pagination: { page: 1, limit: 20, total: 0, totalPages: 1 } }
        })
      }))

    it.effect("a promotion is changed and deactivated, repeatedly, and only by its organization", () =>
      Effect.gen(function*() {
        yield* seedOrganization
        const one = `${path}/${(yield* create()).text("data.id")}`
        const changed = yield* api("PATCH", one, { body: { value: 33.3, stackable: false }, as: asAdmin })
        assert.deepStrictEqual(
          [changed.status, changed.at("data.value"), changed.at("data.stackable"), changed.at("data.name")],
          [200, 33.3, false, "Ten off"]
        )
        for (const _ of [1, 2]) {
          const answer = yield* api("POST", `${one}/deactivate`, { as: asAdmin })
          assert.deepStrictEqual([answer.status, answer.at("data.isActive")], [200, false])
        }
        assert.strictEqual((yield* api("PATCH", one, { body: {}, as: elsewhere })).status, 404)
        assert.strictEqual((yield* api("POST", `${one}/deactivate`, { as: elsewhere })).status, 404)
        assert.strictEqual((yield* api("PATCH", one, { body: { value: 101 }, as: asAdmin })).status, 422)
        assert.strictEqual((yield* api("POST", `${path}/${newId()}/deactivate`, { as: asAdmin })).status, 404)
        assert.strictEqual((yield* api("PATCH", `${path}/nonsense`, { body: {}, as: asAdmin })).status, 422)
      }))

    it.effect("every field of a promotion can be changed alone, and null empties the optional ones", () =>
      Effect.gen(function*() {
        const made = yield* create({ type: "buy_x_get_y", buyQuantity: 2, getQuantity: 1 })
        const one = `${path}/${made.text("data.id")}`
        const code = `NEW-${newId()}`.toUpperCase()
        const changes: ReadonlyArray<Record<string, unknown>> = [
          { name: "Other" },
          { code },
          { buyQuantity: 3 },
          { getQuantity: 2 },
          { type: "fixed_off_order", value: 250, currency: "JPY" },
          { type: "percentage_off_item", value: 12.5 },
          { currency: null },
          { buyQuantity: null, getQuantity: null },
          { isAutomatic: true },
          { isActive: false },
          { isActive: true },
          { stackable: false },
          { priority: -7 },
          { conditions: { minimumOrderValue: 5, entityTypes: ["book"], categories: ["a", "b"], firstOrderOnly: true } },
          { conditions: {} },
          { usageLimitTotal: 7 },
          { usageLimitPerCustomer: 2 },
          { usageLimitTotal: null, usageLimitPerCustomer: null },
          { validFrom: "2026-01-01T00:00:00.000Z", validUntil: "2099-01-01T00:00:00.000Z" },
          { validFrom: null },
          { validUntil: null },
          { metadata: { campaign: "spring" } },
          { code: null }
        ]
        let before = made.at("data") as Record<string, unknown>
        for (const change of changes) {
          const changed = yield* api("PATCH", one, { body: change, as: asAdmin })
          const after = changed.at("data") as Record<string, unknown>
          assert.strictEqual(changed.status, 200, JSON.stringify(changed.body))
          assert.deepStrictEqual(after, { ...before, ...change, updatedAt: after["updatedAt"] })
          before = after
        }
        const emptied = yield* api("PATCH", one, { body: { conditions: null, metadata: null }, as: asAdmin })
        assert.deepStrictEqual([emptied.at("data.conditions"), emptied.at("data.metadata")], [{}, {}])
      }))

    it.effect("an invalid change is refused, naming the field, and changes nothing", () =>
      Effect.gen(function*() {
        const made = yield* create({ validUntil: "2030-01-01T00:00:00.000Z" })
        const one = `${path}/${made.text("data.id")}`
        const refused: ReadonlyArray<readonly [object, string]> = [
          [{ type: "everything_free" }, "type"],
          [{ type: "buy_x_get_y", buyQuantity: 1 }, "getQuantity"],
          [{ type: "fixed_off_item", value: 0.5 }, "value"],
          [{ value: 100.5 }, "value"],
          [{ value: -1 }, "value"],
          [{ validFrom: "2031-01-01" }, "validUntil"],
          [{ name: "" }, "name"],
          [{ code: " " }, "code"],
          [{ currency: "XXX" }, "currency"],
          [{ usageLimitPerCustomer: -1 }, "usageLimitPerCustomer"],
          [{ conditions: { minimumQuantity: 0.5 } }, "conditions.minimumQuantity"]
        ]
        for (const [change, field] of refused) {
          const answer = yield* api("PATCH", one, { body: change, as: asAdmin })
          assert.deepStrictEqual([answer.status, answer.at("error.details.issues.0.path")], [422, field])
        }
        assert.deepStrictEqual((yield* api("PATCH", one, { body: {}, as: asAdmin })).at("data"), made.at("data"))
      }))

    it.effect("promotions are listed by status, in the order of their priority", () =>
      Effect.gen(function*() {
        const rows: ReadonlyArray<readonly [string, object]> = [
          ["expired", { validUntil: "2020-01-01" }],
          ["scheduled", { validFrom: "2099-01-01" }],
          ["active", { priority: -20 }],
          ["active", { priority: -30 }]
        ]
        const ids = yield* Effect.forEach(
          rows,
          ([, fields]) => Effect.map(create(fields), (one) => one.text("data.id"))
        )
        const listed = Effect.fnUntraced(function*(status: string) {
          const answer = yield* api("GET", `${path}?limit=100&status=${status}`, { as: asAdmin })
          return answer.list("data").map((_, index) => answer.text(`data.${index}.id`)).filter((id) => ids.includes(id))
        })
        assert.deepStrictEqual(yield* listed("expired"), [ids[0]])
        assert.deepStrictEqual(yield* listed("scheduled"), [ids[1]])
        assert.deepStrictEqual(yield* listed("active"), [ids[3], ids[2]])
      }))
    it.effect("each permission of promotions, or its alias, allows its requests alone", () =>
      Effect.suspend(() => {
        const one = `${path}/${newId()}`
        return assertPermissions(["promotions:create", "promotions:read", "promotions:update", "promotions:manage"], [
          ["POST", path, {}, ["promotions:create", "promotions:manage"]],
          ["GET", path, undefined, ["promotions:read", "promotions:update", "promotions:manage"]],
          ["PATCH", one, {}, ["promotions:update", "promotions:manage"]],
          ["POST", `${one}/deactivate`, undefined, ["promotions:update", "promotions:manage"]]
        ])
      }))
  })
})
