import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Webhook } from "standardwebhooks"
import { eventTypes } from "../../src/domain/events/Event.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, inOrganization, testAppLayer } from "../support/TestApp.ts"
import { webhookReceiver } from "../support/WebhookReceiver.ts"
import { anEvent, relay } from "./WebhookWorld.ts"

const body = (of: Record<string, unknown> = {}) => ({
  url: "https://shop.invalid/hook",
  events: ["orders.create"],
  ...of
})

const register = (of: Record<string, unknown> = {}, as = asAdmin) =>
  api("POST", "/api/webhooks", { as, body: body(of) })

const registered = (of: Record<string, unknown> = {}, as = asAdmin) =>
  Effect.map(register(of, as), (answer) => {
    assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
    return answer.text("data.id")
  })

const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString("base64")

/** Bodies that are refused, by the field that is named. */
const refusals: ReadonlyArray<readonly [field: string, of: Record<string, unknown>]> = [
  ["url", { url: undefined }],
  ["url", { url: 7 }],
  ["url", { url: "" }],
  ["url", { url: "no url" }],
  ["url", { url: `https://shop.invalid/${"x".repeat(2_048)}` }],
  ["url", { url: "ftp://shop.invalid/" }],
  ["url", { url: "https://user:password@shop.invalid/" }],
  ["url", { url: "http://localhost:4000/" }],
  ["url", { url: "http://127.0.0.1/" }],
  ["url", { url: "http://0x7f.1/" }],
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

const withReceivers = layer(testAppLayer({}, {}), { excludeTestServices: true, timeout: "60 seconds" })

withReceivers("webhook endpoints over HTTP", (it) => {
  it.effect("are registered with a secret that no other answer shows", () =>
    Effect.gen(function*() {
      const made = yield* register({ metadata: { team: "erp" }, description: "ERP" })
      assert.strictEqual(made.status, 201)
      const secret = made.text("data.secret")
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      const { secret: _, ...record } = Object(made.at("data"))
      assert.deepInclude(record, {
        organizationId: "org_default",
        url: "https://shop.invalid/hook",
        description: "ERP",
        events: ["orders.create"],
        isActive: true,
        metadata: { team: "erp" },
        disabledAt: null
      })
      const path = `/api/webhooks/${record.id}`
      const read = yield* api("GET", path, { as: asAdmin })
      assert.deepStrictEqual(read.at("data"), record)
      const listed = yield* api("GET", "/api/webhooks?limit=1", { as: asAdmin })
      assert.deepStrictEqual(listed.at("data.0"), record)
      assert.strictEqual(listed.at("meta.pagination.limit"), 1)
      const changed = yield* api("PATCH", path, { as: asAdmin, body: { description: null } })
      for (const answer of [read, listed, changed]) assert.notInclude(JSON.stringify(answer.body), "secret")
    }))

  it.effect("take every event by its name, all of them by *, and each once", () =>
    Effect.gen(function*() {
      const made = yield* register({ events: [...eventTypes, "*", "orders.create"] })
      assert.deepStrictEqual(made.at("data.events"), [...eventTypes, "*"])
    }))

  it.effect("take a client's own secret of either kind", () =>
    Effect.gen(function*() {
      for (const secret of [`whsec_${base64(24)}`, `whsec_${base64(64)}`, "x".repeat(16), "ü".repeat(128)]) {
        assert.strictEqual((yield* register({ secret })).at("data.secret"), secret)
      }
    }))

  for (const [field, of] of refusals) {
    it.effect(`are refused when ${field} is ${JSON.stringify(of[field.split(".")[0] ?? ""])?.slice(0, 60)}`, () =>
      Effect.gen(function*() {
        const { rows } = yield* countOf
        const answer = yield* register(of)
        assert.deepStrictEqual([answer.status, answer.at("error.code")], [422, "VALIDATION_FAILED"])
        assert.strictEqual(answer.at("error.details.issues.0.path"), field)
        assert.strictEqual((yield* countOf).rows, rows)
      }))
  }

  it.effect("are changed by what is sent alone, under the same rules", () =>
    Effect.gen(function*() {
      const path = `/api/webhooks/${yield* registered()}`
      const change = (sent: object) => api("PATCH", path, { as: asAdmin, body: sent })
      const changed = yield* change({ events: ["catalog.update", "catalog.update"], isActive: false })
      assert.deepStrictEqual([changed.at("data.events"), changed.at("data.isActive"), changed.at("data.url")], [
        ["catalog.update"],
        false,
        "https://shop.invalid/hook"
      ])
      for (const sent of [{ url: "http://10.0.0.1/" }, { events: ["nothing"] }, { events: [] }, { isActive: "no" }]) {
        assert.strictEqual((yield* change(sent)).status, 422, JSON.stringify(sent))
      }
    }))

  it.effect("are deleted with deliveries in their log, and are gone then", () =>
    Effect.gen(function*() {
      const path = `/api/webhooks/${yield* registered()}`
      const tested = yield* api("POST", `${path}/test`, { as: asAdmin })
      assert.strictEqual(tested.status, 200)
      assert.match(tested.text("data.error"), /not found/)
      assert.deepStrictEqual((yield* api("DELETE", path, { as: asAdmin })).body, { data: { deleted: true } })
      const gone = [
        yield* api("DELETE", path, { as: asAdmin }),
        yield* api("GET", path, { as: asAdmin }),
        yield* api("PATCH", path, { as: asAdmin, body: {} }),
        yield* api("GET", `${path}/deliveries`, { as: asAdmin }),
        yield* api("POST", `${path}/test`, { as: asAdmin }),
        yield* api("POST", `${path}/rotate-secret`, { as: asAdmin, body: {} }),
        yield* api("POST", `/api/webhooks/deliveries/${tested.text("data.id")}/redeliver`, { as: asAdmin }),
        yield* api("POST", `/api/webhooks/deliveries/${randomUUID()}/redeliver`, { as: asAdmin })
      ]
      assert.deepStrictEqual(gone.map(({ status }) => status), gone.map(() => 404))
    }))

  it.effect("are registered once for one Idempotency-Key, whose answer shows the secret again", () =>
    Effect.gen(function*() {
      const call = { as: asAdmin, body: body(), headers: { "idempotency-key": randomUUID() } }
      const [first, second] = [yield* api("POST", "/api/webhooks", call), yield* api("POST", "/api/webhooks", call)]
      assert.deepStrictEqual(second.body, first.body)
    }))
})

const countOf = onDatabase((sql) =>
  Effect.map(sql<{ rows: number }>`select count(*)::int4 as rows from webhook_endpoints`, ([row]) => row ?? { rows: 0 })
)

const onLoopback = layer(testAppLayer({ webhooks: { allowPrivateTargets: true } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

/** Attempts that came through, attempts, and deliveries, as this process has counted them until now. */
const counts = Effect.map(api("GET", "/api/metrics", { as: asAdmin }), ({ body }) =>
  [
    /stoa_webhook_attempts_total\{outcome="delivered"\} (\d+)/,
    /stoa_webhook_attempt_duration_seconds_count (\d+)/,
    /stoa_webhook_lag_seconds_count (\d+)/
  ].map((pattern) => Number(pattern.exec(String(body))?.[1] ?? 0)))

onLoopback("deliveries over HTTP", (it) => {
  it.effect("are tested, logged newest first and made again", () =>
    Effect.gen(function*() {
      const receiver = yield* webhookReceiver()
      const made = yield* register({ url: receiver.url, events: ["*"] })
      const path = `/api/webhooks/${made.text("data.id")}`
      const tested = yield* api("POST", `${path}/test`, { as: asAdmin })
      assert.deepStrictEqual([tested.status, tested.at("data.statusCode"), tested.at("data.error")], [200, 204, null])
      const [ping] = receiver.received
      assert.strictEqual(ping?.headers["x-commerce-event"], "webhooks.test")
      new Webhook(made.text("data.secret")).verify(ping?.body ?? "", {
        "webhook-id": String(ping?.headers["webhook-id"]),
        "webhook-timestamp": String(ping?.headers["webhook-timestamp"]),
        "webhook-signature": String(ping?.headers["webhook-signature"])
      })

      const before = yield* counts
      yield* relay([anEvent()])
      const logOf = (rows: number) =>
        eventually(
          `${rows} attempts in the log`,
          Effect.map(
            api("GET", `${path}/deliveries`, { as: asAdmin }),
            (log) => log.list("data").length === rows && log
          )
        )
      const log = yield* logOf(2)
      assert.deepStrictEqual([log.at("data.0.eventName"), log.at("data.1.eventName")], [
        "orders.create",
        "webhooks.test"
      ])
      const again = yield* api("POST", `/api/webhooks/deliveries/${log.text("data.0.id")}/redeliver`, { as: asAdmin })
      assert.strictEqual(again.status, 200)
      assert.strictEqual(again.at("data.webhookId"), log.at("data.0.webhookId"))
      yield* logOf(3)
      const [, first, second] = receiver.received
      assert.isDefined(second)
      assert.strictEqual(second?.body, first?.body)
      assert.strictEqual(second?.headers["webhook-id"], first?.headers["webhook-id"])

      // The metrics are made once a second.
      const more = (after: ReadonlyArray<number>) => after.map((count, n) => count - (before[n] ?? 0))
      yield* eventually("counts of both", Effect.map(counts, (after) => more(after).join() === "2,2,1"))

      yield* api("PATCH", path, { as: asAdmin, body: { isActive: false } })
      const off = yield* api("POST", `/api/webhooks/deliveries/${log.text("data.0.id")}/redeliver`, { as: asAdmin })
      assert.deepStrictEqual([off.status, off.at("error.code")], [409, "CONFLICT"])
      assert.lengthOf(receiver.received, 3)
    }))
})

onLoopback("an organization", (it) => {
  it.effect("has at most a hundred endpoints", () =>
    Effect.gen(function*() {
      const as = inOrganization("org_greedy", asAdmin)
      yield* onDatabase((sql) =>
        sql`insert into organizations (id, slug, name) values ('org_greedy', 'greedy', 'Greedy')`
      )
      yield* onDatabase((sql) =>
        sql`insert into webhook_endpoints (organization_id, id, url, events, secret, secret_key_id, created_at, updated_at)
          select 'org_greedy', gen_random_uuid(), 'https://shop.invalid/', '{*}', '', '', now(), now()
          from generate_series(1, 99)`
      )
      yield* registered({}, as)
      const refused = yield* register({}, as)
      assert.deepStrictEqual([refused.status, refused.at("error.code")], [409, "CONFLICT"])
      const list = yield* api("GET", "/api/webhooks?limit=1", { as })
      assert.strictEqual(list.at("meta.pagination.total"), 100)
    }))
})

const withoutKey = layer(
  testAppLayer({}, { environment: "production", webhooks: { keyring: undefined, allowPrivate: false } }),
  {
    excludeTestServices: true,
    timeout: "60 seconds"
  }
)

withoutKey("a deployment without a key for secrets", (it) => {
  it.effect("registers no endpoint and says why", () =>
    Effect.gen(function*() {
      const answer = yield* register()
      assert.deepStrictEqual([answer.status, answer.at("error.code")], [503, "SERVICE_UNAVAILABLE"])
      assert.include(answer.text("error.message"), "STOA_SECRETS_KEY")
    }))
})
