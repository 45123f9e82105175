import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { holding, onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { api, asCustomer, asStaff, at, withSharedApp } from "../support/TestApp.ts"
import { aTaxClass, aTaxRate } from "./TaxedShop.ts"

const nobody = "0192f0c1-7b1a-7cc0-8a52-0f6a3a3f1e11"

const kinds = [
  { path: "/api/tax/classes", sent: { name: "standard", rateBps: 1900 }, other: { name: "reduced", rateBps: 700 } },
  {
    path: "/api/tax/rates",
    sent: { name: "VAT", country: "nl", rateBps: 2100 },
    other: { name: "Levy", country: "NL", rateBps: 100 }
  }
] as const

/** What the change log tells of changes of this kind in an organization, oldest first. */
const recorded = (organizationId: string) =>
  onDatabase((sql) =>
    sql<{ readonly type: string }>`select type from outbox_events where organization_id = ${organizationId}
      and entity_type in ('tax_class', 'tax_rate') order by entry_number`
  ).pipe(Effect.map((rows) => rows.map(({ type }) => type)))

withSharedApp("tax classes and rates", (it) => {
  it.effect("are made, read, listed, changed and deleted, each change with its entry in the change log", () =>
    Effect.gen(function*() {
      for (const { other, path, sent } of kinds) {
        const as = yield* anOrganization
        const made = yield* api("POST", path, { as, body: sent })
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        const id = made.text("data.id")
        assert.deepStrictEqual((yield* api("GET", `${path}/${id}`, { as })).at("data"), made.at("data"))
        yield* api("POST", path, { as, body: other })
        const list = yield* api("GET", `${path}?limit=1`, { as })
        assert.deepStrictEqual(list.at("meta.pagination"), { page: 1, limit: 1, total: 2, totalPages: 2 })
        const changed = yield* api("PATCH", `${path}/${id}`, { as, body: { rateBps: 500, metadata: { why: "law" } } })
        assert.deepInclude(changed.at("data"), { id, rateBps: 500, metadata: { why: "law" } })
        const same = yield* api("PATCH", `${path}/${id}`, { as, body: { rateBps: 500 } })
        assert.deepStrictEqual(same.at("data"), changed.at("data"))
        const gone = yield* api("DELETE", `${path}/${id}`, { as })
        assert.deepStrictEqual([gone.status, gone.at("data")], [200, { deleted: true }])
        refused(yield* api("GET", `${path}/${id}`, { as }), 404, "NOT_FOUND")
        const kind = path.endsWith("classes") ? "taxClasses" : "taxRates"
        const expected = ["create", "create", "update", "delete"].map((what) => `${kind}.${what}`)
        assert.deepStrictEqual(yield* recorded(as.organizationId), expected)
      }
    }))

  it.effect("have the fields that were sent, and the contract's where none was", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const plain = yield* aTaxRate({ country: "us", state: " CA " }, as)
      assert.deepInclude(plain.at("data"), {
        organizationId: as.organizationId,
        country: "US",
        state: "CA",
        rateBps: 2100,
        appliesToShipping: true,
        priority: 100,
        isActive: true,
        metadata: {}
      })
      const opened = yield* api("PATCH", `/api/tax/rates/${plain.text("data.id")}`, {
        as,
        body: { state: null, appliesToShipping: false, priority: -1 }
      })
      assert.deepInclude(opened.at("data"), { state: null, appliesToShipping: false, priority: -1 })
      const made = yield* aTaxClass({ name: "standard", isDefault: true, isActive: false }, as)
      assert.deepInclude(made.at("data"), { name: "standard", rateBps: 1900, isDefault: true, isActive: false })
    }))

  it.effect("have one default class: the last one that was asked for, also of many at once", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const first = yield* aTaxClass({ name: "first", isDefault: true }, as)
      yield* aTaxClass({ name: "second", isDefault: true }, as)
      const defaults = Effect.map(
        api("GET", "/api/tax/classes", { as }),
        (all) => all.list("data").filter((one) => at(one, "isDefault") === true).map((one) => at(one, "name"))
      )
      assert.deepStrictEqual(yield* defaults, ["second"])
      yield* api("PATCH", `/api/tax/classes/${first.text("data.id")}`, { as, body: { isDefault: true } })
      assert.deepStrictEqual(yield* defaults, ["first"])
      // The one that lost its place is told of too.
      assert.deepStrictEqual(
        (yield* recorded(as.organizationId)).filter((type) => type === "taxClasses.update").length,
        3
      )
      const names = Array.from({ length: 6 }, (_, n) => `at once ${n}`)
      const answers = yield* Effect.forEach(names, (name) => aTaxClass({ name, isDefault: true }, as), {
        concurrency: "unbounded"
      })
      assert.isTrue(answers.every(({ status }) => status === 201 || status === 409))
      assert.strictEqual((yield* defaults).length, 1)
    }))

  it.effect("are refused under a name that is taken", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      yield* aTaxClass({ name: "standard" }, as)
      refused(yield* aTaxClass({ name: "standard" }, as), 409, "CONFLICT")
      const other = yield* aTaxClass({ name: "other" }, as)
      const renamed = { as, body: { name: "standard" } }
      refused(yield* api("PATCH", `/api/tax/classes/${other.text("data.id")}`, renamed), 409, "CONFLICT")
      yield* aTaxRate({ state: "CA", country: "US" }, as)
      refused(yield* aTaxRate({ state: "ca", country: "us" }, as), 409, "CONFLICT")
      const country = yield* aTaxRate({ country: "US" }, as)
      assert.strictEqual(country.status, 201)
      const moved = { as, body: { state: "CA" } }
      refused(yield* api("PATCH", `/api/tax/rates/${country.text("data.id")}`, moved), 409, "CONFLICT")
    }))

  it.effect("are refused with what cannot be, and nothing is changed", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const wrong: ReadonlyArray<readonly [path: string, body: object]> = [
        ["classes", {}],
        ["classes", { name: "", rateBps: 1 }],
        ["classes", { name: "a", rateBps: -1 }],
        ["classes", { name: "a", rateBps: 10_001 }],
        ["classes", { name: "a", rateBps: 0.5 }],
        ["classes", { name: "a", rateBps: 1, isDefault: "yes" }],
        ["rates", {}],
        ["rates", { name: "a", rateBps: 1, country: "Netherlands" }],
        ["rates", { name: "a", rateBps: 1, country: "N1" }],
        ["rates", { name: "a", rateBps: 1, country: "NL", state: " " }],
        ["rates", { name: "a", rateBps: 1, country: "NL", priority: 0.5 }],
        ["rates", { name: "a", rateBps: "1", country: "NL" }]
      ]
      for (const [path, body] of wrong) {
        refused(yield* api("POST", `/api/tax/${path}`, { as, body }), 422, "VALIDATION_FAILED", JSON.stringify(body))
      }
      for (const { path } of kinds) {
        refused(yield* api("GET", `${path}/no-id`, { as }), 422, "VALIDATION_FAILED")
        refused(yield* api("POST", path, { as, body: "{" }), 400, "BAD_REQUEST")
        assert.strictEqual((yield* api("GET", path, { as })).at("meta.pagination.total"), 0)
      }
      assert.deepStrictEqual(yield* recorded(as.organizationId), [])
    }))

  it.effect("are for those who hold tax:manage, and for nobody of another store", () =>
    Effect.gen(function*() {
      const [as, elsewhere] = [yield* anOrganization, yield* anOrganization]
      for (const { path, sent } of kinds) {
        const id = (yield* api("POST", path, { as, body: sent })).text("data.id")
        const routes: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
          ["GET", path],
          ["POST", path, sent],
          ["GET", `${path}/${id}`],
          ["PATCH", `${path}/${id}`, { rateBps: 1 }],
          ["DELETE", `${path}/${id}`]
        ]
        for (const [method, route, body] of routes) {
          const call = body === undefined ? {} : { body }
          refused(yield* api(method, route, call), 401, "UNAUTHORIZED")
          for (const other of [asCustomer("ann"), asStaff, holding("pricing:manage")]) {
            refused(yield* api(method, route, { ...call, as: other }), 403, "FORBIDDEN", `${method} ${route}`)
          }
          if (route !== path) refused(yield* api(method, route, { ...call, as: elsewhere }), 404, "NOT_FOUND")
        }
        assert.strictEqual((yield* api("GET", path, { as: elsewhere })).at("meta.pagination.total"), 0)
        const unknown = [["PATCH", { rateBps: 1 }], ["DELETE", undefined]] as const
        for (const [method, body] of unknown) {
          refused(yield* api(method, `${path}/${nobody}`, { as, ...(body && { body }) }), 404, "NOT_FOUND")
        }
        const manager = { ...as, ...holding("tax:manage"), organizationId: as.organizationId }
        assert.strictEqual((yield* api("DELETE", `${path}/${id}`, { as: manager })).status, 200)
      }
    }))

  it.effect("are made once under an Idempotency-Key", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      for (const { path, sent } of kinds) {
        const call = { as, body: sent, headers: { "idempotency-key": `made-once-${path}` } }
        const [first, again] = [yield* api("POST", path, call), yield* api("POST", path, call)]
        assert.deepStrictEqual([again.status, again.at("data")], [201, first.at("data")])
      }
    }))
})
