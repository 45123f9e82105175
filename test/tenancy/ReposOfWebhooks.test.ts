import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId, type WebhookDeliveryId, type WebhookEndpointId } from "../../src/domain/platform/ids/Id.ts"
import { deliveryOf, type Dispatch } from "../../src/domain/webhooks/WebhookDelivery.ts"
import { maxEndpoints, WebhookDeliveryRepo, WebhookEndpointRepo } from "../../src/domain/webhooks/WebhookRepo.ts"
import { WebhookDispatchRepo } from "../../src/layers/webhooks/WebhookDispatchRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { asAnother, asOwner, insert, isFound, openAnother, shown, whileLocked } from "./AnotherTenant.ts"
import { rowsOf } from "./Footprint.ts"

const Repos = Layer.mergeAll(WebhookDeliveryRepo.layer, WebhookDispatchRepo.layer, WebhookEndpointRepo.layer).pipe(
  Layer.provideMerge(TestDatabase)
)

const page = { page: 1, limit: 9 }
const at = new Date("2030-01-01T00:00:00Z")
const later = new Date("2030-01-01T05:00:00Z")

/** An endpoint of each organization under one id, each with a delivery and two open events of one record. */
const sharedEndpoint = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* openAnother
  yield* sql`truncate webhook_endpoints, webhook_messages, webhook_dispatches, webhook_deliveries`
  const [endpoint, first, between, second, delivery] = [
    newId<WebhookEndpointId>(),
    newId(),
    newId(),
    newId(),
    newId<WebhookDeliveryId>()
  ]
  const record = { entity_type: "order", entity_id: "o" }
  for (const organization_id of ["org_default", "org_another"]) {
    yield* sql`insert into webhook_endpoints (organization_id, id, url, events, secret, secret_key_id, created_at,
        updated_at)
      values (${organization_id}, ${endpoint}::uuid, 'https://a.example', '{*}', 's', 'k', ${at}, ${at})`
    // Only another tenant has an event between the two.
    const events = [[first, 1], ...(organization_id === "org_default" ? [] : [[between, 2]]), [second, 3]] as const
    for (const [event_id, sequence] of events) {
      const message = { type: "orders.create", body: JSON.stringify({ organization_id }), event_at: at, created_at: at }
      yield* insert("webhook_messages", { organization_id, event_id, sequence, ...record, ...message })
      const dispatch = { endpoint_id: endpoint, state: sequence === 1 ? "pending" : "waiting", touched_at: at }
      yield* insert("webhook_dispatches", { organization_id, event_id, sequence, ...record, ...dispatch })
    }
    const sent = {
      endpoint_id: endpoint,
      event_id: first,
      event_name: "orders.create",
      attempt_count: 1,
      duration_ms: 1
    }
    const delivered_at = organization_id === "org_default" ? null : at
    yield* insert("webhook_deliveries", { organization_id, id: delivery, delivered_at, created_at: at, ...sent })
  }
  return { endpoint, first, second, delivery }
})

it.layer(Repos, { excludeTestServices: true })(
  "repositories of webhooks with the same ids in two organizations",
  (it) => {
    it.effect("repositories of webhooks with the same ids in two organizations read the endpoints, deliveries and messages of one organization", () =>
      Effect.gen(function*() {
        const { delivery, endpoint, first } = yield* sharedEndpoint
        const [deliveries, dispatches] = [yield* WebhookDeliveryRepo, yield* WebhookDispatchRepo]
        const endpoints = yield* WebhookEndpointRepo
        const seen = Effect.all([
          shown(endpoints.list(page)),
          Effect.map(endpoints.find(endpoint), (found) => found?.organizationId),
          shown(deliveries.list(endpoint, page)),
          Effect.map(deliveries.find(delivery), (found) => found?.deliveredAt !== null),
          deliveries.hasArrived(endpoint, first, at),
          Effect.map(dispatches.due(endpoint, first), (due) => [due.endpoint?.organizationId, due.message?.body])
        ])
        const own = ["org_default", "{\"organization_id\":\"org_default\"}"]
        assert.deepStrictEqual(yield* asOwner(seen), [[1, 1], "org_default", [1, 1], false, false, own])
        const theirs = ["org_another", "{\"organization_id\":\"org_another\"}"]
        assert.deepStrictEqual(yield* asAnother(seen), [[1, 1], "org_another", [1, 1], true, true, theirs])
      }))

    it.effect("repositories of webhooks with the same ids in two organizations change, fail, disable and remove the endpoint of one organization", () =>
      Effect.gen(function*() {
        const { endpoint, first } = yield* sharedEndpoint
        const sql = yield* SqlClient.SqlClient
        const [deliveries, endpoints] = [yield* WebhookDeliveryRepo, yield* WebhookEndpointRepo]
        const before = yield* rowsOf("org_another")
        assert.deepStrictEqual(yield* asOwner(deliveries.failed(endpoint, later)), later)
        yield* asOwner(endpoints.change(endpoint, (one) => Effect.succeed({ ...one, description: "changed" })))
        yield* asOwner(
          endpoints.rotate(endpoint, { secret: { keyId: "k", text: "new" }, previousUntil: at, now: later })
        )
        const ours = yield* asOwner(endpoints.find(endpoint))
        if (ours === undefined) return yield* Effect.die("no endpoint")
        const result = { statusCode: 200, durationMs: 1, error: null, responseSnippet: null, isRefused: false }
        yield* asOwner(deliveries.record(deliveryOf(ours, { id: first, type: "orders.create" }, result, later)))
        assert.isTrue(yield* asOwner(deliveries.disable(ours, "gone", later)))
        assert.deepStrictEqual(yield* rowsOf("org_another"), before)
        yield* sql`update webhook_endpoints set failing_since = ${at} where organization_id = 'org_another'`
        const failing = yield* rowsOf("org_another")
        yield* asOwner(deliveries.recovered(endpoint))
        const since = yield* sql`select failing_since from webhook_endpoints where organization_id = 'org_default'`
        assert.deepStrictEqual(since, [{ failing_since: null }])
        assert.deepStrictEqual(yield* asOwner(deliveries.failed(endpoint, later)), later)
        assert.isDefined(yield* whileLocked("org_another", asOwner(endpoints.remove(endpoint))))
        assert.deepStrictEqual(yield* rowsOf("org_another"), failing)
        const gone = Effect.all([
          isFound(endpoints.change(endpoint, Effect.succeed)),
          isFound(endpoints.remove(endpoint)),
          isFound(deliveries.failed(newId(), later)),
          isFound(deliveries.failed(endpoint, later))
        ])
        assert.deepStrictEqual(yield* asOwner(gone), [false, false, false, false])
      }))

    it.effect("repositories of webhooks with the same ids in two organizations send the events of a record in order without waiting for those of another tenant", () =>
      Effect.gen(function*() {
        const { endpoint, first, second } = yield* sharedEndpoint
        const { due, revive, settle, touch, waitBehind } = yield* WebhookDispatchRepo
        const before = yield* rowsOf("org_another")
        const woken: Array<Dispatch> = []
        yield* asOwner(touch(endpoint, first, later))
        assert.isTrue(yield* asOwner(waitBehind(endpoint, second, later)))
        yield* asOwner(settle(endpoint, first, later, (next) => Effect.sync(() => woken.push(next))))
        assert.deepStrictEqual(woken.map((one) => [one.organizationId, one.eventId]), [["org_default", second]])
        // Two earlier events of the same record are still open at another tenant.
        assert.isFalse((yield* asOwner(due(endpoint, second))).open?.behind)
        assert.isFalse(yield* asOwner(waitBehind(endpoint, second, later)))
        assert.deepStrictEqual(yield* rowsOf("org_another"), before)
        const lost: Array<string> = []
        const muchLater = new Date(later.getTime() + 36_000_000)
        yield* revive(1, muchLater, (all) => Effect.sync(() => lost.push(...all.map((one) => one.organizationId))))
        assert.deepStrictEqual(lost.toSorted(), ["org_another", "org_default"])
      }))

    it.effect("repositories of webhooks with the same ids in two organizations count no endpoint of another tenant towards the limit", () =>
      Effect.gen(function*() {
        const { endpoint } = yield* sharedEndpoint
        const sql = yield* SqlClient.SqlClient
        const { find, insert: add } = yield* WebhookEndpointRepo
        yield* sql`insert into webhook_endpoints (organization_id, id, url, events, secret, secret_key_id, created_at,
          updated_at)
        select 'org_another', gen_random_uuid(), 'https://a.example', '{*}', 's', 'k', now(), now()
        from generate_series(2, ${maxEndpoints}::int)`
        const one = yield* asOwner(find(endpoint))
        if (one === undefined) return yield* Effect.die("no endpoint")
        const [another, secret] = [{ ...one, id: newId<WebhookEndpointId>() }, { keyId: "k", text: "s" }]
        assert.isFalse(yield* asAnother(add({ ...another, organizationId: "org_another" }, secret)))
        assert.isTrue(yield* asOwner(add(another, secret)))
      }))
  }
)
