import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { api, asAdmin, asAnonymous, asCustomer, inOrganization, live, testAppLayer } from "../support/TestApp.ts"
import { loyalty } from "./LoyaltyPlugin.ts"

const withPlugin = layer(testAppLayer({ plugins: [loyalty] }), live)

const open = (customerId = randomUUID()) => api("POST", "/api/loyalty/accounts", { as: asAdmin, body: { customerId } })

withPlugin("a plugin's routes", (it) => {
  it.effect("answer 201 to a POST with the row in the envelope, with the columns that the library adds", () =>
    Effect.gen(function*() {
      const made = yield* open()
      assert.strictEqual(made.status, 201)
      assert.deepStrictEqual(
        [made.at("data.points"), made.at("data.tier"), made.at("data.note"), made.at("data.organizationId")],
        [0, "basic", null, "org_default"]
      )
      assert.match(made.text("data.createdAt"), /^\d{4}-.*Z$/)
      const read = yield* api("GET", `/api/loyalty/accounts/${made.text("data.id")}`, { as: asAdmin })
      assert.deepStrictEqual(read.at("data"), made.at("data"))
      assert.strictEqual(read.status, 200)
    }))

  it.effect("keep a unique value for one row of the organization, also of two at once", () =>
    Effect.gen(function*() {
      const customerId = randomUUID()
      const answers = yield* Effect.all([open(customerId), open(customerId)], { concurrency: 2 })
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 409])
      const elsewhere = yield* api("POST", "/api/loyalty/accounts", {
        as: inOrganization("org_other", asAdmin),
        body: { customerId }
      })
      assert.notStrictEqual(elsewhere.status, 409)
    }))

  it.effect("refuse visitors with 401, others without the permission with 403, and bad bodies with 422", () =>
    Effect.gen(function*() {
      const body = { customerId: randomUUID() }
      assert.strictEqual((yield* api("POST", "/api/loyalty/accounts", { body })).status, 401)
      const refused = yield* api("POST", "/api/loyalty/accounts", { as: asAnonymous, body })
      assert.strictEqual(refused.status, 403)
      assert.include(refused.text("error.message"), "loyalty:write")
      const wrong = yield* api("POST", "/api/loyalty/accounts", { as: asAdmin, body: { customerId: "x" } })
      assert.deepStrictEqual([wrong.status, wrong.at("error.code")], [422, "VALIDATION_FAILED"])
      assert.strictEqual((yield* api("GET", "/api/loyalty/accounts/not-a-uuid", { as: asAdmin })).status, 422)
      const wildcard = { ...asAnonymous, permissions: ["loyalty:*"] }
      assert.strictEqual((yield* api("POST", "/api/loyalty/accounts", { as: wildcard, body })).status, 201)
    }))

  it.effect("list in pages, filtered by the query", () =>
    Effect.gen(function*() {
      const [one] = yield* Effect.all([open(), open(), open()])
      yield* api("PATCH", `/api/loyalty/accounts/${one.text("data.id")}`, { as: asAdmin, body: { tier: "gold" } })
      const gold = yield* api("GET", "/api/loyalty/accounts?tier=gold&limit=1", { as: asAdmin })
      assert.strictEqual(gold.at("data.0.id"), one.text("data.id"))
      assert.strictEqual(gold.at("meta.pagination.limit"), 1)
      assert.strictEqual((yield* api("GET", "/api/loyalty/accounts?tier=tin", { as: asAdmin })).status, 422)
    }))

  it.effect("hide rows of other organizations, those of child tables too", () =>
    Effect.gen(function*() {
      const customerId = randomUUID()
      const given = yield* api("POST", "/api/loyalty/points", { as: asCustomer("c1"), body: { customerId, delta: 5 } })
      assert.strictEqual(given.at("data.points"), 5)
      const id = given.text("data.id")
      assert.strictEqual(
        (yield* api("GET", `/api/loyalty/accounts/${id}/entries`, { as: asAdmin })).list("data").length,
        1
      )
      const outsider = inOrganization("org_other", asAdmin)
      for (const path of [`/api/loyalty/accounts/${id}`, `/api/loyalty/accounts/${id}/entries`]) {
        assert.strictEqual((yield* api("GET", path, { as: outsider })).status, 404)
      }
      assert.strictEqual((yield* api("DELETE", `/api/loyalty/accounts/${id}`, { as: outsider })).status, 404)
      assert.strictEqual((yield* api("DELETE", `/api/loyalty/accounts/${id}`, { as: asAdmin })).status, 200)
    }))

  it.effect("take everything back when a step of a transaction fails", () =>
    Effect.gen(function*() {
      const customerId = randomUUID()
      const refused = yield* api("POST", "/api/loyalty/points", { as: asAdmin, body: { customerId, delta: -1 } })
      assert.strictEqual(refused.status, 422)
      const all = yield* api("GET", "/api/loyalty/accounts?limit=100", { as: asAdmin })
      assert.notInclude(JSON.stringify(all.body), customerId)
    }))

  it.effect("repeat their answer for an Idempotency-Key", () =>
    Effect.gen(function*() {
      const call = {
        as: asAdmin,
        body: { customerId: randomUUID() },
        headers: { "idempotency-key": `key-${randomUUID()}` }
      }
      const first = yield* api("POST", "/api/loyalty/accounts", call)
      const again = yield* api("POST", "/api/loyalty/accounts", call)
      assert.deepStrictEqual([again.status, again.body], [first.status, first.body])
    }))

  it.effect("stand in the document under one tag, with their permission and summary", () =>
    Effect.gen(function*() {
      const document = yield* api("GET", "/api/doc")
      const paths = document.at("paths")
      assert.property(paths, "/api/loyalty/accounts/{id}")
      assert.deepInclude(Reflect.get(Object(paths), "/api/loyalty/accounts").get, { summary: "List accounts" })
      const tags = document.list("tags").map((tag) => Reflect.get(Object(tag), "name"))
      assert.strictEqual(tags.filter((name) => name === "Loyalty").length, 1)
    }))

  it.effect("show the plugin's recorded examples in the document", () =>
    Effect.gen(function*() {
      const paths = (yield* api("GET", "/api/doc")).at("paths")
      const { requestBody } = Reflect.get(Object(paths), "/api/loyalty/accounts").post
      assert.deepInclude(requestBody.content["application/json"].example, { note: "Ann" })
    }))

  it.effect("share one instance of their service with hooks", () =>
    Effect.gen(function*() {
      const before = (yield* api("GET", "/api/loyalty/asked")).number("data")
      const customer = yield* api("POST", "/api/customers", { as: asAdmin, body: { email: "new@example.com" } })
      const accounts = yield* api("GET", "/api/loyalty/accounts", { as: asAdmin })
      assert.strictEqual(accounts.at("data.0.customerId"), customer.text("data.id"))
      assert.strictEqual(accounts.at("data.0.points"), 10)
      assert.strictEqual((yield* api("GET", "/api/loyalty/asked")).number("data"), before + 1)
    }))

  it.effect("bring their permissions into the catalogue and their models into analytics", () =>
    Effect.gen(function*() {
      const permissions = yield* api("GET", "/api/admin/permissions", { as: asAdmin })
      assert.deepInclude(permissions.list("data.plugin"), {
        scope: "loyalty:read",
        description: "See points",
        plugin: "loyalty"
      })
      yield* open()
      const figures = yield* api("POST", "/api/analytics/query", {
        as: asAdmin,
        body: { measures: ["LoyaltyAccounts.count"], dimensions: ["LoyaltyAccounts.tier"] }
      })
      assert.strictEqual(figures.status, 200)
    }))

  it.effect("leave an entry in the audit trail for every change", () =>
    Effect.gen(function*() {
      const made = yield* open()
      const id = made.text("data.id")
      yield* api("PATCH", `/api/loyalty/accounts/${id}`, { as: asAdmin, body: { tier: "gold" } })
      const trail = yield* api("GET", `/api/audit/loyalty%2Floyalty_accounts/${id}`, { as: asAdmin })
      assert.deepStrictEqual(
        trail.list("data").map((entry) => Reflect.get(Object(entry), "event")).sort(),
        ["loyalty/loyalty_accounts.create", "loyalty/loyalty_accounts.update"]
      )
    }))
})
