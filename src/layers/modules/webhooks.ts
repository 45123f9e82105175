import { Layer } from "effect"
import { EventSubscribers } from "../../domain/platform/events/EventSubscribers.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { Tasks } from "../../domain/platform/tasks/Task.ts"
import { migrations } from "../../domain/webhooks/migrations.ts"
import { WebhookDeliveryRepo, WebhookEndpointRepo } from "../../domain/webhooks/WebhookRepo.ts"
import { Webhooks } from "../../domain/webhooks/Webhooks.ts"
import { webhooksHttp } from "../../http/webhooks/WebhooksHttp.ts"
import { Deliveries, deliverWebhook, webhookSubscriber } from "../webhooks/Deliveries.ts"
import { WebhookDispatchRepo } from "../webhooks/WebhookDispatchRepo.ts"
import { events } from "./events.ts"
import { jobs } from "./jobs.ts"
import { tenancy } from "./tenancy.ts"

/** Outbound webhooks. Needs the queue, the relay's subscribers, settings and `HttpSender.ts`. */
export const webhooks = defineModule({
  id: "webhooks",
  requires: [tenancy, events, jobs],
  permissions: [{ scope: "webhooks:manage", description: "Register webhook endpoints and read their deliveries" }],
  migrations,
  services: Layer.mergeAll(Webhooks.layer, Tasks.add(deliverWebhook), EventSubscribers.add(webhookSubscriber)).pipe(
    Layer.provideMerge(Deliveries.layer),
    Layer.provideMerge(Layer.mergeAll(WebhookEndpointRepo.layer, WebhookDispatchRepo.layer, WebhookDeliveryRepo.layer))
  ),
  routes: webhooksHttp
})
