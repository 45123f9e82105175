import { Effect, Layer } from "effect"
import { Singleton } from "effect/cluster"
import { auditLayer } from "../../domain/audit/AuditRepo.ts"
import { EventDispatchRepo } from "../../domain/platform/events/EventDispatchRepo.ts"
import { EventRepo } from "../../domain/platform/events/EventRepo.ts"
import { Events, EventTailer } from "../../domain/platform/events/Events.ts"
import { EventSubscribers } from "../../domain/platform/events/EventSubscribers.ts"
import { migrations } from "../../domain/platform/events/migrations.ts"
import { Relay, RelayWake } from "../../domain/platform/events/Relay.ts"
import { RelayStatements } from "../../domain/platform/events/RelayStatements.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { auditHttp } from "../../http/audit/AuditHttp.ts"
import { eventsHttp } from "../../http/events/EventsHttp.ts"
import { Notifications } from "../Notifications.ts"
import { tenancy } from "./tenancy.ts"

/** One relay in the deployment; another process takes over when it dies. */
const relay = Layer.unwrap(Effect.map(Relay, ({ run }) => Singleton.make("change log relay", run)))

const relayNotifications = Layer.effectDiscard(Effect.gen(function*() {
  const { listening, wake } = yield* RelayWake
  yield* (yield* Notifications).listen("stoa_change_log", { heard: () => wake, listening })
}))

/** The change log, the stream of events and the audit trail (ADR 6). */
export const events = defineModule({
  id: "events",
  requires: [tenancy],
  permissions: [
    { scope: "audit:read", description: "Read who changed what" },
    { scope: "webhooks:manage", description: "Read the stream of events" }
  ],
  migrations,
  services: Layer.mergeAll(
    Layer.provideMerge(Relay.layer, RelayWake.layer),
    Events.layer,
    EventTailer.layerOf(),
    auditLayer
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(RelayStatements.layer, EventDispatchRepo.layer, EventRepo.layer, EventSubscribers.layer)
    )
  ),
  actors: Layer.merge(relay, relayNotifications),
  routes: Layer.merge(eventsHttp, auditHttp)
})
