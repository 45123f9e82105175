import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { CatalogSettings } from "../../src/domain/catalog/CatalogSettings.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { SetPrice } from "../../src/domain/pricing/Price.ts"
import { priceRepoLayer } from "../../src/domain/pricing/PriceRepo.ts"
import { Prices } from "../../src/domain/pricing/Prices.ts"
import { priceCandidateRepoLayer } from "../../src/domain/pricing/PriceStatements.ts"
import { atOnce } from "../support/AtOnce.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { amounts } from "./Amounts.ts"
import { asStaff, eventsOf, pathsOf, seedEntity, staff } from "./Seed.ts"

const heard: Array<string> = []
const listeners = Hooks.layerOf(["pricing.afterCreate", "pricing.afterUpdate"].map((key) => ({
  key,
  after: () => Effect.sync(() => heard.push(key))
})))

const layer = Prices.layer.pipe(
  Layer.provide(Layer.mergeAll(priceRepoLayer, priceCandidateRepoLayer, listeners, CatalogSettings.layerOf({}))),
  Layer.provideMerge(TestDatabase)
)

const body = Schema.decodeUnknownSync(SetPrice)
const firstPage = { page: 1, limit: 20 }

const currentTime = Effect.map(DateTime.now, DateTime.toDateUtc)

describe("prices", () => {
  it.layer(layer)((it) => {
    it.effect("six prices set at once for one thing are one row, created once and overwritten five times", () =>
      Effect.gen(function*() {
        const [prices, sql] = [yield* Prices, yield* SqlClient.SqlClient]
        const { entityId } = yield* seedEntity()
        const answers = yield* Effect.forEach(
          [1, 2, 3, 4, 5, 6],
          (amount) => prices.set(body({ entityId, currency: "usd", amount })),
          { concurrency: "unbounded" }
        )
        const rows = yield* sql<{ id: string; amount: bigint }>`select id, amount from prices
          where entity_id = ${entityId}::uuid`
        assert.strictEqual(rows.length, 1)
        const id = rows[0]?.id ?? ""
        assert.deepStrictEqual([...new Set(answers.map((price) => price.id))], [id])
        const types = (yield* eventsOf(id)).map((event) => event.type).sort()
        assert.deepStrictEqual(types, ["pricing.create", ...Array.from({ length: 5 }, () => "pricing.update")])
        const recorded = yield* sql<{ before: number | null; after: number }>`select (before->'amount')::int as before,
          (payload->'amount')::int as after from outbox_events where entity_id = ${id} order by entry_number`
        assert.deepStrictEqual(recorded.map(({ before }) => before), [
          null,
          ...recorded.slice(0, -1).map(({ after }) => after)
        ])
      }).pipe(asStaff))

    it.effect("what another request sets in that moment is what an entry says was before", () =>
      Effect.gen(function*() {
        const [prices, sql] = [yield* Prices, yield* SqlClient.SqlClient]
        const { entityId } = yield* seedEntity()
        const set = (amount: number) => prices.set(body({ entityId, currency: "usd", amount }))
        yield* atOnce(
          () =>
            sql`insert into prices (id, organization_id, entity_id, currency, amount)
              values (gen_random_uuid(), ${staff.organizationId}, ${entityId}::uuid, 'USD', 1)`,
          [set(2)]
        )
        yield* atOnce(() => sql`update prices set amount = 3 where entity_id = ${entityId}::uuid`, [set(4)])
        const recorded = yield* sql<{ before: number }>`select (before->'amount')::int as before from outbox_events
          where payload->>'entityId' = ${entityId} order by entry_number`
        assert.deepStrictEqual(recorded.map(({ before }) => before), [1, 3])
      }).pipe(asStaff))

    it.effect("overwriting keeps id and creation time, replaces the amounts, and says so in the event", () =>
      Effect.gen(function*() {
        const prices = yield* Prices
        const { entityId, variantId } = yield* seedEntity()
        const key = {
          entityId,
          variantId,
          currency: "EUR",
          customerGroupId: "vip",
          minQuantity: 2,
          validFrom: "2026-01-01"
        }
        const first = yield* prices.set(body({ ...key, amount: 500, compareAtAmount: 900, metadata: { a: 1 } }))
        yield* TestClock.adjust("1 hour")
        heard.length = 0
        const second = yield* prices.set(body({ ...key, amount: 450 }))
        assert.deepStrictEqual(
          { ...second, updatedAt: null },
          { ...first, amount: 450, compareAtAmount: null, metadata: {}, updatedAt: null }
        )
        assert.deepStrictEqual(second.updatedAt, yield* currentTime)
        assert.deepStrictEqual(heard, ["pricing.afterUpdate"])
        const [created, updated] = yield* eventsOf(first.id)
        assert.strictEqual(created?.type, "pricing.create")
        assert.strictEqual(updated?.type, "pricing.update")
        assert.deepStrictEqual(updated?.payload, JSON.parse(JSON.stringify(second)))
      }).pipe(asStaff))

    it.effect("another quantity, group, variant, currency or time is another price", () =>
      Effect.gen(function*() {
        const prices = yield* Prices
        const { entityId, variantId } = yield* seedEntity()
        const keys = [{}, { minQuantity: 2 }, { maxQuantity: 2 }, { customerGroupId: "a" }, { variantId }, {
          validFrom: "2026-01-01"
        }, { validUntil: "2026-01-01" }]
        yield* Effect.forEach(keys, (key) => prices.set(body({ entityId, currency: "USD", amount: 1, ...key })))
        yield* prices.set(body({ entityId, currency: "EUR", amount: 1 }))
        const list = yield* prices.list({ entityId }, firstPage)
        assert.strictEqual(list.prices.total, keys.length + 1)
      }).pipe(asStaff))

    it.effect("a price for another entity's variant is refused and leaves no row and no event", () =>
      Effect.gen(function*() {
        const [prices, sql] = [yield* Prices, yield* SqlClient.SqlClient]
        const [one, other] = [yield* seedEntity(), yield* seedEntity()]
        const count = sql`select count(*) from outbox_events`
        const before = yield* count
        const sent = body({ entityId: one.entityId, variantId: other.variantId, currency: "USD", amount: 1 })
        const error = yield* Effect.flip(prices.set(sent))
        assert.strictEqual(error._tag, "ValidationFailed/UnknownVariant")
        assert.strictEqual((yield* prices.list({ entityId: one.entityId }, firstPage)).prices.total, 0)
        assert.deepStrictEqual(yield* count, before)
      }).pipe(asStaff))

    it.effect("bounds that nothing can meet are refused, both at once", () =>
      Effect.gen(function*() {
        const prices = yield* Prices
        const { entityId } = yield* seedEntity()
        const sent = body({
          entityId,
          currency: "USD",
          amount: 1,
          minQuantity: 3,
          maxQuantity: 2,
          validFrom: "2026-02-01",
          validUntil: "2026-01-01"
        })
        const error = yield* Effect.flip(prices.set(sent))
        assert.deepStrictEqual(pathsOf(error), ["maxQuantity", "validUntil"])
      }).pipe(asStaff))

    it.effect("resolves many lines in their order by one statement, null where there is no price", () =>
      Effect.gen(function*() {
        const prices = yield* Prices
        const [priced, based, bare] = [yield* seedEntity(), yield* seedEntity({ basePrice: 12.5 }), yield* seedEntity()]
        yield* prices.set(body({ entityId: priced.entityId, currency: "USD", amount: 1000 }))
        yield* prices.set(
          body({ entityId: priced.entityId, variantId: priced.variantId, currency: "USD", amount: 900 })
        )
        yield* prices.set(body({ entityId: priced.entityId, currency: "USD", amount: 700, customerGroupId: "vip" }))
        const lines = [
          { entityId: bare.entityId, variantId: null, quantity: 1 },
          { entityId: priced.entityId, variantId: null, quantity: 1 },
          { entityId: priced.entityId, variantId: priced.variantId, quantity: 1 },
          { entityId: based.entityId, variantId: null, quantity: 1 }
        ]
        const now = new Date()
        assert.deepStrictEqual(yield* amounts(lines, "USD", [], now), [null, 1000, 900, 13])
        assert.deepStrictEqual(yield* amounts(lines, "USD", ["vip"], now), [null, 700, 900, 13])
        assert.deepStrictEqual(yield* amounts([], "USD", [], now), [])
      }).pipe(asStaff))

    it.effect("a price holds from its first moment to before its end", () =>
      Effect.gen(function*() {
        const prices = yield* Prices
        const { entityId } = yield* seedEntity()
        const window = { validFrom: "2026-01-01T00:00:00Z", validUntil: "2026-01-31T23:59:59.999Z" }
        yield* prices.set(body({ entityId, currency: "USD", amount: 5, ...window }))
        const at = (time: string) =>
          Effect.map(
            amounts([{ entityId, variantId: null, quantity: 1 }], "USD", [], new Date(time)),
            ([amount]) => amount
          )
        assert.deepStrictEqual(
          yield* Effect.all([
            at("2025-12-31T23:59:59.999Z"),
            at(window.validFrom),
            at("2026-01-31T23:59:59.998Z"),
            at(window.validUntil)
          ]),
          [null, 5, 5, null]
        )
      }).pipe(asStaff))

    it.effect("explains one price, and answers not found by slug where there is none", () =>
      Effect.gen(function*() {
        const prices = yield* Prices
        const { entityId, slug } = yield* seedEntity()
        const line = { entityId, variantId: null, quantity: 1 }
        const error = yield* Effect.flip(prices.resolve(line, "USD", [], new Date()))
        assert.strictEqual(error.error.message, `No base price configured for ${slug} (USD).`)
        const { id } = yield* prices.set(body({ entityId, currency: "USD", amount: 5 }))
        const resolved = yield* prices.resolve(line, "USD", [], new Date())
        assert.deepStrictEqual([resolved.finalAmount as number, resolved.basePriceId], [5, id])
        assert.deepStrictEqual(yield* amounts([line], "USD", [], new Date()), [5])
        assert.deepStrictEqual(yield* amounts([line], "EUR", [], new Date()), [null])
      }).pipe(asStaff))
  })
})
