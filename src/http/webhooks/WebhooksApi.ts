import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { WebhookDeliveryId, WebhookEndpointId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { Redelivery, WebhookDelivery } from "../../domain/webhooks/WebhookDelivery.ts"
import {
  NewWebhookEndpoint,
  SecretRotation,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointWithSecret
} from "../../domain/webhooks/WebhookEndpoint.ts"
import { guarded, lists, reads, summary } from "../endpoint/Resource.ts"
import { Data, Deleted, OptionalBody, Page } from "../envelope/Envelope.ts"
import { StrictBody } from "../middleware/FieldHandling.ts"

const endpoint = { id: WebhookEndpointId }
const mayManage = anyOf("webhooks:manage")

/** Webhook endpoints and deliveries (spec §4 Webhook endpoints, contract, platform §9). */
export const WebhooksGroup = guarded(
  "webhooks",
  HttpApiEndpoint.post("register", "/api/webhooks", {
    payload: NewWebhookEndpoint,
    success: Data(WebhookEndpointWithSecret).pipe(HttpApiSchema.status(201))
  })
    .annotateMerge(summary(
      "Register a webhook endpoint",
      "The answer shows the secret that signs deliveries; no other answer does."
    )),
  lists("list", "/api/webhooks", WebhookEndpoint, "List webhook endpoints, newest first"),
  reads("get", "/api/webhooks/:id", WebhookEndpoint, "Get a webhook endpoint"),
  HttpApiEndpoint.patch("change", "/api/webhooks/:id", {
    params: endpoint,
    payload: WebhookEndpointChange,
    success: Data(WebhookEndpoint)
  })
    .annotateMerge(summary("Change a webhook endpoint, or switch it on or off")),
  HttpApiEndpoint.delete("remove", "/api/webhooks/:id", { params: endpoint, success: Deleted })
    .annotateMerge(summary("Delete a webhook endpoint; what it still had to get is not sent")),
  HttpApiEndpoint.post("rotateSecret", "/api/webhooks/:id/rotate-secret", {
    params: endpoint,
    payload: OptionalBody(SecretRotation),
    success: Data(WebhookEndpointWithSecret)
  })
    .annotateMerge(summary(
      "Rotate the secret of a webhook endpoint",
      "The secret before it signs beside the new one for a day, or as long as the deployment says."
    )),
  HttpApiEndpoint.post("test", "/api/webhooks/:id/test", { params: endpoint, success: Data(WebhookDelivery) })
    .annotateMerge(summary(
      "Send a test message to a webhook endpoint",
      "Sends at once and answers with what came of it: `error` is null when the receiver answered 2xx."
    )),
  HttpApiEndpoint.get("deliveries", "/api/webhooks/:id/deliveries", {
    params: endpoint,
    query: pageQuery,
    success: Page(WebhookDelivery)
  })
    .annotateMerge(summary("List attempts to deliver to a webhook endpoint, newest first")),
  HttpApiEndpoint.post("redeliver", "/api/webhooks/deliveries/:id/redeliver", {
    params: { id: WebhookDeliveryId },
    success: Data(Redelivery)
  })
    .annotateMerge(summary(
      "Send the event of a delivery again",
      "With the same `webhook-id` and body. 409 while the endpoint is switched off."
    ))
).annotateEndpoints(Access, mayManage).annotateEndpoints(StrictBody, true)
