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

/** Name of an emitted event. */
export type EventType = typeof eventTypes[number]

/** The same, or the name of an event that a plugin declares. */
export type EventName = EventType | (string & {})

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
