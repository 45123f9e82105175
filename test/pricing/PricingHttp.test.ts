import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { aCartWith, addTo, aGuestCart, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, inOrganization, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { assertPermissions, otherOrganization, seedEntity, seedOrganization } from "./Seed.ts"

const elsewhere = inOrganization(otherOrganization, asAdmin)

const prices = "/api/pricing/prices"
const modifiers = "/api/pricing/modifiers"
const tenOff = { name: "Ten off", type: "percentage_discount", value: 10 }

const post = (path: string, body: unknown, as: typeof asAdmin = asAdmin) => api("POST", path, { body, as })

describe("pricing over HTTP", () => {
  withSharedApp((it) => {
    it.effect("setting a price answers 201 with the whole record, the second time with the same id", () =>
      Effect.gen(function*() {
        const { entityId } = yield* seedEntity()
        const sent = {
          entityId,
          currency: "usd",
          amount: 1999,
          validFrom: "2026-01-01",
          validUntil: "2026-12-31T23:59:59+01:00"
        }
        const first = yield* post(prices, sent)
        assert.strictEqual(first.status, 201)
        const data = first.at("data") as Record<string, unknown>
        assert.match(String(data["createdAt"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.deepStrictEqual({ ...data, createdAt: null, updatedAt: null }, {
          id: data["id"],
          organizationId: yield* theOrganization,
          entityId,
          variantId: null,
          currency: "USD",
          amount: 1999,
          compareAtAmount: null,
          customerGroupId: null,
          minQuantity: null,
          maxQuantity: null,
          validFrom: "2026-01-01T00:00:00.000Z",
          validUntil: "2026-12-31T22:59:59.000Z",
          metadata: {},
          createdAt: null,
          updatedAt: null
        })
        const second = yield* post(prices, { ...sent, amount: 5 })
        assert.deepStrictEqual([second.status, second.at("data.id"), second.at("data.amount")], [201, data["id"], 5])
      }))

    it.effect("refuses amounts, currencies, quantities, times and ids that are none, naming every field", () =>
      Effect.gen(function*() {
        const { entityId } = yield* seedEntity()
        const sent = { entityId, currency: "USD", amount: 1 }
        const refused: ReadonlyArray<readonly [object, string]> = [
          [{ amount: -1 }, "amount"],
          [{ amount: 29.99 }, "amount"],
          [{ amount: 2 ** 53 }, "amount"],
          [{ amount: "5" }, "amount"],
          [{ currency: "DOLLAR" }, "currency"],
          [{ currency: "ZZZ" }, "currency"],
          [{ entityId: "x" }, "entityId"],
          [{ minQuantity: 0 }, "minQuantity"],
          [{ minQuantity: 2 ** 31 }, "minQuantity"],
          [{ validFrom: "soon" }, "validFrom"],
          [{ validFrom: "2026-13-45" }, "validFrom"],
          [{ customerGroupId: "a\u0000b" }, "customerGroupId"],
          [{ metadata: { note: "\ud800" } }, "metadata.note"]
        ]
        for (const [fields, path] of refused) {
          const answer = yield* post(prices, { ...sent, ...fields })
          assert.deepStrictEqual(
            [answer.status, answer.at("error.code"), answer.at("error.details.issues.0.path")],
            [422, "VALIDATION_FAILED", path]
          )
        }
        const both = yield* post(prices, { ...sent, amount: -1, currency: "x" })
        assert.strictEqual(both.list("error.details.issues").length, 2)
        const malformed = yield* api("POST", prices, { body: "{", as: asAdmin })
        assert.deepStrictEqual([malformed.status, malformed.at("error.code")], [400, "BAD_REQUEST"])
      }))

    it.effect("answers 404 for an unknown or foreign entity and 422 for another entity's variant", () =>
      Effect.gen(function*() {
        yield* seedOrganization
        const [own, other, foreign] = [
          yield* seedEntity(),
          yield* seedEntity(),
          yield* seedEntity({}, otherOrganization)
        ]
        const sent = { currency: "USD", amount: 1 }
        for (const entityId of [newId(), foreign.entityId]) {
          const answer = yield* post(prices, { ...sent, entityId })
          assert.deepStrictEqual([answer.status, answer.at("error.code")], [404, "NOT_FOUND"])
        }
        const answer = yield* post(prices, { ...sent, entityId: own.entityId, variantId: other.variantId })
        assert.deepStrictEqual([answer.status, answer.at("error.details.issues.0.path")], [422, "variantId"])
      }))

    it.effect("lists prices with their modifiers and pagination, filtered, and nothing of another organization", () =>
      Effect.gen(function*() {
        yield* seedOrganization
        const { entityId, variantId } = yield* seedEntity()
        yield* post(prices, { entityId, currency: "USD", amount: 1 })
        yield* post(prices, { entityId, currency: "EUR", amount: 2, customerGroupId: "vip" })
        yield* post(prices, { entityId, variantId, currency: "EUR", amount: 3 })
        const modifier = yield* post(modifiers, { ...tenOff, entityId })
        const amounts = (query: string, as = asAdmin) =>
          Effect.map(api("GET", `${prices}?${query}`, { as }), (answer) => {
            assert.strictEqual(answer.status, 200)
            return answer.list("data.prices").map((_, index) => answer.number(`data.prices.${index}.amount`))
          })
        assert.deepStrictEqual([...yield* amounts(`entityId=${entityId}`)].sort(), [1, 2, 3])
        assert.deepStrictEqual(yield* amounts(`entityId=${entityId}&currency=usd`), [1])
        assert.deepStrictEqual(yield* amounts(`variantId=${variantId}`), [3])
        assert.deepStrictEqual(yield* amounts(`entityId=${entityId}&customerGroupId=vip`), [2])
        assert.isAtLeast((yield* amounts("")).length, 3)
        assert.deepStrictEqual(yield* amounts(`entityId=${entityId}`, elsewhere), [])
        const page = yield* api("GET", `${prices}?entityId=${entityId}&page=2&limit=2`, { as: asAdmin })
        assert.deepStrictEqual(page.at("meta.pagination"), { page: 2, limit: 2, total: 3, totalPages: 2 })
        assert.deepStrictEqual(
          page.list("data.modifiers").map((_, index) => page.text(`data.modifiers.${index}.id`)),
          [modifier.text("data.id")]
        )
        for (const query of ["entityId=x", "currency=dollars", "customerGroupId=%00"]) {
          assert.strictEqual((yield* api("GET", `${prices}?${query}`, { as: asAdmin })).status, 422)
        }
      }))

    it.effect("a modifier is created, listed, changed and deleted", () =>
      Effect.gen(function*() {
        const { entityId } = yield* seedEntity()
        const made = yield* post(modifiers, { ...tenOff, entityId, conditions: { minSubtotal: 500 } })
        assert.strictEqual(made.status, 201)
        const path = `${modifiers}/${made.text("data.id")}`
        const listed = yield* api("GET", `${modifiers}?entityId=${entityId}&active=true`, { as: asAdmin })
        assert.deepStrictEqual([listed.list("data").length, listed.at("meta.pagination.total")], [1, 1])
        const changed = yield* api("PATCH", path, { body: { value: 15 }, as: asAdmin })
        assert.deepStrictEqual([changed.status, changed.at("data.value"), changed.at("data.name")], [
          200,
          15,
          "Ten off"
        ])
        assert.strictEqual((yield* api("PATCH", path, { body: { value: 15 }, as: elsewhere })).status, 404)
        assert.strictEqual((yield* api("DELETE", path, { as: elsewhere })).status, 404)
        const deleted = yield* api("DELETE", path, { as: asAdmin })
        assert.deepStrictEqual([deleted.status, deleted.body], [200, { data: { deleted: true } }])
        assert.strictEqual((yield* api("DELETE", path, { as: asAdmin })).status, 404)
        assert.strictEqual((yield* api("PATCH", `${modifiers}/nonsense`, { body: {}, as: asAdmin })).status, 422)
      }))

    it.effect("refuses modifiers without meaning", () =>
      Effect.gen(function*() {
        yield* seedOrganization
        const [own, other] = [yield* seedEntity(), yield* seedEntity()]
        const foreign = yield* seedEntity({}, otherOrganization)
        const refused: ReadonlyArray<readonly [object, string]> = [
          [{ type: "half_price" }, "type"],
          [{ value: 10.5 }, "value"],
          [{ value: 250 }, "value"],
          [{ value: -1 }, "value"],
          [{ type: "fixed_discount" }, "currency"],
          [{ type: "markup" }, "currency"],
          [{ type: "override" }, "currency"],
          [{ type: "percentage_markup", value: 1_001 }, "value"],
          [{ minQuantity: 2, maxQuantity: 1 }, "maxQuantity"],
          [{ validFrom: "2026-02-01", validUntil: "2026-01-01" }, "validUntil"],
          [{ variantId: newId() }, "variantId"],
          [{ variantId: foreign.variantId }, "variantId"],
          [{ entityId: own.entityId, variantId: other.variantId }, "variantId"],
          [{ entityId: foreign.entityId }, "entityId"],
          [{ conditions: { minSubtotal: "5" } }, "conditions.minSubtotal"],
          [{ name: "" }, "name"]
        ]
        for (const [fields, path] of refused) {
          const answer = yield* post(modifiers, { ...tenOff, ...fields })
          assert.deepStrictEqual([answer.status, answer.at("error.details.issues.0.path")], [422, path])
        }
      }))

    it.effect("a change is held to the same rules, on the whole of the modifier", () =>
      Effect.gen(function*() {
        yield* seedOrganization
        const [own, other] = [yield* seedEntity(), yield* seedEntity()]
        const foreign = yield* seedEntity({}, otherOrganization)
        const made = yield* post(modifiers, { ...tenOff, entityId: own.entityId, minQuantity: 5 })
        const path = `${modifiers}/${made.text("data.id")}`
        const refused: ReadonlyArray<readonly [object, string]> = [
          [{ value: 101 }, "value"],
          [{ value: 1.5 }, "value"],
          [{ type: "markup" }, "currency"],
          [{ type: "half_price" }, "type"],
          [{ maxQuantity: 4 }, "maxQuantity"],
          [{ entityId: newId() }, "entityId"],
          [{ variantId: other.variantId }, "variantId"],
          [{ entityId: foreign.entityId }, "entityId"]
        ]
        for (const [body, field] of refused) {
          const answer = yield* api("PATCH", path, { body, as: asAdmin })
          assert.deepStrictEqual([answer.status, answer.at("error.details.issues.0.path")], [422, field])
        }
        const changed = yield* api("PATCH", path, { body: { type: "percentage_markup", value: 150 }, as: asAdmin })
        assert.deepStrictEqual([changed.status, changed.at("data.type"), changed.at("data.value")], [
          200,
          "percentage_markup",
          150
        ])
        assert.strictEqual((yield* api("DELETE", path, { as: asAdmin })).status, 200)
        assert.strictEqual((yield* api("PATCH", path, { body: { value: 1 }, as: asAdmin })).status, 404)
      }))

    it.effect("every kind of modifier changes what a line of a cart costs, in order of priority", () =>
      Effect.gen(function*() {
        const kinds: ReadonlyArray<readonly [object, number]> = [
          [{ type: "percentage_discount", value: 15 }, 850],
          [{ type: "fixed_discount", value: 100, currency: "USD" }, 900],
          [{ type: "fixed_discount", value: 5_000, currency: "USD" }, 0],
          [{ type: "fixed_discount", value: 100, currency: "EUR" }, 1_000],
          [{ type: "markup", value: 25, currency: "USD" }, 1_025],
          [{ type: "percentage_markup", value: 25 }, 1_250],
          [{ type: "override", value: 77, currency: "USD" }, 77],
          [{ type: "percentage_discount", value: 10, customerGroupId: "vip" }, 1_000],
          [{ type: "percentage_discount", value: 10, minQuantity: 2 }, 1_000],
          [{ type: "percentage_discount", value: 10, conditions: { minSubtotal: 1_001 } }, 1_000],
          [{ type: "percentage_discount", value: 10, validUntil: "2020-01-01" }, 1_000]
        ]
        for (const [fields, expected] of kinds) {
          const entityId = yield* aProduct()
          yield* post(modifiers, { name: "M", entityId, ...fields })
          const line = yield* addTo(yield* aGuestCart(), entityId)
          assert.strictEqual(line.at("data.unitPriceSnapshot"), expected, JSON.stringify(fields))
        }
        const entityId = yield* aProduct()
        yield* post(modifiers, { name: "Then", entityId, type: "percentage_markup", value: 10, priority: 2 })
        yield* post(modifiers, { name: "First", entityId, type: "override", value: 500, currency: "USD", priority: 1 })
        assert.strictEqual((yield* addTo(yield* aGuestCart(), entityId)).at("data.unitPriceSnapshot"), 550)
        assert.strictEqual((yield* checkOut(yield* aCartWith(entityId, 3))).at("data.subtotal"), 1_650)
      }))

    it.effect("each permission of pricing, or its alias, allows its requests alone", () =>
      Effect.gen(function*() {
        const { entityId } = yield* seedEntity()
        const one = `${modifiers}/${newId()}`
        yield* assertPermissions(["pricing:create", "pricing:read", "pricing:update", "pricing:manage"], [
          ["POST", prices, { entityId, currency: "USD", amount: 1 }, ["pricing:create", "pricing:manage"]],
          ["GET", prices, undefined, ["pricing:update", "pricing:read", "pricing:manage"]],
          ["POST", modifiers, tenOff, ["pricing:create", "pricing:manage"]],
          ["GET", modifiers, undefined, ["pricing:update", "pricing:read", "pricing:manage"]],
          ["PATCH", one, {}, ["pricing:update", "pricing:manage"]],
          ["DELETE", one, undefined, ["pricing:update", "pricing:manage"]]
        ])
      }))
  })
})
