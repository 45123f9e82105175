import { Context, Effect, Layer } from "effect"
import { announcedNames } from "../events/DeclaredEvents.ts"

/** Subscribes to all events that are delivered, also to those that are added later. */
export const anyEvent = "*"

/** Names of the events that can be subscribed to in this deployment. What is not among them is never delivered. */
export class WebhookEvents extends Context.Service<WebhookEvents, {
  readonly names: ReadonlySet<string>
}>()("stoa/domain/webhooks/WebhookEvents") {
  /** Those that are announced: the core's, and those that plugins declare. */
  static readonly layer = Layer.effect(WebhookEvents, Effect.map(announcedNames, (names) => ({ names })))
}
