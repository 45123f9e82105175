import { Equal, Schema } from "effect"
import { Uuid } from "../ids/Id.ts"

/** Names of the events a store emits (spec §6). Webhooks deliver them and `GET /api/events` lists them. */
export const eventTypes = [
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
] as const

/** Name of an emitted event of the core. */
export type EventType = typeof eventTypes[number]

/** Name of an event: one of the core, or one that a plugin declares. */
export const EventName = Schema.Union([Schema.Literals(eventTypes), Schema.String])
export type EventName = EventType | (string & {})

/** An event as the API shows it (docs/events.md). `data` is the record after the change, without secrets. */
export const StoreEvent = Schema.Struct({
  id: Uuid,
  sequence: Schema.Int.annotate({ description: "Place among the organization's events: from 1, without gaps." }),
  type: EventName,
  timestamp: Schema.Date.annotate({ format: "date-time" }),
  entityType: Schema.String,
  entityId: Schema.String,
  data: Schema.Record(Schema.String, Schema.Unknown),
  actorId: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String)
}).annotate({ identifier: "StoreEvent" })
export type StoreEvent = typeof StoreEvent.Type

/** Changes that appear in the audit trail but are not emitted: `<module>.<operation>`. */
export type AuditedType =
  | `apiKeys.${"create" | "delete" | "update"}`
  | `brands.${"create" | "delete" | "link" | "unlink" | "update"}`
  | `cart.${"create" | "removeItem" | "updateQuantity"}`
  | `catalog.${"proposeAttributes" | "rejectAttributes" | "schedule"}`
  | `categories.${"archive" | "create" | "delete" | "link" | "restore" | "unlink" | "update"}`
  | "compensations.resolve"
  | `customerGroups.${"create" | "delete" | "update"}`
  | "customers.erase"
  | `customers.${"add" | "change" | "remove"}${"Address" | "Interaction"}`
  | `entityFields.${"archive" | "create" | "restore" | "update"}`
  | "exports.create"
  | "fulfillment.update"
  | `imports.${"cancel" | "complete" | "create" | "fail"}`
  | `inventory.${"release" | "reserve"}`
  | `invitations.${"accept" | "cancel" | "create" | "reject"}`
  | "invoices.create"
  | "jobs.retry"
  | `media.${"attach" | "delete" | "detach" | "update" | "upload"}`
  | `options.${"create" | "createValue"}`
  | `orders.${"addLine" | "addNote" | "changeLine" | "claim" | "import" | "removeLine" | "removeNote"}`
  | `organizations.${"create" | "delete" | "update"}`
  | "payments.capture"
  | `refunds.${"complete" | "create" | "fail" | "retry" | "undo"}`
  | `sessions.${"create" | "delete" | "update"}`
  | `shippingRates.${"create" | "delete" | "update"}`
  | `shippingZones.${"create" | "delete" | "update"}`
  | `staff.${"create" | "delete" | "update"}`
  | `taxClasses.${"create" | "delete" | "update"}`
  | `taxRates.${"create" | "delete" | "update"}`
  | `users.${"changeBackupCodes" | "changePassword" | "create" | "delete" | "update" | "verifyEmail"}`
  | `users.${"link" | "unlink"}Account`
  | `users.${"disable" | "enable" | "setUp"}TwoFactor`
  | `variants.${"create" | "update"}`
  | "warehouses.create"
  | `webhooks.${"create" | "delete" | "disable" | "rotateSecret" | "update"}`

/**
 * A change of a row of a plugin's table, `<plugin>/<table>.create`, or an event that a plugin declares, `<plugin>/…`.
 */
export type PluginType = `${string}/${string}`

/** Name of a change: an event, or a change that is only audited. */
export type ChangeType = EventType | AuditedType | PluginType

/** Kind of record that a change is about (contract §0.6). */
export type Subject =
  | PluginType
  | "order"
  | "catalog_entity"
  | "entity_field"
  | "inventory"
  | "price"
  | "promotion"
  | "customer"
  | "customer_group"
  | "fulfillment"
  | "cart"
  | "webhook_endpoint"
  | "category"
  | "brand"
  | "option_type"
  | "option_value"
  | "variant"
  | "warehouse"
  | "refund"
  | "compensation_failure"
  | "shipping_rate"
  | "shipping_zone"
  | "invoice"
  | "job"
  | "import"
  | "export"
  | "api_key"
  | "member"
  | "invitation"
  | "user"
  | "session"
  | "organization"
  | "media_asset"
  | "tax_class"
  | "tax_rate"

/**
 * A change of a record as the change log stores it, the audit trail shows it and webhooks deliver it. `payload` is the
 * record after the change as the API shows it, `before` the record before it; absent where there was none. The database
 * strips keys that name secrets, for every writer.
 */
export interface Change {
  readonly type: ChangeType
  readonly entityType: Subject
  readonly entityId: string
  readonly payload: object
  readonly before?: object | null
}

/**
 * Changes that do not count when the record is the same before and after: the request returns the record and no event
 * is emitted. Other changes always count: a rotated secret, a removed line.
 */
const settings: ReadonlySet<ChangeType> = new Set([
  "brands.update",
  "cart.updateQuantity",
  "catalog.update",
  "categories.archive",
  "categories.restore",
  "categories.update",
  "catalog.proposeAttributes",
  "catalog.schedule",
  "customers.update",
  "entityFields.archive",
  "entityFields.restore",
  "entityFields.update",
  "media.update",
  "pricing.update",
  "promotions.update",
  "shippingRates.update",
  "shippingZones.update",
  "variants.update",
  "webhooks.update"
])

/** Whether changes of this type do not count when the record stays the same. */
export const maySetTheSame = (type: ChangeType): boolean => settings.has(type)

/** Whether two states of a record differ only in the time of the last change. */
export const isSameRecord = (before: object, after: object): boolean =>
  Equal.equals({ ...before, updatedAt: null }, { ...after, updatedAt: null })

export const isChange = ({ before, payload, type }: Change): boolean =>
  !(maySetTheSame(type) && before !== undefined && before !== null && isSameRecord(before, payload))
