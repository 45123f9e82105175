import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { type Answer, api, type asAdmin, at, withSharedApp } from "../support/TestApp.ts"

type As = Partial<typeof asAdmin>

const post = (path: string, body: unknown, as: As) => api("POST", path, { body, as })
const get = (path: string, as: As) => api("GET", path, { as })
const patch = (path: string, body: unknown, as: As) => api("PATCH", path, { body, as })
const remove = (path: string, as: As) => api("DELETE", path, { as })

const [classes, rates] = ["/api/tax/classes", "/api/tax/rates"]
const [zones, shippingRates] = ["/api/shipping/zones", "/api/shipping/rates"]

const usual = { isActive: true, metadata: {} }

/** Each kind of record: a body, what it makes, a change of it, and the body of another record. */
const kinds: ReadonlyArray<{ of: string; path: string; sent: object; made: object; change: object; other: object }> = [
  {
    of: "taxClasses",
    path: classes,
    sent: { name: "standard", rateBps: 1_900 },
    made: { name: "standard", slug: "standard", rate: "19", rateBps: 1_900, isDefault: false, ...usual },
    change: { rate: "9.975", rateBps: 997.5, metadata: { why: "law" }, isActive: false },
    other: { name: "reduced", rateBps: 700 }
  },
  {
    of: "taxRates",
    path: rates,
    sent: { name: "VAT", country: "us", state: " CA ", rateBps: 2_100 },
    made: {
      name: "VAT",
      taxClassId: null,
      country: "US",
      state: "CA",
      postalCode: null,
      rate: "21",
      rateBps: 2_100,
      validFrom: null,
      validUntil: null,
      compound: false,
      appliesToShipping: true,
      priority: 100,
      ...usual
    },
    change: { rate: "5", rateBps: 500, state: null, appliesToShipping: false, priority: -1 },
    other: { name: "Levy", country: "NL", rateBps: 100 }
  },
  {
    of: "shippingZones",
    path: zones,
    sent: { name: "North", countries: ["us", "CA", "US"], states: [" tx ", "ON"] },
    made: { name: "North", countries: ["US", "CA"], states: ["TX", "ON"], priority: 100, ...usual },
    change: { priority: 5, states: null, metadata: { round: 1 } },
    other: { name: "South", countries: ["DE"] }
  },
  {
    of: "shippingRates",
    path: shippingRates,
    sent: { name: "Parcel", currency: "usd", amount: 700, minSubtotal: 0, maxSubtotal: 5_000, maxWeightGrams: 30_000 },
    made: {
      name: "Parcel",
      currency: "USD",
      amount: 700,
      minSubtotal: 0,
      maxSubtotal: 5_000,
      minWeightGrams: null,
      maxWeightGrams: 30_000,
      freeShippingThreshold: null,
      taxClassId: null,
      estimate: null,
      ...usual
    },
    change: { amount: 800, maxSubtotal: null, freeShippingThreshold: 4_000, isActive: false },
    other: { name: "Express", currency: "EUR", amount: 900 }
  }
]

const aZone = (as: As, fields: object = {}) =>
  Effect.map(post(zones, { name: newId(), countries: ["US"], ...fields }, as), (made) => made.text("data.id"))

/** What else a record of this kind has to name. */
const within = Effect.fnUntraced(function*(path: string, as: As) {
  return path === shippingRates ? { zoneId: yield* aZone(as) } : {}
})

/** Types of the changes in the change log of an organization, oldest first. */
const recorded = (organizationId: string, of: string) =>
  Effect.map(
    onDatabase((sql) =>
      sql<{ readonly type: string }>`select type from outbox_events where organization_id = ${organizationId}
        and type like ${`${of}.%`} order by entry_number`
    ),
    (rows) => rows.map(({ type }) => type)
  )

const idsOf = (answer: Answer) => answer.list("data").map((one) => at(one, "id"))

withSharedApp("classes and rates of tax, zones and rates of shipping", (it) => {
  it.effect("creates, reads, lists, changes and deletes rules, and records each change once", () =>
    Effect.gen(function*() {
      for (const { change, made, of, other, path, sent } of kinds) {
        const as = yield* anOrganization
        const parts = yield* within(path, as)
        const created = yield* post(path, { ...sent, ...parts }, as)
        assert.strictEqual(created.status, 201, JSON.stringify(created.body))
        const [record, one] = [created.at("data"), `${path}/${created.text("data.id")}`]
        const stamps = { createdAt: created.at("data.createdAt"), updatedAt: created.at("data.updatedAt") }
        assert.match(String(stamps.createdAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        const { organizationId } = as
        assert.deepStrictEqual(record, { id: at(record, "id"), organizationId, ...parts, ...made, ...stamps })
        assert.deepStrictEqual((yield* get(one, as)).at("data"), record)
        yield* post(path, { ...other, ...parts }, as)
        const list = yield* get(`${path}?limit=1`, as)
        assert.deepStrictEqual(list.at("meta.pagination"), { page: 1, limit: 1, total: 2, totalPages: 2 })
        const changed = yield* patch(one, change, as)
        const { updatedAt } = changed.at("data") as Record<string, unknown>
        assert.deepStrictEqual(changed.at("data"), { ...created.at("data") as object, ...change, updatedAt })
        assert.deepStrictEqual((yield* patch(one, change, as)).at("data"), changed.at("data"))
        assert.deepStrictEqual((yield* remove(one, as)).body, { data: { deleted: true } })
        for (const gone of [yield* remove(one, as), yield* get(one, as), yield* patch(one, change, as)]) {
          refused(gone, 404, "NOT_FOUND")
        }
        const expected = ["create", "create", "update", "delete"].map((what) => `${of}.${what}`)
        assert.deepStrictEqual(yield* recorded(organizationId, of), expected)
      }
    }))

  it.effect("creates a rule once under an Idempotency-Key", () =>
    Effect.gen(function*() {
      for (const { path, sent } of kinds) {
        const as = yield* anOrganization
        const body = { ...sent, ...yield* within(path, as) }
        const call = { as, body, headers: { "idempotency-key": newId() } }
        const [first, again] = [yield* api("POST", path, call), yield* api("POST", path, call)]
        assert.deepStrictEqual([again.status, again.at("data")], [201, first.at("data")])
      }
    }))

  it.effect("loses no change of a rule to a concurrent one", () =>
    Effect.gen(function*() {
      for (const { made, path, sent } of kinds) {
        const as = yield* anOrganization
        const one = `${path}/${(yield* post(path, { ...sent, ...yield* within(path, as) }, as)).text("data.id")}`
        for (let round = 1; round <= 5; round++) {
          const figure = ["amount", "priority", "rateBps"].find((name) => name in made) ?? ""
          const fields = { name: `Round ${round}`, isActive: round % 2 === 0, metadata: { round }, [figure]: round }
          yield* Effect.forEach(Object.entries(fields), ([field, value]) => patch(one, { [field]: value }, as), {
            concurrency: "unbounded"
          })
          assert.deepInclude((yield* get(one, as)).at("data"), fields)
        }
      }
    }))

  it.effect("refuses a taken name, also of concurrent requests, and only in one store", () =>
    Effect.gen(function*() {
      const [as, elsewhere] = [yield* anOrganization, yield* anOrganization]
      const taken: ReadonlyArray<readonly [path: string, body: object, same: object, other: object, change: object]> = [
        [classes, { name: "a", rateBps: 1 }, { name: "a", rateBps: 2 }, { name: "b", rateBps: 1 }, { name: "a" }],
        [
          rates,
          { name: "a", rateBps: 1, country: "US", state: "CA" },
          { name: "a", rateBps: 2, country: "us", state: "ca" },
          { name: "a", rateBps: 1, country: "US" },
          { state: "CA" }
        ],
        [zones, { name: "a", countries: ["US"] }, { name: "a", countries: ["DE"] }, { name: "b", countries: ["US"] }, {
          name: "a"
        }]
      ]
      for (const [path, body, same, other, change] of taken) {
        const made = yield* Effect.all(Array.from({ length: 5 }, () => post(path, body, as)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(made.map(({ status }) => status).sort(), [201, 409, 409, 409, 409])
        refused(yield* post(path, same, as), 409, "CONFLICT")
        const renamed = `${path}/${(yield* post(path, other, as)).text("data.id")}`
        refused(yield* patch(renamed, change, as), 409, "CONFLICT")
        assert.strictEqual((yield* post(path, body, elsewhere)).status, 201)
      }
    }))

  it.effect("refuses a rate whose time meets that of one of its name, place and class, which would be charged twice", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const [rate, turn] = [{ name: "VAT", country: "US", postalCode: "ab 1*", rate: "19" }, "2027-01-01T00:00:00.000Z"]
      const made = yield* post(rates, rate, as)
      const next = { ...rate, postalCode: "AB1*", validFrom: turn }
      refused(yield* post(rates, next, as), 409, "CONFLICT")
      yield* patch(`${rates}/${made.text("data.id")}`, { validUntil: turn }, as)
      const answers = yield* Effect.all([post(rates, next, as), post(rates, { ...next, validFrom: null }, as)], {
        concurrency: "unbounded"
      })
      const expected = [201, 409]
      assert.deepStrictEqual(answers.map(({ status }) => status), expected)
      refused(yield* patch(`${rates}/${made.text("data.id")}`, { validUntil: null }, as), 409, "CONFLICT")
      const reduced = yield* post(classes, { name: "reduced", rate: "7" }, as)
      for (const other of [{ name: "Levy" }, { postalCode: "AB2*" }, { taxClassId: reduced.at("data.id") }]) {
        assert.strictEqual((yield* post(rates, { ...rate, ...other }, as)).status, 201)
      }
    }))

  it.effect("refuses invalid rules, names the field, and changes nothing", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const zoneId = yield* aZone(as)
      const [taxClass, taxRate] = [{ name: "a", rateBps: 1 }, { name: "a", rateBps: 1, country: "NL" }]
      const zone = { name: "Z", countries: ["US"] }
      const rate = { zoneId, name: "R", currency: "USD", amount: 1 }
      const wrong: ReadonlyArray<readonly [path: string, body: object, field: string]> = [
        [classes, {}, "name"],
        [classes, { ...taxClass, name: "" }, "name"],
        [classes, { ...taxClass, rateBps: -1 }, "rateBps"],
        [classes, { ...taxClass, rateBps: 10_001 }, "rateBps"],
        [classes, { ...taxClass, rateBps: 0.0005 }, "rateBps"],
        [classes, { name: "a" }, "rate"],
        [classes, { ...taxClass, rate: "1.123456" }, "rate"],
        [rates, { ...taxRate, rate: "0.02" }, "rate"],
        [rates, { ...taxRate, rate: "101" }, "rate"],
        [rates, { ...taxRate, taxClassId: newId() }, "taxClassId"],
        [rates, { ...taxRate, postalCode: "2..1" }, "postalCode"],
        [rates, { ...taxRate, country: null, state: "CA" }, "country"],
        [rates, { ...taxRate, validFrom: "2026-02-01", validUntil: "2026-01-01" }, "validUntil"],
        [rates, { ...taxRate, validFrom: "2026-02-01", validUntil: "2026-01-31" }, "validUntil"],
        ...["9.", ".5", "1e1", "-1", " 5", "NaN", "100.00001", "1000"].map((text) =>
          [classes, { name: "a", rate: text }, "rate"] as const
        ),
        [shippingRates, { ...rate, taxClassId: newId() }, "taxClassId"],
        [classes, { ...taxClass, isDefault: "yes" }, "isDefault"],
        [rates, {}, "name"],
        [rates, { ...taxRate, country: "Netherlands" }, "country"],
        [rates, { ...taxRate, country: "N1" }, "country"],
        [rates, { ...taxRate, state: " " }, "state"],
        [rates, { ...taxRate, priority: 0.5 }, "priority"],
        [rates, { ...taxRate, rateBps: "1" }, "rateBps"],
        [zones, { ...zone, name: "" }, "name"],
        [zones, { ...zone, name: "a\u0000b" }, "name"],
        [zones, { ...zone, countries: [] }, "countries"],
        [zones, { ...zone, countries: ["Germany"] }, "countries.0"],
        [zones, { ...zone, countries: ["*"], states: ["TX"] }, "states"],
        [zones, { ...zone, states: [" "] }, "states.0"],
        [zones, { ...zone, priority: 1.5 }, "priority"],
        [zones, { ...zone, isActive: "yes" }, "isActive"],
        [shippingRates, { ...rate, zoneId: "x" }, "zoneId"],
        [shippingRates, { ...rate, currency: "ZZZ" }, "currency"],
        [shippingRates, { ...rate, amount: -1 }, "amount"],
        [shippingRates, { ...rate, amount: 9.5 }, "amount"],
        [shippingRates, { ...rate, amount: 2 ** 53 }, "amount"],
        [shippingRates, { ...rate, minSubtotal: 2, maxSubtotal: 1 }, "maxSubtotal"],
        [shippingRates, { ...rate, minWeightGrams: 2, maxWeightGrams: 1 }, "maxWeightGrams"],
        [shippingRates, { ...rate, metadata: { note: "\ud800" } }, "metadata.note"]
      ]
      for (const [path, body, field] of wrong) {
        const answer = yield* post(path, body, as)
        refused(answer, 422, "VALIDATION_FAILED", JSON.stringify(body))
        assert.strictEqual(answer.at("error.details.issues.0.path"), field)
        assert.notInclude(answer.text("error.details.issues.0.message"), field === "rate" ? "RegExp" : "\0")
      }
      for (const { path } of kinds) {
        refused(yield* get(`${path}/no-id`, as), 422, "VALIDATION_FAILED")
        assert.strictEqual((yield* get(path, as)).at("meta.pagination.total"), path === zones ? 1 : 0)
      }
      const made = yield* post(shippingRates, { ...rate, minSubtotal: 10 }, as)
      refused(
        yield* patch(`${shippingRates}/${made.text("data.id")}`, { maxSubtotal: 9 }, as),
        422,
        "VALIDATION_FAILED"
      )
      refused(yield* patch(`${zones}/${zoneId}`, { countries: ["*"], states: ["TX"] }, as), 422, "VALIDATION_FAILED")
    }))

  it.effect("keeps one default tax class, the last one, also for concurrent requests", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const aDefault = (name: string) => post(classes, { name, rateBps: 1_900, isDefault: true }, as)
      const first = yield* aDefault("first")
      yield* aDefault("second")
      const defaults = Effect.map(
        get(classes, as),
        (all) => all.list("data").filter((one) => at(one, "isDefault") === true).map((one) => at(one, "name"))
      )
      assert.deepStrictEqual(yield* defaults, ["second"])
      yield* patch(`${classes}/${first.text("data.id")}`, { isDefault: true }, as)
      assert.deepStrictEqual(yield* defaults, ["first"])
      // Also the class that is no longer the default is recorded.
      const updates = (yield* recorded(as.organizationId, "taxClasses")).filter((type) => type.endsWith("update"))
      assert.lengthOf(updates, 3)
      const answers = yield* Effect.forEach(Array.from({ length: 6 }, (_, n) => `at once ${n}`), aDefault, {
        concurrency: "unbounded"
      })
      assert.isTrue(answers.every(({ status }) => status === 201 || status === 409))
      assert.lengthOf(yield* defaults, 1)
    }))

  it.effect("lists rules in the order in which they apply, and shipping rates by zone and currency", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const [last, first] = [yield* aZone(as, { priority: 3 }), yield* aZone(as, { priority: -3 })]
      assert.deepStrictEqual(idsOf(yield* get(zones, as)), [first, last])
      const rate = { zoneId: first, name: "R", currency: "USD" }
      for (const amount of [30, 10, 20]) yield* post(shippingRates, { ...rate, amount }, as)
      yield* post(shippingRates, { ...rate, amount: 5, currency: "EUR" }, as)
      yield* post(shippingRates, { ...rate, amount: 1, zoneId: last }, as)
      const page = yield* get(`${shippingRates}?zoneId=${first}&currency=usd&page=2&limit=2`, as)
      assert.deepStrictEqual(page.at("meta.pagination"), { page: 2, limit: 2, total: 3, totalPages: 2 })
      assert.strictEqual(page.at("data.0.amount"), 30)
      assert.strictEqual((yield* get(`${shippingRates}?zoneId=${newId()}`, as)).at("meta.pagination.totalPages"), 1)
      for (const query of ["zoneId=x", "currency=dollars"]) {
        refused(yield* get(`${shippingRates}?${query}`, as), 422, "VALIDATION_FAILED")
      }
    }))

  it.effect("keeps a zone that has rates, and a rate in a zone of its store", () =>
    Effect.gen(function*() {
      const [as, elsewhere] = [yield* anOrganization, yield* anOrganization]
      const [zoneId, other] = [yield* aZone(as), yield* aZone(as)]
      const rate = { zoneId, name: "R", currency: "USD", amount: 1 }
      const path = `${shippingRates}/${(yield* post(shippingRates, rate, as)).text("data.id")}`
      refused(yield* remove(`${zones}/${zoneId}`, as), 409, "CONFLICT")
      refused(yield* post(shippingRates, rate, elsewhere), 404, "NOT_FOUND")
      refused(yield* post(shippingRates, { ...rate, zoneId: newId() }, as), 404, "NOT_FOUND")
      refused(yield* patch(path, { zoneId: newId() }, as), 404, "NOT_FOUND")
      assert.strictEqual((yield* patch(path, { zoneId: other }, as)).at("data.zoneId"), other)
      assert.strictEqual((yield* remove(`${zones}/${zoneId}`, as)).status, 200)
    }))

  it.effect("refuses invalid zones and rates in the tables as well", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const zoneId = yield* aZone(as)
      yield* post(shippingRates, { zoneId, name: "R", currency: "USD", amount: 1 }, as)
      const wrong = [
        ["shipping_zones", "countries = '{}'"],
        ["shipping_zones", "states = '{}'"],
        ["shipping_rates", "currency = 'usd'"],
        ["shipping_rates", "amount = -1"],
        ["shipping_rates", "amount = 9007199254740992"],
        ["shipping_rates", "min_subtotal = 2, max_subtotal = 1"],
        ["shipping_rates", "min_weight_grams = 2, max_weight_grams = 1"],
        ["shipping_rates", "free_shipping_threshold = -1"]
      ] as const
      for (const [table, set] of wrong) {
        const written = yield* onDatabase((sql) =>
          Effect.result(
            sql`update ${sql(table)} set ${sql.literal(set)} where organization_id = ${as.organizationId}`
          )
        )
        const reason = written._tag === "Failure" ? written.failure.reason._tag : "written"
        assert.strictEqual(reason, "ConstraintError", set)
      }
    }))
})
