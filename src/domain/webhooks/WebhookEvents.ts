import { Context, Layer } from "effect"
import type { EventType } from "../events/Event.ts"

/** The events of the core that are delivered (spec §6); plugins add their own. */
export const coreEvents = [
  "orders.create",
  "orders.statusChange",
  "catalog.create",
  "catalog.update",
  "catalog.delete",
  "inventory.afterAdjust",
  "customers.create",
  "customers.update",
  "pricing.create",
  "pricing.update",
  "promotions.create",
  "promotions.update",
  "fulfillment.create",
  "cart.afterAddItem"
] as const satisfies ReadonlyArray<EventType>

/** Subscribes to all events that are delivered, also to those that are added later. */
export const anyEvent = "*"

/** Names of the events that can be subscribed to in this deployment. What is not among them is never delivered. */
export class WebhookEvents extends Context.Service<WebhookEvents, {
  readonly names: ReadonlySet<string>
}>()("stoa/domain/webhooks/WebhookEvents") {
  /** The core's events, and those that plugins declare. */
  static readonly layerOf = (declared: ReadonlyArray<string> = []): Layer.Layer<WebhookEvents> =>
    Layer.succeed(WebhookEvents, { names: new Set<string>([...coreEvents, ...declared]) })
}
