import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { type CustomerId, newId } from "../../src/domain/platform/ids/Id.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { NewPromotion, PromotionChange } from "../../src/domain/promotions/Promotion.ts"
import { PromotionRepo, promotionRepoLayer } from "../../src/domain/promotions/PromotionRepo.ts"
import { Promotions } from "../../src/domain/promotions/Promotions.ts"
import { asOutsider, asStaff, eventsOf, pathsOf, seedOrganization } from "../pricing/Seed.ts"
import { plansOf, recording, statementsOf } from "../pricing/Statements.ts"
import { TestDatabase } from "../support/Postgres.ts"

const heard: Array<string> = []
const listeners = Hooks.layerOf(["promotions.afterCreate", "promotions.afterUpdate"].map((key) => ({
  key,
  after: () => Effect.sync(() => heard.push(key))
})))

const layer = Promotions.layer.pipe(
  Layer.provideMerge(Layer.provide(promotionRepoLayer, recording)),
  Layer.provide(Layer.mergeAll(listeners, StoreSettings.layerOf({ defaultCurrency: "EUR" }))),
  Layer.provideMerge(TestDatabase)
)

const body = Schema.decodeUnknownSync(NewPromotion)
const part = Schema.decodeUnknownSync(PromotionChange)
const page = { page: 1, limit: 100 }
const code = () => `C${newId()}`
const tenOff = () => ({ name: "Ten off", type: "percentage_off_order", value: 10, code: code() })

describe("promotions", () => {
  it.layer(layer)((it) => {
    it.effect("a new promotion has the defaults of the contract, and its code is kept trimmed in upper case", () =>
      Effect.gen(function*() {
        const [promotions, repo] = [yield* Promotions, yield* PromotionRepo]
        heard.length = 0
        const made = yield* promotions.create(body({ ...tenOff(), code: "  spring-26 ", value: 12.5 }))
        assert.deepStrictEqual(
          [made.code, made.value, made.isActive, made.isAutomatic, made.stackable, made.priority, made.usedCount],
          ["SPRING-26", 12.5, true, false, true, 100, 0]
        )
        const [candidate] = yield* repo.candidates([" Spring-26"], null, null)
        assert.deepStrictEqual(candidate, { promotion: made, usage: { total: 0, byCustomer: 0 } })
        const [event] = yield* eventsOf(made.id)
        assert.deepStrictEqual([event?.type, event?.payload], ["promotions.create", JSON.parse(JSON.stringify(made))])
        assert.deepStrictEqual(heard, ["promotions.afterCreate"])
      }).pipe(asStaff))

    it.effect("a fixed amount without a currency is in the store's, a percentage is in none", () =>
      Effect.gen(function*() {
        const promotions = yield* Promotions
        const made = yield* Effect.forEach(
          [{ type: "fixed_off_order" }, { type: "fixed_off_item", currency: "usd" }, {}],
          (fields) => promotions.create(body({ ...tenOff(), ...fields }))
        )
        assert.deepStrictEqual(made.map(({ currency }) => currency), ["EUR", "USD", null])
      }).pipe(asStaff))

    it.effect("a code exists once in an organization, however many ask for it at once", () =>
      Effect.gen(function*() {
        const promotions = yield* Promotions
        const taken = tenOff()
        const outcomes = yield* Effect.forEach(
          [1, 2, 3, 4, 5, 6],
          () => Effect.result(promotions.create(body(taken))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(outcomes.filter(Result.isSuccess).length, 1)
        for (const outcome of outcomes) {
          if (Result.isFailure(outcome)) assert.strictEqual(outcome.failure._tag, "Conflict/CodeTaken")
        }
        const other = yield* promotions.create(body(tenOff()))
        const error = yield* Effect.flip(promotions.change(other.id, part({ code: taken.code.toLowerCase() })))
        assert.strictEqual(error._tag, "Conflict/CodeTaken")
        yield* seedOrganization
        const elsewhere = yield* asOutsider(promotions.create(body(taken)))
        assert.strictEqual(elsewhere.code, taken.code.toUpperCase())
        const nameless = { name: "No code", type: "free_shipping", value: 0, isAutomatic: true, isActive: false }
        yield* promotions.create(body(nameless))
        yield* promotions.create(body(nameless))
      }).pipe(asStaff))

    it.effect("a change keeps what was not sent and empties what was sent as null", () =>
      Effect.gen(function*() {
        const promotions = yield* Promotions
        const made = yield* promotions.create(
          body({ ...tenOff(), usageLimitTotal: 5, conditions: { minimumQuantity: 2 } })
        )
        yield* TestClock.adjust("1 minute")
        heard.length = 0
        const changed = yield* promotions.change(made.id, part({ value: 20, usageLimitTotal: null }))
        assert.deepStrictEqual(
          { ...changed, updatedAt: made.updatedAt },
          { ...made, value: 20, usageLimitTotal: null }
        )
        assert.isTrue(changed.updatedAt > made.updatedAt)
        const [, event] = yield* eventsOf(made.id)
        assert.deepStrictEqual([event?.type, event?.payload], [
          "promotions.update",
          JSON.parse(JSON.stringify(changed))
        ])
        assert.deepStrictEqual(heard, ["promotions.afterUpdate"])
      }).pipe(asStaff))

    it.effect("a limit below the uses so far is refused, and a change never gives uses back", () =>
      Effect.gen(function*() {
        const [promotions, sql] = [yield* Promotions, yield* SqlClient.SqlClient]
        const { id } = yield* promotions.create(body({ ...tenOff(), usageLimitTotal: 5 }))
        yield* sql`update promotions set used_count = 3 where id = ${id}::uuid`
        assert.deepStrictEqual(pathsOf(yield* Effect.flip(promotions.change(id, part({ usageLimitTotal: 2 })))), [
          "usageLimitTotal"
        ])
        const changed = yield* promotions.change(id, part({ usageLimitTotal: 3, name: "Other" }))
        assert.strictEqual(changed.usedCount, 3)
      }).pipe(asStaff))

    it.effect("changes of different fields at once are both kept", () =>
      Effect.gen(function*() {
        const promotions = yield* Promotions
        const { id } = yield* promotions.create(body(tenOff()))
        yield* Effect.forEach(
          [{ value: 30 }, { priority: 1 }, { name: "Other" }, { stackable: false }, { usageLimitTotal: 9 }],
          (change) => promotions.change(id, part(change)),
          { concurrency: "unbounded" }
        )
        const after = yield* promotions.change(id, part({}))
        assert.deepStrictEqual(
          [after.value, after.priority, after.name, after.stackable, after.usageLimitTotal],
          [30, 1, "Other", false, 9]
        )
      }).pipe(asStaff))

    it.effect("deactivating once or six times at once is one change and one event", () =>
      Effect.gen(function*() {
        const promotions = yield* Promotions
        const { id } = yield* promotions.create(body(tenOff()))
        const answers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => promotions.deactivate(id), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(new Set(answers.map(({ isActive }) => isActive)), new Set([false]))
        const types = (yield* eventsOf(id)).map(({ type }) => type)
        assert.deepStrictEqual(types, ["promotions.create", "promotions.update"])
      }).pipe(asStaff))

    it.effect("candidates are the named ones in any state and the automatic ones that may still apply, each once", () =>
      Effect.gen(function*() {
        const [promotions, repo, sql] = [yield* Promotions, yield* PromotionRepo, yield* SqlClient.SqlClient]
        const make = (fields: object) => promotions.create(body({ ...tenOff(), ...fields }))
        const named = yield* make({ isActive: false })
        const both = yield* make({ isAutomatic: true, priority: 1 })
        const silent = yield* make({ isAutomatic: true, code: null, validFrom: "1971-01-01" })
        const off = yield* make({ isAutomatic: true, isActive: false })
        const ended = yield* make({ isAutomatic: true, validUntil: "1969-01-01" })
        const unnamed = yield* make({})
        const customerId = newId<CustomerId>()
        yield* sql`update promotions set used_count = 4 where id = ${both.id}::uuid`
        yield* sql`insert into promotion_buyer_usages (organization_id, promotion_id, buyer, used_count)
          values ('org_default', ${both.id}::uuid, ${`customer:${customerId}`}, 3),
            ('org_default', ${both.id}::uuid, ${`customer:${newId()}`}, 1)`
        const codes = [named.code ?? "", both.code?.toLowerCase() ?? "", "unknown"]
        const found = yield* repo.candidates(codes, customerId, null)
        const ids = found.map(({ promotion }) => promotion.id)
        for (const { id } of [named, both, silent]) assert.strictEqual(ids.filter((one) => one === id).length, 1)
        for (const { id } of [off, ended, unnamed]) assert.notInclude(ids, id)
        const usage = (list: typeof found) => list.find(({ promotion }) => promotion.id === both.id)?.usage
        assert.deepStrictEqual(usage(found), { total: 4, byCustomer: 3 })
        assert.deepStrictEqual(usage(yield* repo.candidates([], null, null)), { total: 4, byCustomer: 0 })
      }).pipe(asStaff))

    it.effect("among 20,000 promotions the candidates are found by one statement over two indexes", () =>
      Effect.gen(function*() {
        const [repo, sql] = [yield* PromotionRepo, yield* SqlClient.SqlClient]
        yield* seedOrganization
        yield* sql`insert into promotions (id, organization_id, code, name, type, value)
          select gen_random_uuid(), o, 'BULK-' || n, 'Bulk', 'percentage_off_order', 10
          from generate_series(1, 10000) n, unnest(array['org_default', 'org_other']) o`
        yield* sql`analyze promotions`
        assert.strictEqual(
          (yield* statementsOf(repo.candidates(["BULK-7", "BULK-8"], newId<CustomerId>(), null))).length,
          1
        )
        const [plan = ""] = yield* plansOf(repo.candidates(["BULK-7", "BULK-8"], newId<CustomerId>(), null))
        assert.include(plan, "promotions_code")
        assert.include(plan, "promotions_automatic")
        assert.notMatch(plan, /Seq Scan on promotions/)
        const [first = ""] = yield* plansOf(repo.list("active", new Date(), page))
        assert.include(first, "promotions_list")
      }).pipe(asStaff))
  })
})
