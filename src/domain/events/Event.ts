/** Names of the events a store announces (spec §6); plugins add their own. */
export type EventType =
  | "orders.create"
  | "orders.statusChange"
  | "catalog.create"
  | "catalog.update"
  | "catalog.delete"
  | "inventory.afterAdjust"
  | "customers.create"
  | "customers.update"
  | "pricing.create"
  | "pricing.update"
  | "promotions.create"
  | "promotions.update"
  | "fulfillment.create"
  | "cart.afterAddItem"
  // For the journal alone: webhooks do not deliver what happens to webhooks.
  | "webhooks.create"
  | "webhooks.update"
  | "webhooks.delete"
  | "webhooks.rotateSecret"
  | "webhooks.disable"

/** Kind of record an event or an audit entry is about (contract §0.6). */
export type EventSubject =
  | "order"
  | "catalog_entity"
  | "inventory"
  | "price"
  | "promotion"
  | "customer"
  | "fulfillment"
  | "cart"
  | "webhook_endpoint"

/**
 * Something that happened to a record: what webhooks deliver and what the audit trail shows. `payload` is the record
 * after the change, as the API would serve it; it never holds secrets.
 */
export interface DomainEvent {
  readonly type: EventType
  readonly entityType: EventSubject
  readonly entityId: string
  readonly payload: object
}
