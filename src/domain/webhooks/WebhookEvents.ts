import { Context, Layer } from "effect"
import { eventTypes } from "../events/Event.ts"

/** Subscribes to all events that are delivered, also to those that are added later. */
export const anyEvent = "*"

/** Names of the events that can be subscribed to in this deployment. What is not among them is never delivered. */
export class WebhookEvents extends Context.Service<WebhookEvents, {
  readonly names: ReadonlySet<string>
}>()("stoa/domain/webhooks/WebhookEvents") {
  /** The core's events, and those that plugins declare. */
  static readonly layerOf = (declared: ReadonlyArray<string> = []): Layer.Layer<WebhookEvents> =>
    Layer.succeed(WebhookEvents, { names: new Set<string>([...eventTypes, ...declared]) })
}
