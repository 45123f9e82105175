import { Effect, Layer } from "effect"
import { EventSubscribers } from "../../domain/events/EventSubscribers.ts"
import { Tasks } from "../../domain/jobs/Task.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { Deliveries } from "../../domain/webhooks/Deliveries.ts"
import { migrations } from "../../domain/webhooks/migrations.ts"
import { WebhookAttempts } from "../../domain/webhooks/WebhookAttempts.ts"
import { webhookDeliveryRepoLayer } from "../../domain/webhooks/WebhookDeliveryRepo.ts"
import { webhookDispatchRepoLayer } from "../../domain/webhooks/WebhookDispatchRepo.ts"
import { webhookEndpointRepoLayer } from "../../domain/webhooks/WebhookEndpointRepo.ts"
import { WebhookEvents } from "../../domain/webhooks/WebhookEvents.ts"
import { Webhooks } from "../../domain/webhooks/Webhooks.ts"
import { webhookSubscriber } from "../../domain/webhooks/WebhookSubscriber.ts"
import { webhooksHttp } from "../../http/webhooks/WebhooksHttp.ts"
import { deliverWebhook } from "../../workflows/webhooks/DeliverWebhook.ts"

const subscription = Layer.effectDiscard(
  Effect.flatMap(webhookSubscriber, (hear) => Effect.flatMap(EventSubscribers, (all) => all.register(hear)))
)

/** Outbound webhooks. Needs the queue, the relay's subscribers, the settings and the way out (`WebhookAdapters.ts`). */
export const webhooks = defineModule({
  id: "webhooks",
  version: "1.0.0",
  requires: ["tenancy", "events", "jobs"],
  permissions: [{ scope: "webhooks:manage", description: "Register webhook endpoints and read their deliveries" }],
  migrations,
  services: Layer.mergeAll(Webhooks.layer, Tasks.add(deliverWebhook), subscription).pipe(
    Layer.provideMerge(Deliveries.layer),
    Layer.provideMerge(WebhookAttempts.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        webhookEndpointRepoLayer,
        webhookDispatchRepoLayer,
        webhookDeliveryRepoLayer,
        WebhookEvents.layer
      )
    )
  ),
  routes: webhooksHttp
})
