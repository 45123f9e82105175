import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { WebhookDeliveryRepo, webhookDeliveryRepoLayer } from "../../src/domain/webhooks/WebhookDeliveryRepo.ts"
import type { Dispatch } from "../../src/domain/webhooks/WebhookDispatch.ts"
import { WebhookDispatchRepo, webhookDispatchRepoLayer } from "../../src/domain/webhooks/WebhookDispatchRepo.ts"
import {
  mostEndpoints,
  WebhookEndpointRepo,
  webhookEndpointRepoLayer
} from "../../src/domain/webhooks/WebhookEndpointRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { rowsAreTaken } from "./Taken.ts"

const Repos = Layer.mergeAll(webhookDeliveryRepoLayer, webhookDispatchRepoLayer, webhookEndpointRepoLayer).pipe(
  Layer.provideMerge(TestDatabase)
)

const as = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))
const here = as("org_default")
const elsewhere = as("org_elsewhere")

const page = { page: 1, limit: 9 }
const at = new Date("2030-01-01T00:00:00Z")
const later = new Date("2030-01-01T05:00:00Z")

/** An endpoint of each organization under one id, each with a delivery and two open events of one record. */
const pairs = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) values ('org_elsewhere', 'elsewhere', 'Elsewhere')
    on conflict do nothing`
  yield* sql`truncate webhook_endpoints, webhook_messages, webhook_dispatches, webhook_deliveries`
  const [endpoint, first, between, second, delivery] = [newId(), newId(), newId(), newId(), newId()]
  for (const organization of ["org_default", "org_elsewhere"]) {
    yield* sql`insert into webhook_endpoints (organization_id, id, url, events, secret, secret_key_id, created_at,
        updated_at)
      values (${organization}, ${endpoint}::uuid, 'https://a.example', '{*}', 's', 'k', ${at}, ${at})`
    // An event between the two is waiting elsewhere alone.
    const events = [[first, 1], ...(organization === "org_default" ? [] : [[between, 2]]), [second, 3]] as const
    for (const [event, sequence] of events) {
      yield* sql`insert into webhook_messages (organization_id, event_id, type, entity_type, entity_id, sequence, body,
          event_at, created_at)
        values (${organization}, ${event}::uuid, 'orders.create', 'order', 'o', ${sequence}, ${`"${organization}"`}, ${at}, ${at})`
      yield* sql`insert into webhook_dispatches (organization_id, endpoint_id, event_id, entity_type, entity_id,
          sequence, state, touched_at)
        values (${organization}, ${endpoint}::uuid, ${event}::uuid, 'order', 'o', ${sequence},
          ${sequence === 1 ? "pending" : "waiting"}, ${at})`
    }
    yield* sql`insert into webhook_deliveries (organization_id, id, endpoint_id, event_id, event_name, attempt_count,
        duration_ms, delivered_at, created_at)
      values (${organization}, ${delivery}::uuid, ${endpoint}::uuid, ${first}::uuid, 'orders.create', 1, 1,
        ${organization === "org_default" ? null : at}::timestamptz, ${at})`
  }
  return { endpoint, first, second, delivery }
})

/** All that the other organization has, as text. */
const theirs = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`select t::text as row from webhook_endpoints t where organization_id = 'org_elsewhere'
    union all select t::text from webhook_dispatches t where organization_id = 'org_elsewhere'
    union all select t::text from webhook_deliveries t where organization_id = 'org_elsewhere' order by 1`
)

it.layer(Repos, { excludeTestServices: true })("webhooks of two organizations under the same ids", (it) => {
  it.effect("each sees its own", () =>
    Effect.gen(function*() {
      const { delivery, endpoint, first } = yield* pairs
      const [deliveries, dispatches] = [yield* WebhookDeliveryRepo, yield* WebhookDispatchRepo]
      const endpoints = yield* WebhookEndpointRepo
      const message = (yield* here(dispatches.due(endpoint, first))).message
      assert.isDefined(message)
      if (message === undefined) return
      const seen = Effect.all([
        Effect.map(endpoints.list(page), ({ items, total }) => items.length + total),
        Effect.map(endpoints.find(endpoint), (found) => found?.endpoint.organizationId),
        Effect.map(deliveries.list(endpoint, page), ({ items, total }) => items.length + total),
        Effect.map(deliveries.find(delivery), (found) => found?.deliveredAt !== null),
        deliveries.hasArrived(endpoint, message),
        Effect.map(dispatches.due(endpoint, first), ({ message, stored }) => [
          stored?.endpoint.organizationId,
          message?.body
        ])
      ])
      assert.deepStrictEqual(yield* here(seen), [2, "org_default", 2, false, false, ["org_default", "\"org_default\""]])
      assert.deepStrictEqual(
        yield* elsewhere(seen),
        [2, "org_elsewhere", 2, true, true, ["org_elsewhere", "\"org_elsewhere\""]]
      )
    }))

  it.effect("what happens to an endpoint here happens to none elsewhere", () =>
    Effect.gen(function*() {
      const { endpoint, first } = yield* pairs
      const sql = yield* SqlClient.SqlClient
      const [deliveries, endpoints] = [yield* WebhookDeliveryRepo, yield* WebhookEndpointRepo]
      const before = yield* theirs
      assert.deepStrictEqual(yield* here(deliveries.failed(endpoint, later)), later)
      yield* here(endpoints.change(endpoint, (one) => ({ ...one, description: "ours" })))
      yield* here(endpoints.rotate(endpoint, { secret: { keyId: "k", text: "new" }, previousUntil: at, now: later }))
      yield* here(deliveries.record({
        id: newId(),
        endpointId: endpoint,
        eventId: first,
        eventName: "orders.create",
        attemptCount: 1,
        statusCode: 200,
        durationMs: 1,
        error: null,
        snippet: null,
        delivered: true,
        nextRetryAt: null,
        at: later
      }))
      const stored = yield* here(endpoints.find(endpoint))
      assert.isTrue(stored !== undefined && (yield* here(deliveries.disable(stored.endpoint, "gone", later))))
      assert.deepStrictEqual(yield* theirs, before)
      yield* sql`update webhook_endpoints set failing_since = ${at} where organization_id = 'org_elsewhere'`
      const failing = yield* theirs
      yield* here(deliveries.recovered(endpoint))
      assert.isUndefined(
        yield* Effect.flatMap(
          sql<{ since: Date | null }>`select failing_since as since from webhook_endpoints
            where organization_id = 'org_default'`,
          ([row]) => Effect.succeed(row?.since ?? undefined)
        )
      )
      assert.deepStrictEqual(yield* here(deliveries.failed(endpoint, later)), later)
      const removed = Effect.timeout(here(endpoints.remove(endpoint)), "5 seconds")
      assert.isTrue(yield* Effect.scoped(Effect.andThen(rowsAreTaken("org_elsewhere"), removed)))
      assert.deepStrictEqual(yield* theirs, failing)
      assert.isUndefined(yield* here(endpoints.change(endpoint, (one) => one)))
      assert.isFalse(yield* here(endpoints.remove(endpoint)))
      assert.isUndefined(yield* here(deliveries.failed(newId(), later)))
      assert.isUndefined(yield* here(deliveries.failed(endpoint, later)))
    }))

  it.effect("the order of one's events does not wait for another's", () =>
    Effect.gen(function*() {
      const { endpoint, first, second } = yield* pairs
      const dispatches = yield* WebhookDispatchRepo
      const before = yield* theirs
      const woken: Array<Dispatch> = []
      yield* here(dispatches.touch(endpoint, first, later))
      assert.isTrue(yield* here(dispatches.waitBehind(endpoint, second, later)))
      yield* here(dispatches.settle(endpoint, first, later, (next) => Effect.sync(() => woken.push(next))))
      assert.deepStrictEqual(woken.map((one) => [one.organizationId, one.eventId]), [["org_default", second]])
      // Elsewhere two earlier ones of the same record are open still.
      assert.isFalse((yield* here(dispatches.due(endpoint, second))).open?.behind)
      assert.isFalse(yield* here(dispatches.waitBehind(endpoint, second, later)))
      assert.deepStrictEqual(yield* theirs, before)
      const lost: Array<string> = []
      const muchLater = new Date(later.getTime() + 36_000_000)
      yield* dispatches.revive(
        1,
        muchLater,
        (all) => Effect.sync(() => lost.push(...all.map((one) => one.organizationId)))
      )
      assert.deepStrictEqual(lost.toSorted(), ["org_default", "org_elsewhere"])
    }))

  it.effect("as many as one organization may have keep no other one from its own", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* pairs
      const sql = yield* SqlClient.SqlClient
      const endpoints = yield* WebhookEndpointRepo
      yield* sql`insert into webhook_endpoints (organization_id, id, url, events, secret, secret_key_id, created_at,
          updated_at)
        select 'org_elsewhere', gen_random_uuid(), 'https://a.example', '{*}', 's', 'k', now(), now()
        from generate_series(2, ${mostEndpoints}::int)`
      const one = (yield* here(endpoints.find(endpoint)))?.endpoint
      assert.isDefined(one)
      if (one === undefined) return
      const another = { ...one, id: newId() }
      const secret = { keyId: "k", text: "s" }
      assert.isFalse(yield* elsewhere(endpoints.insert({ ...another, organizationId: "org_elsewhere" }, secret)))
      assert.isTrue(yield* here(endpoints.insert(another, secret)))
    }))
})
