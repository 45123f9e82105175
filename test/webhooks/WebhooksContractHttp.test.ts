import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { elsewhere, holding, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { api, asAdmin, asCustomer, asStaff, at, testAppLayer } from "../support/TestApp.ts"
import { anEndpoint, register, webhooks } from "./Endpoints.ts"

const target = "https://hooks.example.com/stoa"

const read = (id: string, as: typeof asAdmin = asAdmin) => api("GET", `${webhooks}/${id}`, { as })
const change = (id: string, body: unknown, as: typeof asAdmin = asAdmin) =>
  api("PATCH", `${webhooks}/${id}`, { as, body })

/** Every route of one endpoint, with a good body. */
const routesOf = (id: string) =>
  [
    ["GET", `${webhooks}/${id}`, undefined],
    ["PATCH", `${webhooks}/${id}`, { isActive: false }],
    ["GET", `${webhooks}/${id}/deliveries`, undefined],
    ["POST", `${webhooks}/${id}/rotate-secret`, {}],
    ["POST", `${webhooks}/${id}/test`, {}],
    ["POST", `${webhooks}/deliveries/${id}/redeliver`, {}],
    ["DELETE", `${webhooks}/${id}`, undefined]
  ] as const

const withWebhooks = layer(testAppLayer(), { excludeTestServices: true, timeout: "60 seconds" })

withWebhooks("webhook endpoints", (it) => {
  describe("POST /api/webhooks", () => {
    it.effect("answers 201 with the record, and with a secret that is shown here alone", () =>
      Effect.gen(function*() {
        const made = yield* register({ url: target, events: ["orders.create", "catalog.delete"] })
        assert.strictEqual(made.status, 201)
        const secret = made.text("data.secret")
        assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
        assert.strictEqual(Buffer.from(secret.slice(6), "base64").length, 32)
        for (const time of ["createdAt", "updatedAt"]) {
          assert.match(made.text(`data.${time}`), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        }
        assert.include(made.at("data"), { organizationId: "org_default", url: target, isActive: true })
        assert.deepStrictEqual(made.at("data.events"), ["orders.create", "catalog.delete"])
        assert.deepStrictEqual(made.at("data.metadata"), {})
        const found = yield* read(made.text("data.id"))
        const { secret: _, ...record } = Object(made.at("data"))
        assert.deepStrictEqual(found.at("data"), record)
      }))

    it.effect("keeps a description and metadata", () =>
      Effect.gen(function*() {
        const metadata = { team: "returns", tags: [1, 2] }
        const made = yield* register({ url: target, events: ["*"], description: "For the depot", metadata })
        const found = yield* read(made.text("data.id"))
        assert.deepStrictEqual([found.at("data.description"), found.at("data.metadata")], ["For the depot", metadata])
      }))
  })

  describe("reading", () => {
    it.effect("lists an organization's endpoints, paged and without their secrets", () =>
      Effect.gen(function*() {
        const as = yield* anOrganization
        const empty = yield* api("GET", webhooks, { as })
        assert.deepStrictEqual(empty.at("data"), [])
        assert.deepStrictEqual(empty.at("meta.pagination"), { page: 1, limit: 20, total: 0, totalPages: 1 })
        const made: Array<string> = []
        for (const n of [1, 2, 3]) made.push((yield* anEndpoint(`${target}/${n}`, ["*"], {}, as)).id)
        const pages = [
          yield* api("GET", `${webhooks}?limit=2`, { as }),
          yield* api("GET", `${webhooks}?limit=2&page=2`, { as })
        ]
        assert.sameMembers(pages.flatMap((page) => page.list("data").map((one) => at(one, "id"))), made)
        assert.deepStrictEqual(pages[1]?.at("meta.pagination"), { page: 2, limit: 2, total: 3, totalPages: 2 })
        for (const query of ["limit=0", "limit=x&page=0"]) {
          const page = yield* api("GET", `${webhooks}?${query}`, { as })
          assert.deepStrictEqual(page.at("meta.pagination"), { page: 1, limit: 20, total: 3, totalPages: 1 }, query)
        }
        assert.strictEqual((yield* api("GET", `${webhooks}?limit=500`, { as })).at("meta.pagination.limit"), 100)
        assert.notInclude(JSON.stringify(pages[0]?.body), "secret")
        assert.notInclude(JSON.stringify((yield* read(made[0] ?? "", as)).body), "secret")
      }))
  })

  describe("PATCH /api/webhooks/:id", () => {
    it.effect("changes address, events and activity, each by itself, and answers the record", () =>
      Effect.gen(function*() {
        const { id } = yield* anEndpoint(target)
        const before = yield* read(id)
        for (const body of [{ url: `${target}/2` }, { events: ["catalog.create"] }, { isActive: false }, {}]) {
          const answer = yield* change(id, body)
          assert.strictEqual(answer.status, 200, JSON.stringify(body))
          assert.isUndefined(answer.at("data.secret"))
        }
        const after = yield* read(id)
        assert.deepStrictEqual({ ...Object(after.at("data")), updatedAt: null }, {
          ...Object(before.at("data")),
          url: `${target}/2`,
          events: ["catalog.create"],
          isActive: false,
          updatedAt: null
        })
        assert.isAtLeast(Date.parse(after.text("data.updatedAt")), Date.parse(before.text("data.updatedAt")))
        assert.strictEqual((yield* change(id, { isActive: true })).at("data.isActive"), true)
      }))

    it.effect("refuses what a registration refuses, and changes nothing", () =>
      Effect.gen(function*() {
        const { id } = yield* anEndpoint(target)
        const before = (yield* read(id)).body
        for (
          const body of [
            { url: "http://127.0.0.1/" },
            { url: "nowhere" },
            { events: ["orders.created"] },
            { events: [] },
            { isActive: "yes" },
            { url: `${target}/2`, events: ["x"] }
          ]
        ) refused(yield* change(id, body), 422, "VALIDATION_FAILED", JSON.stringify(body))
        assert.deepStrictEqual((yield* read(id)).body, before)
      }))

    it.effect("never changes the id, the organization or the secret", () =>
      Effect.gen(function*() {
        const { id } = yield* anEndpoint(target)
        const answer = yield* change(id, { id: newId(), organizationId: "org_other", secret: "s".repeat(20) })
        assert.strictEqual(answer.status, 200)
        assert.include((yield* read(id)).at("data"), { id, organizationId: "org_default" })
        assert.notInclude(JSON.stringify(answer.body), "ssss")
      }))
  })

  describe("POST /api/webhooks/:id/rotate-secret", () => {
    it.effect("answers the record with a new secret, which is shown nowhere else", () =>
      Effect.gen(function*() {
        const { id, secret } = yield* anEndpoint(target)
        const answer = yield* api("POST", `${webhooks}/${id}/rotate-secret`, { as: asAdmin, body: {} })
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.at("data.id"), id)
        assert.match(answer.text("data.secret"), /^whsec_[A-Za-z0-9+/]{43}=$/)
        assert.notStrictEqual(answer.text("data.secret"), secret)
        assert.isUndefined((yield* read(id)).at("data.secret"))
      }))
  })

  describe("DELETE /api/webhooks/:id", () => {
    it.effect("ends the endpoint; a second time there is none", () =>
      Effect.gen(function*() {
        const { id } = yield* anEndpoint(target)
        const answer = yield* api("DELETE", `${webhooks}/${id}`, { as: asAdmin })
        assert.deepStrictEqual([answer.status, answer.at("data")], [200, { deleted: true }])
        for (const [method, path, body] of routesOf(id)) {
          refused(yield* api(method, path, { as: asAdmin, body }), 404, "NOT_FOUND", `${method} ${path}`)
        }
        const list = yield* api("GET", `${webhooks}?limit=100`, { as: asAdmin })
        assert.notInclude(list.list("data").map((one) => at(one, "id")), id)
      }))
  })

  describe("access", () => {
    it.effect("needs webhooks:manage on every route", () =>
      Effect.gen(function*() {
        const { id } = yield* anEndpoint(target)
        const all = [
          ["POST", webhooks, { url: target, events: ["*"] }],
          ["GET", webhooks, undefined],
          ...routesOf(id)
        ] as const
        for (const [method, path, body] of all) {
          for (const as of [asStaff, asCustomer("c"), holding("webhooks:read", "orders:read", "audit:read")]) {
            refused(yield* api(method, path, { as, body }), 403, "FORBIDDEN", `${method} ${path}`)
          }
          refused(yield* api(method, path, { body }), 401, "UNAUTHORIZED", `${method} ${path}`)
        }
        const manager = holding("webhooks:manage")
        assert.strictEqual((yield* register({ url: target, events: ["*"] }, manager)).status, 201)
        assert.strictEqual((yield* read(id, manager)).status, 200)
        assert.strictEqual((yield* api("GET", webhooks, { as: holding("webhooks:*") })).status, 200)
      }))

    it.effect("another organization's endpoint reads as none", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const { id } = yield* anEndpoint(target)
        const before = (yield* read(id)).body
        for (const [method, path, body] of routesOf(id)) {
          refused(yield* api(method, path, { as: elsewhere, body }), 404, "NOT_FOUND", `${method} ${path}`)
        }
        const list = yield* api("GET", `${webhooks}?limit=100`, { as: elsewhere })
        assert.notInclude(list.list("data").map((one) => at(one, "id")), id)
        assert.deepStrictEqual((yield* read(id)).body, before)
      }))

    it.effect("an id that is none is 422, an unknown one 404, another method 405", () =>
      Effect.gen(function*() {
        for (const [method, path, body] of routesOf("x")) {
          refused(yield* api(method, path, { as: asAdmin, body }), 422, "VALIDATION_FAILED", `${method} ${path}`)
        }
        for (const [method, path, body] of routesOf(newId())) {
          refused(yield* api(method, path, { as: asAdmin, body }), 404, "NOT_FOUND", `${method} ${path}`)
        }
        const other = yield* api("PUT", `${webhooks}/${newId()}`, { as: asAdmin, body: {} })
        refused(other, 405, "METHOD_NOT_ALLOWED")
        assert.sameMembers((other.headers.get("allow") ?? "").split(", "), ["GET", "HEAD", "PATCH", "DELETE"])
      }))
  })
})
