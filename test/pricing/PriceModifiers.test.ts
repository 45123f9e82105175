import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { CatalogSettings } from "../../src/domain/catalog/CatalogSettings.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { SetPrice } from "../../src/domain/pricing/Price.ts"
import { NewPriceModifier, PriceModifierChange } from "../../src/domain/pricing/PriceModifier.ts"
import { priceModifierRepoLayer } from "../../src/domain/pricing/PriceModifierRepo.ts"
import { PriceModifiers } from "../../src/domain/pricing/PriceModifiers.ts"
import { priceRepoLayer } from "../../src/domain/pricing/PriceRepo.ts"
import { Prices } from "../../src/domain/pricing/Prices.ts"
import { priceCandidateRepoLayer } from "../../src/domain/pricing/PriceStatements.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { amounts } from "./Amounts.ts"
import { asStaff, eventsOf, pathsOf, seedEntity } from "./Seed.ts"

const layer = Layer.mergeAll(Prices.layer, PriceModifiers.layer).pipe(
  Layer.provide(
    Layer.mergeAll(
      priceRepoLayer,
      priceCandidateRepoLayer,
      priceModifierRepoLayer,
      Hooks.layerNone,
      CatalogSettings.layerOf({})
    )
  ),
  Layer.provideMerge(TestDatabase)
)

const body = Schema.decodeUnknownSync(NewPriceModifier)
const part = Schema.decodeUnknownSync(PriceModifierChange)
const firstPage = { page: 1, limit: 20 }
const tenOff = { name: "Ten off", type: "percentage_discount", value: 10 }

describe("price modifiers", () => {
  it.layer(layer)((it) => {
    it.effect("a new modifier has the defaults of the contract and lowers the price it is for", () =>
      Effect.gen(function*() {
        const modifiers = yield* PriceModifiers
        const { entityId } = yield* seedEntity({ basePrice: 1000 })
        const modifier = yield* modifiers.create(body({ ...tenOff, entityId }))
        assert.deepStrictEqual([modifier.priority, modifier.conditions, modifier.currency], [100, {}, null])
        assert.deepStrictEqual(
          yield* amounts([{ entityId, variantId: null, quantity: 1 }], "USD", [], new Date()),
          [900]
        )
        assert.deepStrictEqual((yield* eventsOf(modifier.id)).map(({ type }) => type), ["pricing.create"])
      }).pipe(asStaff))

    it.effect("a change keeps what was not sent, empties what was sent as null, and checks the whole", () =>
      Effect.gen(function*() {
        const modifiers = yield* PriceModifiers
        const made = yield* modifiers.create(body({ ...tenOff, customerGroupId: "vip", maxQuantity: 5 }))
        yield* TestClock.adjust("1 minute")
        const changed = yield* modifiers.change(made.id, part({ value: 20, customerGroupId: null }))
        assert.deepStrictEqual(
          { ...changed, updatedAt: made.updatedAt },
          { ...made, value: 20, customerGroupId: null }
        )
        assert.isTrue(changed.updatedAt > made.updatedAt)
        assert.deepStrictEqual(pathsOf(yield* Effect.flip(modifiers.change(made.id, part({ type: "markup" })))), [
          "currency"
        ])
        assert.deepStrictEqual(pathsOf(yield* Effect.flip(modifiers.change(made.id, part({ minQuantity: 6 })))), [
          "maxQuantity"
        ])
        const [, update] = yield* eventsOf(made.id)
        assert.deepStrictEqual([update?.type, update?.payload["value"]], ["pricing.update", 20])
      }).pipe(asStaff))

    it.effect("changes of different fields at once are both kept", () =>
      Effect.gen(function*() {
        const modifiers = yield* PriceModifiers
        const { id } = yield* modifiers.create(body(tenOff))
        yield* Effect.forEach(
          [{ value: 30 }, { priority: 1 }, { name: "Other" }, { customerGroupId: "g" }, { minQuantity: 2 }],
          (change) => modifiers.change(id, part(change)),
          { concurrency: "unbounded" }
        )
        const after = yield* modifiers.change(id, part({}))
        assert.deepStrictEqual(
          [after.value, after.priority, after.name, after.customerGroupId, after.minQuantity],
          [30, 1, "Other", "g", 2]
        )
      }).pipe(asStaff))

    it.effect("a deleted modifier is gone for good and says so in its event", () =>
      Effect.gen(function*() {
        const modifiers = yield* PriceModifiers
        const { id } = yield* modifiers.create(body(tenOff))
        yield* modifiers.remove(id)
        assert.strictEqual((yield* Effect.flip(modifiers.remove(id)))._tag, "NotFound/PriceModifier")
        assert.strictEqual((yield* Effect.flip(modifiers.change(id, part({}))))._tag, "NotFound/PriceModifier")
        const events = yield* eventsOf(id)
        assert.deepStrictEqual([events[1]?.type, events[1]?.payload["deleted"]], ["pricing.update", true])
      }).pipe(asStaff))

    // The test clock stands at 1970.
    it.effect("lists by priority, of exactly this entity and currency, active now or not", () =>
      Effect.gen(function*() {
        const modifiers = yield* PriceModifiers
        const { entityId } = yield* seedEntity()
        const late = yield* modifiers.create(body({ ...tenOff, entityId, priority: 9 }))
        const ended = yield* modifiers.create(body({ ...tenOff, entityId, priority: 1, validUntil: "1969-12-31" }))
        const euro = yield* modifiers.create(body({ ...tenOff, entityId, priority: 5, currency: "eur" }))
        const ids = (filter: object) =>
          Effect.map(modifiers.list({ entityId, ...filter }, firstPage), (page) => page.items.map(({ id }) => id))
        assert.deepStrictEqual(yield* ids({}), [ended.id, euro.id, late.id])
        assert.deepStrictEqual(yield* ids({ active: true }), [euro.id, late.id])
        assert.deepStrictEqual(yield* ids({ active: false }), [ended.id])
        assert.deepStrictEqual(yield* ids({ currency: "EUR" }), [euro.id])
      }).pipe(asStaff))

    it.effect("lists prices with the modifiers of all entities and of the listed one", () =>
      Effect.gen(function*() {
        const [prices, modifiers] = [yield* Prices, yield* PriceModifiers]
        const [one, other] = [yield* seedEntity(), yield* seedEntity()]
        const general = yield* modifiers.create(body(tenOff))
        const own = yield* modifiers.create(body({ ...tenOff, entityId: one.entityId }))
        const foreign = yield* modifiers.create(body({ ...tenOff, entityId: other.entityId }))
        yield* prices.set(Schema.decodeUnknownSync(SetPrice)({ entityId: one.entityId, currency: "USD", amount: 5 }))
        const list = yield* prices.list({ entityId: one.entityId }, firstPage)
        const ids = list.modifiers.map(({ id }) => id)
        assert.includeMembers(ids, [general.id, own.id])
        assert.notInclude(ids, foreign.id)
      }).pipe(asStaff))
  })
})
