import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { EventSubscribers, type SequencedEvent } from "../../src/domain/events/EventSubscribers.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { Tasks } from "../../src/domain/jobs/Task.ts"
import { developmentKeyring, encryptSecret } from "../../src/domain/webhooks/SecretEncryption.ts"
import type { StoredEndpoint } from "../../src/domain/webhooks/WebhookEndpointRepo.ts"
import { newSecret, secretOwner } from "../../src/domain/webhooks/WebhookSecret.ts"
import { type WebhookOptions, WebhookSettings } from "../../src/domain/webhooks/WebhookSettings.ts"
import { webhooks } from "../../src/layers/modules/webhooks.ts"
import { HostResolver } from "../../src/layers/webhooks/HostResolver.ts"
import { httpSender } from "../../src/layers/webhooks/HttpSender.ts"
import type { TargetPolicy } from "../../src/layers/webhooks/TargetGuard.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { jobsDouble } from "./JobsDouble.ts"

/** Receivers of tests listen on loopback. */
export const loopback: TargetPolicy = { allowPrivate: true, allowHttp: true, ports: undefined }

const at = new Date(0)
const endpointId = newId()

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

/** The module over a database of its own, with a queue that runs when it is told to. */
export const webhookWorld = (options: Partial<WebhookOptions> = {}) =>
  webhooks.services.pipe(
    Layer.provideMerge(Layer.mergeAll(Tasks.layer, EventSubscribers.layer, jobsDouble)),
    Layer.provideMerge(Layer.provide(httpSender(loopback), HostResolver.system)),
    Layer.provideMerge(WebhookSettings.layerOf(options)),
    Layer.provideMerge(TestDatabase),
    Layer.provideMerge(Layer.succeed(CurrentActor, systemActor("org_default")))
  )

let sequence = 0

/** Places that no real relay of the same database gives. */
const behindAll = 1_000_000_000

/** An event as the relay hands it on; those made later come later. */
export const anEvent = (of: Partial<SequencedEvent> = {}): SequencedEvent => {
  const entityId = of.entityId ?? newId()
  return {
    organizationId: "org_default",
    sequence: ++sequence,
    id: newId(),
    type: "orders.create",
    entityType: "order",
    entityId,
    payload: { id: entityId, grandTotal: 1_250, note: "Grüße — 日本" },
    createdAt: new Date("2026-11-21T10:00:00.123Z"),
    actorId: null,
    requestId: null,
    ...of
  }
}

/** What the relay does with a batch: gives the events their places and tells every subscriber, in its transaction. */
export const relay = (events: ReadonlyArray<SequencedEvent>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type,
        source, created_at, position, event_sequence)
      select id, "organizationId", type, "entityType", "entityId", payload, 'user', 'rest', "createdAt",
        ${behindAll}::bigint + sequence, ${behindAll}::bigint + sequence
      from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as e(id uuid, "organizationId" text, type text,
        "entityType" text, "entityId" text, payload jsonb, "createdAt" timestamptz, sequence bigint)
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
