import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { EventSubscribers, type SequencedEvent } from "../../src/domain/platform/events/EventSubscribers.ts"
import { newId, type WebhookEndpointId } from "../../src/domain/platform/ids/Id.ts"
import { Tasks } from "../../src/domain/platform/tasks/Task.ts"
import {
  developmentKeyring,
  encryptSecret,
  newSecret,
  secretOwner
} from "../../src/domain/webhooks/SecretEncryption.ts"
import type { StoredEndpoint } from "../../src/domain/webhooks/WebhookRepo.ts"
import { Webhooks } from "../../src/domain/webhooks/Webhooks.ts"
import { type WebhookOptions, WebhookSettings } from "../../src/domain/webhooks/WebhookSender.ts"
import { webhooks } from "../../src/layers/modules/webhooks.ts"
import { httpSender } from "../../src/layers/webhooks/HttpSender.ts"
import { HostResolver, type TargetPolicy } from "../../src/layers/webhooks/TargetGuard.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { type Received, webhookReceiver } from "../support/WebhookReceiver.ts"
import { JobsDouble, jobsDouble } from "./JobsDouble.ts"

/** Receivers of tests listen on loopback. */
export const loopback: TargetPolicy = { allowPrivate: true, allowHttp: true, ports: undefined }

const at = new Date(0)
const endpointId = newId<WebhookEndpointId>()

/** An endpoint with a secret, for attempts outside of the queue. */
export const endpointAt = (url: string): StoredEndpoint => ({
  id: endpointId,
  organizationId: "org",
  url,
  description: null,
  events: ["*"],
  isActive: true,
  failingSince: null,
  disabledAt: null,
  disabledReason: null,
  metadata: {},
  createdAt: at,
  updatedAt: at,
  secret: encryptSecret(developmentKeyring, secretOwner("org", endpointId), newSecret()),
  previousSecret: null
})

/** The module over a separate database, with a queue that the test runs. */
export const webhookWorld = (options: Partial<WebhookOptions> = {}) =>
  webhooks.services.pipe(
    Layer.provideMerge(Layer.mergeAll(Tasks.layer, EventSubscribers.layer, jobsDouble)),
    Layer.provideMerge(Layer.provide(httpSender(loopback), HostResolver.system)),
    Layer.provideMerge(WebhookSettings.layerOf(options)),
    Layer.provideMerge(TestDatabase),
    Layer.provideMerge(Layer.succeed(CurrentActor, systemActor("org_default")))
  )

let sequence = 0

/** Positions beyond those of a real relay of the same database. */
const behindAll = 1_000_000_000

/** An event as the relay passes it on; each has a greater sequence than the one before. */
export const anEvent = (of: Partial<SequencedEvent> = {}): SequencedEvent => {
  const entityId = of.entityId ?? newId()
  return {
    organizationId: "org_default",
    sequence: ++sequence,
    id: newId(),
    type: "orders.create",
    entityType: "order",
    entityId,
    data: { id: entityId, grandTotal: 1_250, note: "Grüße — 日本" },
    timestamp: new Date("2026-11-21T10:00:00.123Z"),
    actorId: null,
    requestId: null,
    ...of
  }
}

/** Does what the relay does with a batch: writes the events and calls every subscriber, in one transaction. */
export const relay = (events: ReadonlyArray<SequencedEvent>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type,
        source, created_at, position, event_sequence)
      select id, "organizationId", type, "entityType", "entityId", data, 'user', 'rest', timestamp,
        ${behindAll}::bigint + sequence, ${behindAll}::bigint + sequence
      from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as e(id uuid, "organizationId" text, type text,
        "entityType" text, "entityId" text, data jsonb, timestamp timestamptz, sequence bigint)
      on conflict (id) do nothing`
    const subscribers = yield* EventSubscribers
    for (const hear of subscribers.all()) yield* hear(events)
  }).pipe((work) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(work)))

/** An organization beside the one that every database has. */
export const anOrganization = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`insert into organizations (id, slug, name) values (${id}, ${id}, ${id}) on conflict do nothing`
  )

/** Acts in an organization. */
export const inside = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))

/** An endpoint of a new receiver that subscribes to everything; the only one of its organization. */
export const onlyEndpoint = Effect.fnUntraced(function*(secret?: string) {
  const webhooks = yield* Webhooks
  for (const { id } of (yield* webhooks.list({ page: 1, limit: 100 })).items) yield* webhooks.remove(id)
  ;(yield* JobsDouble).jobs.length = 0
  return yield* anEndpoint(secret)
})

/** An endpoint of a new receiver that subscribes to everything. */
export const anEndpoint = Effect.fnUntraced(function*(secret?: string) {
  const receiver = yield* webhookReceiver()
  const endpoint = yield* (yield* Webhooks).register({ url: receiver.url, events: ["*"], secret })
  return { receiver, endpoint, id: endpoint.id }
})

/** The headers of Standard Webhooks that a request arrived with. */
export const signedHeaders = ({ headers }: Received) => ({
  "webhook-id": String(headers["webhook-id"]),
  "webhook-timestamp": String(headers["webhook-timestamp"]),
  "webhook-signature": String(headers["webhook-signature"])
})
