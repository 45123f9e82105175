import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { eventTypes } from "../../src/domain/platform/events/Event.ts"
import type { AppSettings } from "../../src/layers/config/AppConfig.ts"
import { elsewhere, holding, onDatabase, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import {
  api,
  asAdmin,
  asCustomer,
  asStaff,
  at,
  live,
  testAppLayer,
  theOrganization,
  withSharedApp
} from "../support/TestApp.ts"

const webhooks = "/api/webhooks"
const target = "https://shop.invalid/hook"

const register = (of: Readonly<Record<string, unknown>> = {}, as: Partial<typeof asAdmin> = asAdmin) =>
  api("POST", webhooks, { as, body: { url: target, events: ["orders.create"], ...of } })

const registered = (of: Readonly<Record<string, unknown>> = {}, as: Partial<typeof asAdmin> = asAdmin) =>
  Effect.map(register(of, as), (answer) => {
    assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
    return answer.text("data.id")
  })

const read = (id: string, as: Partial<typeof asAdmin> = asAdmin) => api("GET", `${webhooks}/${id}`, { as })
const change = (id: string, body: object) => api("PATCH", `${webhooks}/${id}`, { as: asAdmin, body })

/** Every route of one endpoint, with a valid body. */
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

const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString("base64")

/** Bodies that are refused, by the field that is named. */
const refusals: ReadonlyArray<readonly [field: string, of: Readonly<Record<string, unknown>>]> = [
  ["url", { url: undefined }],
  ["url", { url: 7 }],
  ["url", { url: "" }],
  ["url", { url: "no url" }],
  ["url", { url: `https://shop.invalid/${"x".repeat(2_048)}` }],
  ["url", { url: "ftp://shop.invalid/" }],
  ["url", { url: "file:///etc/passwd" }],
  ["url", { url: "https://user:password@shop.invalid/" }],
  ["url", { url: "http://localhost:4000/" }],
  ["url", { url: "http://127.0.0.1/" }],
  ["url", { url: "http://0x7f.1/" }],
  ["url", { url: "http://10.0.0.1/" }],
  ["url", { url: "http://[::ffff:127.0.0.1]/" }],
  ["url", { url: "http://169.254.169.254/latest/meta-data" }],
  ["url", { url: "https://metadata.google.internal/" }],
  ["events", { events: undefined }],
  ["events", { events: [] }],
  ["events", { events: "orders.create" }],
  ["events.1", { events: ["orders.create", "orders.created"] }],
  ["events.0", { events: ["webhooks.create"] }],
  ["events.0", { events: ["orders.*"] }],
  ["secret", { secret: "fifteen letters" }],
  ["secret", { secret: "x".repeat(129) }],
  ["secret", { secret: "whsec_" }],
  ["secret", { secret: "whsec_not base64 at all, but long enough" }],
  ["secret", { secret: `whsec_${base64(23)}` }],
  ["secret", { secret: `whsec_${base64(65)}` }],
  ["secret", { secret: `whsec_${base64(32)}`.replace("=", "") }],
  ["metadata", { metadata: "text" }],
  ["description", { description: 5 }]
]

withSharedApp("webhook endpoints", (it) => {
  it.effect("webhook endpoints are registered with a secret that no other answer shows", () =>
    Effect.gen(function*() {
      const made = yield* register({ metadata: { team: "erp", tags: [1, 2] }, description: "ERP" })
      assert.strictEqual(made.status, 201)
      const { secret, ...record } = Object(made.at("data"))
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.deepInclude(record, {
        organizationId: yield* theOrganization,
        url: target,
        description: "ERP",
        events: ["orders.create"],
        isActive: true,
        metadata: { team: "erp", tags: [1, 2] },
        disabledAt: null
      })
      for (const time of [record.createdAt, record.updatedAt]) {
        assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      }
      const found = yield* read(record.id)
      const listed = yield* api("GET", `${webhooks}?limit=1`, { as: asAdmin })
      assert.deepStrictEqual([found.at("data"), listed.at("data.0")], [record, record])
      const changed = yield* change(record.id, { description: null })
      for (const answer of [found, listed, changed]) assert.notInclude(JSON.stringify(answer.body), "secret")
      const rotated = yield* api("POST", `${webhooks}/${record.id}/rotate-secret`, { as: asAdmin, body: {} })
      assert.deepStrictEqual([rotated.status, rotated.at("data.id")], [200, record.id])
      assert.match(rotated.text("data.secret"), /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.notStrictEqual(rotated.text("data.secret"), secret)
      assert.notInclude(JSON.stringify((yield* read(record.id)).body), "secret")
    }))

  it.effect("webhook endpoints accept every event by its name, all of them by *, and each once", () =>
    Effect.gen(function*() {
      const made = yield* register({ events: [...eventTypes, "*", "orders.create"] })
      assert.deepStrictEqual(made.at("data.events"), [...eventTypes, "*"])
    }))

  it.effect("webhook endpoints accept a client's secret of either kind, and public addresses", () =>
    Effect.gen(function*() {
      for (const secret of [`whsec_${base64(24)}`, `whsec_${base64(64)}`, "x".repeat(16), "ü".repeat(128)]) {
        assert.strictEqual((yield* register({ secret })).at("data.secret"), secret)
      }
      for (
        const url of ["http://hooks.example.com/?shop=1", "https://93.184.216.34/", "https://127.0.0.1.example.com/"]
      ) {
        assert.strictEqual((yield* register({ url })).status, 201, url)
      }
    }))

  it.effect("webhook endpoints are not registered with an invalid body", () =>
    Effect.gen(function*() {
      const count = Effect.map(api("GET", webhooks, { as: asAdmin }), (page) => page.at("meta.pagination.total"))
      const before = yield* count
      for (const [field, of] of refusals) {
        const answer = yield* register(of)
        refused(answer, 422, "VALIDATION_FAILED", JSON.stringify(of))
        assert.strictEqual(answer.at("error.details.issues.0.path"), field, JSON.stringify(of))
      }
      assert.strictEqual(yield* count, before)
    }))

  it.effect("webhook endpoints are listed by page, newest first", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const made: Array<string> = []
      for (const _ of [1, 2, 3]) made.unshift(yield* registered({}, as))
      const pages = [
        yield* api("GET", `${webhooks}?limit=2`, { as }),
        yield* api("GET", `${webhooks}?limit=2&page=2`, { as })
      ]
      assert.deepStrictEqual(pages.flatMap((page) => page.list("data").map((one) => at(one, "id"))), made)
      const rows = [["limit=2&page=2", 2, 2, 2], ["limit=0", 1, 20, 1], ["limit=x&page=0", 1, 20, 1], [
        "limit=500",
        1,
        100,
        1
      ]]
      for (const [query, page, limit, totalPages] of rows) {
        const found = yield* api("GET", `${webhooks}?${query}`, { as })
        assert.deepStrictEqual(found.at("meta.pagination"), { page, limit, total: 3, totalPages }, String(query))
      }
    }))

  it.effect("webhook endpoints change the sent fields only, and never the id, the organization or the secret", () =>
    Effect.gen(function*() {
      const id = yield* registered()
      const before = yield* read(id)
      for (const body of [{ id: randomUUID() }, { organizationId: "org_other" }, { secret: "s".repeat(20) }]) {
        assert.strictEqual((yield* change(id, { ...body, isActive: false })).status, 422, JSON.stringify(body))
      }
      assert.deepStrictEqual((yield* read(id)).body, before.body)
      for (
        const body of [
          { url: `${target}/2` },
          { events: ["catalog.create", "catalog.create"] },
          { isActive: false },
          {}
        ]
      ) {
        assert.strictEqual((yield* change(id, body)).status, 200, JSON.stringify(body))
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

  it.effect("webhook endpoints refuse invalid changes and stay as they are", () =>
    Effect.gen(function*() {
      const id = yield* registered()
      const before = (yield* read(id)).body
      const url = `${target}/2`
      const bodies = [{ url: "http://127.0.0.1/" }, { url: "nowhere" }, { events: ["orders.created"] }, { events: [] }]
      for (const body of [...bodies, { isActive: "yes" }, { url, events: ["x"] }]) {
        refused(yield* change(id, body), 422, "VALIDATION_FAILED", JSON.stringify(body))
      }
      assert.deepStrictEqual((yield* read(id)).body, before)
    }))

  it.effect("webhook endpoints are deleted with deliveries in their log, and are gone then", () =>
    Effect.gen(function*() {
      const id = yield* registered()
      const tested = yield* api("POST", `${webhooks}/${id}/test`, { as: asAdmin })
      assert.strictEqual(tested.status, 200)
      assert.match(tested.text("data.error"), /not found/)
      assert.deepStrictEqual((yield* api("DELETE", `${webhooks}/${id}`, { as: asAdmin })).body, {
        data: { deleted: true }
      })
      const redelivery = ["POST", `${webhooks}/deliveries/${tested.text("data.id")}/redeliver`, {}] as const
      for (const [method, path, body] of [...routesOf(id), redelivery]) {
        refused(yield* api(method, path, { as: asAdmin, body }), 404, "NOT_FOUND", `${method} ${path}`)
      }
    }))

  it.effect("webhook endpoints are registered once for one Idempotency-Key, whose answer shows the secret again", () =>
    Effect.gen(function*() {
      const headers = { "idempotency-key": randomUUID() }
      const call = { as: asAdmin, body: { url: target, events: ["*"] }, headers }
      const [first, second] = [yield* api("POST", webhooks, call), yield* api("POST", webhooks, call)]
      assert.deepStrictEqual(second.body, first.body)
    }))

  it.effect("webhook endpoints need webhooks:manage on every route", () =>
    Effect.gen(function*() {
      const id = yield* registered()
      const creation = ["POST", webhooks, { url: target, events: ["*"] }] as const
      for (const [method, path, body] of [creation, ["GET", webhooks, undefined] as const, ...routesOf(id)]) {
        for (const as of [asStaff, asCustomer("c"), holding("webhooks:read", "orders:read", "audit:read")]) {
          refused(yield* api(method, path, { as, body }), 403, "FORBIDDEN", `${method} ${path}`)
        }
        refused(yield* api(method, path, { body }), 401, "UNAUTHORIZED", `${method} ${path}`)
      }
      const manager = holding("webhooks:manage")
      assert.strictEqual((yield* register({}, manager)).status, 201)
      assert.strictEqual((yield* read(id, manager)).status, 200)
      assert.strictEqual((yield* api("GET", webhooks, { as: holding("webhooks:*") })).status, 200)
    }))

  it.effect("webhook endpoints are 404 for another tenant and with an unknown id, and 422 with an invalid one", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const id = yield* registered()
      const before = (yield* read(id)).body
      const rows = [[id, elsewhere, 404, "NOT_FOUND"], [randomUUID(), asAdmin, 404, "NOT_FOUND"], [
        "x",
        asAdmin,
        422,
        "VALIDATION_FAILED"
      ]] as const
      for (const [of, as, status, code] of rows) {
        for (const [method, path, body] of routesOf(of)) {
          refused(yield* api(method, path, { as, body }), status, code, `${method} ${path}`)
        }
      }
      const list = yield* api("GET", `${webhooks}?limit=100`, { as: elsewhere })
      assert.notInclude(list.list("data").map((one) => at(one, "id")), id)
      assert.deepStrictEqual((yield* read(id)).body, before)
      const other = yield* api("PUT", `${webhooks}/${id}`, { as: asAdmin, body: {} })
      refused(other, 405, "METHOD_NOT_ALLOWED")
      assert.sameMembers((other.headers.get("allow") ?? "").split(", "), ["GET", "HEAD", "PATCH", "DELETE"])
    }))

  it.effect("webhook endpoints are at most a hundred in an organization", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      yield* onDatabase((sql) =>
        sql`insert into webhook_endpoints (organization_id, id, url, events, secret, secret_key_id, is_active, created_at,
            updated_at)
          select ${as.organizationId}, gen_random_uuid(), 'https://shop.invalid/', '{*}', '', '', false, now(), now()
          from generate_series(1, 99)`
      )
      yield* registered({}, as)
      refused(yield* register({}, as), 409, "CONFLICT")
      const list = yield* api("GET", `${webhooks}?limit=1`, { as })
      assert.strictEqual(list.at("meta.pagination.total"), 100)
    }))
})

const inProduction = (environment: Partial<AppSettings> = {}) =>
  layer(testAppLayer({ hooks: [] }, { environment: "production", ...environment }), live)

inProduction()("webhooks in production", (it) => {
  it.effect("webhooks in production go to endpoints over TLS only", () =>
    Effect.gen(function*() {
      refused(yield* register({ url: "http://hooks.example.com/" }), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* register({ url: "https://hooks.example.com/" })).status, 201)
    }))
})

inProduction({ webhooks: { keyring: undefined, allowPrivate: false } })("webhooks without a key for secrets", (it) => {
  it.effect("a deployment without a key for secrets registers no endpoint and names the setting", () =>
    Effect.gen(function*() {
      const answer = yield* register()
      refused(answer, 503, "SERVICE_UNAVAILABLE")
      assert.include(answer.text("error.message"), "STOA_SECRETS_KEY")
    }))
})
