import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { elsewhere, holding, onDatabase, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, asCustomer, asStaff, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { aRate, aZone, rates, zones } from "./Zones.ts"

const post = (path: string, body: unknown, as: typeof asAdmin = asAdmin) => api("POST", path, { body, as })
const get = (path: string, as: typeof asAdmin = asAdmin) => api("GET", path, { as })
const patch = (path: string, body: unknown, as: typeof asAdmin = asAdmin) => api("PATCH", path, { body, as })
const remove = (path: string, as: typeof asAdmin = asAdmin) => api("DELETE", path, { as })

/** The kinds of changes the change log has of a record, in their order. */
const recorded = (id: string) =>
  Effect.map(
    onDatabase((sql) => sql<{ type: string }>`select type from outbox_events where entity_id = ${id} order by id`),
    (rows) => rows.map(({ type }) => type)
  )

describe("shipping zones and rates over HTTP", () => {
  withSharedApp((it) => {
    it.effect("a zone is created with the whole record, read, changed, listed and deleted, and the change log tells", () =>
      Effect.gen(function*() {
        const made = yield* post(zones, { name: "North", countries: ["us", "CA", "US"], states: [" tx ", "ON"] })
        assert.strictEqual(made.status, 201)
        const zone = made.at("data") as Record<string, unknown>
        assert.match(String(zone["createdAt"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.deepStrictEqual({ ...zone, createdAt: null, updatedAt: null }, {
          id: zone["id"],
          organizationId: yield* theOrganization,
          name: "North",
          countries: ["US", "CA"],
          states: ["TX", "ON"],
          priority: 100,
          isActive: true,
          metadata: {},
          createdAt: null,
          updatedAt: null
        })
        const path = `${zones}/${zone["id"]}`
        assert.deepStrictEqual((yield* get(path)).at("data"), zone)
        const changed = yield* patch(path, { priority: 5, states: null, unknown: 1 })
        assert.deepStrictEqual(
          [changed.status, changed.at("data.priority"), changed.at("data.states"), changed.at("data.name")],
          [200, 5, null, "North"]
        )
        assert.deepStrictEqual((yield* patch(path, { priority: 5 })).at("data"), changed.at("data"))
        const deleted = yield* remove(path)
        assert.deepStrictEqual([deleted.status, deleted.body], [200, { data: { deleted: true } }])
        for (const gone of [yield* remove(path), yield* get(path), yield* patch(path, {})]) {
          refused(gone, 404, "NOT_FOUND")
        }
        assert.deepStrictEqual(yield* recorded(String(zone["id"])), [
          "shippingZones.create",
          "shippingZones.update",
          "shippingZones.delete"
        ])
      }))

    it.effect("a rate is created with the whole record, read, changed, listed and deleted, and the change log tells", () =>
      Effect.gen(function*() {
        const zoneId = yield* aZone(["US"])
        const made = yield* post(rates, {
          zoneId,
          name: "Parcel",
          currency: "usd",
          amount: 700,
          minSubtotal: 0,
          maxSubtotal: 5_000,
          maxWeightGrams: 30_000,
          freeShippingThreshold: 4_000
        })
        assert.strictEqual(made.status, 201)
        const rate = made.at("data") as Record<string, unknown>
        assert.deepStrictEqual({ ...rate, createdAt: null, updatedAt: null }, {
          id: rate["id"],
          organizationId: yield* theOrganization,
          zoneId,
          name: "Parcel",
          currency: "USD",
          amount: 700,
          minSubtotal: 0,
          maxSubtotal: 5_000,
          minWeightGrams: null,
          maxWeightGrams: 30_000,
          freeShippingThreshold: 4_000,
          isActive: true,
          metadata: {},
          createdAt: null,
          updatedAt: null
        })
        const path = `${rates}/${rate["id"]}`
        assert.deepStrictEqual((yield* get(path)).at("data"), rate)
        const changed = yield* patch(path, { amount: 800, maxSubtotal: null, isActive: false })
        assert.deepStrictEqual(
          [changed.at("data.amount"), changed.at("data.maxSubtotal"), changed.at("data.isActive")],
          [800, null, false]
        )
        assert.deepStrictEqual((yield* patch(path, { amount: 800 })).at("data"), changed.at("data"))
        assert.deepStrictEqual((yield* remove(path)).body, { data: { deleted: true } })
        for (const gone of [yield* remove(path), yield* get(path), yield* patch(path, {})]) {
          refused(gone, 404, "NOT_FOUND")
        }
        assert.deepStrictEqual(yield* recorded(String(rate["id"])), [
          "shippingRates.create",
          "shippingRates.update",
          "shippingRates.delete"
        ])
      }))

    it.effect("lists zones by priority and rates by amount, page by page, filtered", () =>
      Effect.gen(function*() {
        const [last, first] = [yield* aZone(["DE"], { priority: 3 }), yield* aZone(["DE"], { priority: -3 })]
        const listed = yield* get(`${zones}?limit=100`)
        const ids = listed.list("data").map((_, n) => listed.text(`data.${n}.id`))
        assert.isBelow(ids.indexOf(first), ids.indexOf(last))
        for (const amount of [30, 10, 20]) yield* aRate(first, amount)
        yield* aRate(first, 5, { currency: "EUR" })
        yield* aRate(last, 1)
        const page = yield* get(`${rates}?zoneId=${first}&currency=usd&page=2&limit=2`)
        assert.deepStrictEqual(page.at("meta.pagination"), { page: 2, limit: 2, total: 3, totalPages: 2 })
        assert.strictEqual(page.at("data.0.amount"), 30)
        assert.strictEqual((yield* get(`${rates}?zoneId=${newId()}`)).at("meta.pagination.totalPages"), 1)
        for (const query of ["zoneId=x", "currency=dollars"]) {
          refused(yield* get(`${rates}?${query}`), 422, "VALIDATION_FAILED")
        }
      }))

    it.effect("refuses what no zone and no rate can be, naming the field", () =>
      Effect.gen(function*() {
        const zone = { name: "Z", countries: ["US"] }
        const zoneId = yield* aZone(["US"])
        const rate = { zoneId, name: "R", currency: "USD", amount: 1 }
        const wrong: ReadonlyArray<readonly [string, object, string]> = [
          [zones, { ...zone, name: "" }, "name"],
          [zones, { ...zone, name: "a\u0000b" }, "name"],
          [zones, { ...zone, countries: [] }, "countries"],
          [zones, { ...zone, countries: ["Germany"] }, "countries.0"],
          [zones, { ...zone, countries: ["*"], states: ["TX"] }, "states"],
          [zones, { ...zone, states: [" "] }, "states.0"],
          [zones, { ...zone, priority: 1.5 }, "priority"],
          [zones, { ...zone, isActive: "yes" }, "isActive"],
          [rates, { ...rate, zoneId: "x" }, "zoneId"],
          [rates, { ...rate, currency: "ZZZ" }, "currency"],
          [rates, { ...rate, amount: -1 }, "amount"],
          [rates, { ...rate, amount: 9.5 }, "amount"],
          [rates, { ...rate, amount: 2 ** 53 }, "amount"],
          [rates, { ...rate, minSubtotal: 2, maxSubtotal: 1 }, "maxSubtotal"],
          [rates, { ...rate, minWeightGrams: 2, maxWeightGrams: 1 }, "maxWeightGrams"],
          [rates, { ...rate, metadata: { note: "\ud800" } }, "metadata.note"]
        ]
        for (const [path, body, field] of wrong) {
          const answer = yield* post(path, body)
          refused(answer, 422, "VALIDATION_FAILED", JSON.stringify(body))
          assert.strictEqual(answer.at("error.details.issues.0.path"), field)
        }
        const path = `${rates}/${yield* aRate(zoneId, 1, { minSubtotal: 10 })}`
        refused(yield* patch(path, { maxSubtotal: 9 }), 422, "VALIDATION_FAILED")
        refused(yield* patch(`${rates}/nonsense`, {}), 422, "VALIDATION_FAILED")
        refused(yield* patch(`${zones}/${zoneId}`, { countries: ["*"], states: ["TX"] }), 422, "VALIDATION_FAILED")
      }))

    it.effect("loses no change to another one of the same moment", () =>
      Effect.gen(function*() {
        for (let round = 1; round <= 5; round++) {
          const zone = `${zones}/${yield* aZone(["US"])}`
          const rate = `${rates}/${yield* aRate(yield* aZone(["US"]), 1)}`
          const changes = { name: `Round ${round}`, isActive: false, metadata: { round } }
          const wanted = { [zone]: { ...changes, priority: round }, [rate]: { ...changes, amount: round + 1 } }
          for (const [path, fields] of Object.entries(wanted)) {
            const each = Object.entries(fields).map(([field, value]) => patch(path, { [field]: value }))
            yield* Effect.all(each, { concurrency: "unbounded" })
            assert.deepInclude((yield* get(path)).at("data"), fields)
          }
        }
      }))

    it.effect("the tables hold no zone without places and no rate that could fit nothing, whoever writes them", () =>
      Effect.gen(function*() {
        const zoneId = yield* aZone(["US"])
        const rateId = yield* aRate(zoneId, 1)
        const wrong = [
          ["shipping_zones", zoneId, "countries = '{}'"],
          ["shipping_zones", zoneId, "states = '{}'"],
          ["shipping_rates", rateId, "currency = 'usd'"],
          ["shipping_rates", rateId, "amount = -1"],
          ["shipping_rates", rateId, "amount = 9007199254740992"],
          ["shipping_rates", rateId, "min_subtotal = 2, max_subtotal = 1"],
          ["shipping_rates", rateId, "min_weight_grams = 2, max_weight_grams = 1"],
          ["shipping_rates", rateId, "free_shipping_threshold = -1"]
        ] as const
        for (const [table, id, set] of wrong) {
          const written = yield* onDatabase((sql) =>
            Effect.result(sql`update ${sql(table)} set ${sql.literal(set)} where id = ${id}::uuid`)
          )
          const reason = written._tag === "Failure" ? written.failure.reason._tag : "written"
          assert.strictEqual(reason, "ConstraintError", set)
        }
      }))

    it.effect("a name is one zone's, also when several are made at once", () =>
      Effect.gen(function*() {
        const body = { name: "Taken", countries: ["US"] }
        const made = yield* Effect.all(Array.from({ length: 5 }, () => post(zones, body)), { concurrency: "unbounded" })
        assert.deepStrictEqual(made.map(({ status }) => status).sort(), [201, 409, 409, 409, 409])
        refused(yield* post(zones, body), 409, "CONFLICT")
        refused(yield* patch(`${zones}/${yield* aZone(["US"])}`, { name: "Taken" }), 409, "CONFLICT")
        yield* openElsewhere
        assert.strictEqual((yield* post(zones, body, elsewhere)).status, 201)
      }))

    it.effect("a zone is not deleted while it has rates, and a rate needs a zone of its own store", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const zoneId = yield* aZone(["US"])
        const rateId = yield* aRate(zoneId, 500)
        refused(yield* remove(`${zones}/${zoneId}`), 409, "CONFLICT")
        const rate = { zoneId, name: "R", currency: "USD", amount: 1 }
        refused(yield* post(rates, rate, elsewhere), 404, "NOT_FOUND")
        refused(yield* post(rates, { ...rate, zoneId: newId() }), 404, "NOT_FOUND")
        refused(yield* patch(`${rates}/${rateId}`, { zoneId: newId() }), 404, "NOT_FOUND")
        const other = yield* aZone(["CA"])
        assert.strictEqual((yield* patch(`${rates}/${rateId}`, { zoneId: other })).at("data.zoneId"), other)
        assert.strictEqual((yield* remove(`${zones}/${zoneId}`)).status, 200)
      }))

    it.effect("is for shipping:manage alone, and for the store's own records", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const zoneId = yield* aZone(["US"])
        const [zone, rate] = [`${zones}/${zoneId}`, `${rates}/${yield* aRate(zoneId, 1)}`]
        const routes: ReadonlyArray<readonly [string, string, unknown]> = [
          ["GET", zones, undefined],
          ["POST", zones, { name: newId(), countries: ["US"] }],
          ["GET", zone, undefined],
          ["PATCH", zone, {}],
          ["GET", rates, undefined],
          ["POST", rates, { zoneId, name: "R", currency: "USD", amount: 1 }],
          ["GET", rate, undefined],
          ["PATCH", rate, {}],
          ["DELETE", rate, undefined],
          ["DELETE", zone, undefined]
        ]
        for (const [method, path, body] of routes) {
          refused(yield* api(method, path, { body }), 401, "UNAUTHORIZED")
          for (const as of [asCustomer("ann"), asStaff, holding("orders:manage", "pricing:manage")]) {
            refused(yield* api(method, path, { body, as }), 403, "FORBIDDEN")
          }
          if (path === zone || path === rate) {
            refused(yield* api(method, path, { body, as: elsewhere }), 404, "NOT_FOUND")
          }
          const allowed = yield* api(method, path, { body, as: holding("shipping:manage") })
          assert.isTrue([200, 201, 409].includes(allowed.status), `${method} ${path}: ${allowed.status}`)
        }
      }))

    it.effect("makes a thing once for one Idempotency-Key", () =>
      Effect.gen(function*() {
        const headers = { "idempotency-key": newId() }
        const body = { name: "Once", countries: ["FR"] }
        const [first, again] = [
          yield* api("POST", zones, { as: asAdmin, body, headers }),
          yield* api("POST", zones, { as: asAdmin, body, headers })
        ]
        assert.deepStrictEqual([again.status, again.at("data.id")], [201, first.at("data.id")])
      }))
  })
})
