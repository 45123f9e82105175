import { Equal, Schema } from "effect"
import { about } from "../hints/Hints.ts"
import { Uuid } from "../ids/Id.ts"
import { Time } from "../text/Time.ts"

/** Names of the core's events (spec §6). */
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

export type EventType = typeof eventTypes[number]

/** With the further events of contract-commerce §10. */
export const emittedTypes = [
  ...eventTypes,
  "carts.abandoned",
  "customers.delete",
  "fulfillment.update",
  "inventory.backorder.allocated",
  "inventory.low",
  "orders.cancel",
  "orders.update",
  "payments.capture",
  "payments.fail",
  "refunds.complete",
  "refunds.create",
  "returns.create",
  "returns.update"
] as const
export type EmittedType = typeof emittedTypes[number]

export const EventName = Schema.Union([Schema.Literals(eventTypes), Schema.String])
export type EventName = EventType | (string & {})

/** An event of the API; `data` is the record after the change, without secrets. */
export const StoreEvent = Schema.Struct({
  id: Uuid,
  sequence: Schema.Int.annotate({ description: "Place among the organization's events: from 1, without gaps." }),
  type: EventName.pipe(about("Name of the event. Plugins declare further ones.")),
  timestamp: Time,
  entityType: Schema.String.pipe(about("Kind of the record, such as order.")),
  entityId: Schema.String,
  data: Schema.Record(Schema.String, Schema.Unknown),
  actorId: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String)
}).annotate({ identifier: "StoreEvent" })
export type StoreEvent = typeof StoreEvent.Type

/** Audited and not emitted: `<module>.<operation>`. */
export type AuditedType =
  | `apiKeys.${"create" | "delete" | "update"}`
  | `brands.${"create" | "delete" | "link" | "unlink" | "update"}`
  | `cart.${"create" | "removeItem" | "update" | "updateQuantity"}`
  | `catalog.${"proposeAttributes" | "rejectAttributes" | "schedule"}`
  | `categories.${"archive" | "create" | "delete" | "link" | "restore" | "unlink" | "update"}`
  | "compensations.resolve"
  | `customerGroups.${"create" | "delete" | "update"}`
  | `customers.${"add" | "change" | "remove"}${"Address" | "Interaction"}`
  | `entityFields.${"archive" | "create" | "restore" | "update"}`
  | "exports.create"
  | `imports.${"cancel" | "complete" | "create" | "fail"}`
  | `inventory.${"release" | "reserve"}`
  | `invitations.${"accept" | "cancel" | "create" | "reject"}`
  | "invoices.create"
  | "jobs.retry"
  | `mailChoices.${"accept" | "decline"}`
  | `media.${"attach" | "delete" | "detach" | "update" | "upload"}`
  | `options.${"create" | "createValue"}`
  | `orders.${"addNote" | "claim" | "import" | "removeNote"}`
  | `organizations.${"create" | "delete" | "update"}`
  | "payments.authorize"
  | `refunds.${"fail" | "retry" | "undo"}`
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

/** `<plugin>/<table>.create`, or an event that a plugin declares. */
export type PluginType = `${string}/${string}`

export type ChangeType = EmittedType | AuditedType | PluginType

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
  | "return"
  | "compensation_failure"
  | "shipping_rate"
  | "shipping_zone"
  | "invoice"
  | "job"
  | "import"
  | "export"
  | "api_key"
  | "mail_choice"
  | "member"
  | "invitation"
  | "user"
  | "session"
  | "organization"
  | "media_asset"
  | "tax_class"
  | "tax_rate"

/**
 * A change of a record. `payload` is the record after it, `before` the record before it. The database strips keys that
 * name secrets.
 */
export interface Change {
  readonly type: ChangeType
  readonly entityType: Subject
  readonly entityId: string
  readonly payload: object
  readonly before?: object | null
}

/** These do not count when the record stays the same. Others always count: a rotated secret, a removed line. */
const settings: ReadonlySet<ChangeType> = new Set([
  "brands.update",
  "cart.update",
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

export const maySetTheSame = (type: ChangeType): boolean => settings.has(type)

export const isSameRecord = (before: object, after: object): boolean =>
  Equal.equals({ ...before, updatedAt: null }, { ...after, updatedAt: null })

export const isChange = ({ before, payload, type }: Change): boolean =>
  !(maySetTheSame(type) && before !== undefined && before !== null && isSameRecord(before, payload))
