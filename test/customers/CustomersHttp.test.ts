import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { holding, onDatabase, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import {
  api,
  asAdmin,
  asCustomer,
  inOrganization,
  TestApp,
  theOrganization,
  withSharedApp
} from "../support/TestApp.ts"
import { entriesOf, profileOf as profile } from "./CustomerFixtures.ts"

const change = (as: typeof asAdmin, body: object, headers = {}) =>
  api("PATCH", "/api/me/profile", { as, body, headers })

/** The id of a customer that staff created. */
const entered = Effect.fnUntraced(function*(body: object = {}) {
  const made = yield* api("POST", "/api/customers", { as: asAdmin, body })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return made.text("data.id")
})

withSharedApp("profiles", (it) => {
  describe("the profile of the caller", () => {
    it.effect("the profile of the caller is created from the login on the first request, with the fields of the contract", () =>
      Effect.gen(function*() {
        const first = yield* profile({ ...asCustomer("ann"), email: "ann@example.test", name: "Ann  van Dyck" })
        assert.strictEqual(first.status, 200)
        assert.hasAllKeys(first.at("data"), [
          "id",
          "organizationId",
          "userId",
          "email",
          "phone",
          "firstName",
          "lastName",
          "groupIds",
          "taxExemption",
          "metadata",
          "createdAt",
          "updatedAt"
        ])
        assert.deepInclude(first.at("data"), {
          organizationId: yield* theOrganization,
          userId: "ann",
          email: "ann@example.test",
          firstName: "Ann",
          lastName: "van Dyck",
          phone: null,
          metadata: {}
        })
        assert.strictEqual((yield* profile(asCustomer("ann"))).text("data.id"), first.text("data.id"))
      }))

    it.effect("the profile of the caller is created once, with one event, by many first requests at once", () =>
      Effect.gen(function*() {
        const first = yield* Effect.all(Array.from({ length: 20 }, () => profile(asCustomer("zoe"))), {
          concurrency: "unbounded"
        })
        const [id = "", ...others] = new Set(first.map((answer) => answer.text("data.id")))
        assert.deepStrictEqual(others, [])
        assert.deepStrictEqual((yield* entriesOf(id)).map(({ type }) => type), ["customers.create"])
        const elsewhere = inOrganization("org_other", asCustomer("zoe"))
        yield* openElsewhere
        assert.notStrictEqual((yield* profile(elsewhere)).text("data.id"), id)
      }))

    it.effect("the profile of the caller is the one that a concurrent request commits first", () =>
      Effect.gen(function*() {
        const [app, id] = [yield* TestApp, newId()]
        const requests = Effect.all([profile(asCustomer("yan")), profile(asCustomer("yan"))], { concurrency: 2 })
        const waiting = yield* onDatabase((sql, organizationId) =>
          sql.withTransaction(Effect.gen(function*() {
            yield* sql`insert into customers (id, organization_id, user_id) values (${id}, ${organizationId}, 'yan')`
            const fiber = yield* Effect.forkDetach(Effect.provideService(requests, TestApp, app))
            yield* Effect.repeat(
              sql`select pid from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`,
              { until: (blocked) => blocked.length === 2 }
            )
            return fiber
          }))
        )
        const answers = yield* Fiber.join(waiting)
        assert.deepStrictEqual(answers.map((answer) => answer.text("data.id")), [id, id])
        assert.isEmpty(yield* entriesOf(id))
      }))

    it.effect("the profile of the caller changes the sent fields: null clears, metadata is replaced, the e-mail address stays", () =>
      Effect.gen(function*() {
        const ben = { ...asCustomer("ben"), email: "ben@example.test", name: "Ben" }
        yield* change(ben, { phone: "1", metadata: { a: 1, b: 2 } })
        const body = {
          phone: null,
          lastName: "Ode",
          metadata: { c: 3 },
          email: "x@y.test",
          userId: "ann",
          groupIds: ["v"]
        }
        const changed = yield* change(ben, body)
        assert.strictEqual(changed.status, 200)
        assert.deepInclude(changed.at("data"), {
          userId: "ben",
          email: "ben@example.test",
          firstName: "Ben",
          lastName: "Ode",
          phone: null,
          metadata: { c: 3 },
          groupIds: []
        })
        assert.deepStrictEqual((yield* profile(ben)).at("data"), changed.at("data"))
      }))

    it.effect("the profile of the caller is recorded before and after a change, and not when nothing differs", () =>
      Effect.gen(function*() {
        const cleo = asCustomer("cleo")
        const id = (yield* profile(cleo)).text("data.id")
        const sent = { firstName: "Cleo", metadata: { size: "L" } }
        const changed = yield* change(cleo, sent)
        yield* change(cleo, sent)
        const [, update, ...others] = yield* entriesOf(id)
        assert.deepStrictEqual(others, [])
        assert.deepInclude(update, { type: "customers.update", actor_id: "cleo" })
        assert.deepInclude(update?.before, { firstName: "customer", metadata: {} })
        assert.deepStrictEqual(update?.payload, changed.at("data"))
      }))

    it.effect("the profile of the caller loses no concurrent change of another field", () =>
      Effect.gen(function*() {
        const dora = asCustomer("dora")
        yield* profile(dora)
        for (let round = 0; round < 10; round++) {
          const text = String(round)
          yield* Effect.all([
            change(dora, { firstName: text }),
            change(dora, { lastName: text }),
            change(dora, { phone: text }),
            change(dora, { metadata: { round } })
          ], { concurrency: "unbounded" })
          const now = yield* profile(dora)
          assert.deepInclude(now.at("data"), { firstName: text, lastName: text, phone: text, metadata: { round } })
        }
      }))

    it.effect("the profile of the caller refuses invalid fields", () =>
      Effect.gen(function*() {
        const fay = asCustomer("fay")
        const wrong = [
          { firstName: 1 },
          { lastName: "x".repeat(256) },
          { phone: "x".repeat(65) },
          { phone: "\0" },
          { metadata: [] },
          { metadata: "x" }
        ]
        for (const body of wrong) refused(yield* change(fay, body), 422, "VALIDATION_FAILED", JSON.stringify(body))
        refused(
          yield* api("PATCH", "/api/me/profile", {
            as: fay,
            body: "{",
            headers: { "content-type": "application/json" }
          }),
          400,
          "BAD_REQUEST"
        )
      }))
  })

  describe("customers", () => {
    it.effect("customers are created with all fields or none; without a login as a walk-in", () =>
      Effect.gen(function*() {
        const all = {
          userId: "gus",
          email: "gus@example.test",
          phone: "1",
          firstName: "Gus",
          lastName: "H",
          metadata: { a: 1 }
        }
        const made = yield* api("POST", "/api/customers", { as: asAdmin, body: all })
        assert.strictEqual(made.status, 201)
        assert.deepInclude(made.at("data"), all)
        assert.strictEqual((yield* profile(asCustomer("gus"))).text("data.id"), made.text("data.id"))
        const walkIn = yield* api("POST", "/api/customers", { as: asAdmin, body: { metadata: { a: 1 } } })
        assert.match(walkIn.text("data.userId"), /^anonymous_[0-9a-f-]{36}$/)
        assert.deepStrictEqual(walkIn.at("data.metadata"), { a: 1, walkIn: true })
        assert.deepStrictEqual((yield* entriesOf(walkIn.text("data.id"))).map(({ type }) => type), ["customers.create"])
        const again = yield* api("POST", "/api/customers", { as: asAdmin, body: { userId: "gus" } })
        refused(again, 409, "CONFLICT")
        refused(yield* api("POST", "/api/customers", { as: asAdmin, body: { email: "gus" } }), 422, "VALIDATION_FAILED")
      }))

    it.effect("customers change the sent fields; metadata is merged unless it is to replace", () =>
      Effect.gen(function*() {
        const id = yield* entered({ email: "hal@example.test", metadata: { a: 1 } })
        const patch = (body: object, query = "") => api("PATCH", `/api/customers/${id}${query}`, { as: asAdmin, body })
        const merged = yield* patch({ email: "hal@shop.test", lastName: "H", metadata: { b: 2 } })
        assert.deepInclude(merged.at("data"), {
          email: "hal@shop.test",
          lastName: "H",
          metadata: { a: 1, walkIn: true, b: 2 }
        })
        const replaced = yield* patch({ metadata: { c: 3 } }, "?metadataReplace=true")
        assert.deepStrictEqual(replaced.at("data.metadata"), { c: 3 })
        assert.deepStrictEqual((yield* patch({ email: null })).at("data.email"), null)
        assert.strictEqual((yield* entriesOf(id)).length, 4)
        refused(yield* patch({ email: "@" }), 422, "VALIDATION_FAILED")
        const unknown = `/api/customers/${crypto.randomUUID()}`
        refused(yield* api("PATCH", unknown, { as: asAdmin, body: {} }), 404, "NOT_FOUND")
        refused(yield* api("GET", unknown, { as: asAdmin }), 404, "NOT_FOUND")
        refused(yield* api("GET", "/api/customers/me", { as: asAdmin }), 422, "VALIDATION_FAILED")
      }))

    it.effect("customers are listed newest first, page by page, of one organization", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const made = [yield* entered(), yield* entered(), yield* entered()]
        const list = (query = "", as = asAdmin) => api("GET", `/api/customers${query}`, { as })
        const first = yield* list("?limit=2")
        assert.deepStrictEqual([0, 1].map((n) => first.at(`data.${n}.id`)), [made[2], made[1]])
        assert.strictEqual((yield* list("?limit=2&page=2")).at("data.0.id"), made[0])
        assert.strictEqual(first.at("meta.pagination.total"), (yield* list("?limit=100")).list("data").length)
        const none = yield* list("", inOrganization("org_without_customers", asAdmin))
        assert.deepStrictEqual([none.list("data"), none.at("meta.pagination.totalPages")], [[], 1])
      }))

    it.effect("customers are written only with the permission to read them, too", () =>
      Effect.gen(function*() {
        const one = `/api/customers/${yield* entered()}`
        const [read, update, create] = ["customers:read", "customers:update", "customers:create"]
        const rows: ReadonlyArray<readonly [method: string, path: string, permissions: ReadonlyArray<string>]> = [
          ["GET", one, ["customers:read:self"]],
          ["PATCH", one, [read]],
          ["PATCH", one, [update]],
          ["PATCH", one, [read, "customers:update:self"]],
          ["POST", "/api/customers", [read, update]],
          ["POST", "/api/customers", [create]]
        ]
        for (const [method, path, permissions] of rows) {
          const body = method === "GET" ? {} : { body: {} }
          refused(
            yield* api(method, path, { as: holding(...permissions), ...body }),
            403,
            "FORBIDDEN",
            permissions.join()
          )
        }
        assert.strictEqual((yield* api("PATCH", one, { as: holding(read, update), body: {} })).status, 200)
        assert.strictEqual((yield* api("POST", "/api/customers", { as: holding(read, create), body: {} })).status, 201)
      }))
  })
})
