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
  | "apiKeys.create"
  | "apiKeys.delete"
  | "apiKeys.update"
  | "brands.create"
  | "brands.update"
  | "brands.delete"
  | "brands.link"
  | "brands.unlink"
  | "cart.create"
  | "cart.updateQuantity"
  | "cart.removeItem"
  | "catalog.proposeAttributes"
  | "catalog.rejectAttributes"
  | "catalog.schedule"
  | "categories.create"
  | "categories.update"
  | "categories.archive"
  | "categories.restore"
  | "categories.delete"
  | "categories.link"
  | "categories.unlink"
  | "customers.addAddress"
  | "customers.changeAddress"
  | "customers.removeAddress"
  | "customers.addInteraction"
  | "customers.changeInteraction"
  | "customers.removeInteraction"
  | "customers.erase"
  | "customerGroups.create"
  | "customerGroups.update"
  | "customerGroups.delete"
  | "entityFields.create"
  | "entityFields.update"
  | "entityFields.archive"
  | "entityFields.restore"
  | "orders.claim"
  | "orders.import"
  | "fulfillment.update"
  | "orders.addLine"
  | "orders.changeLine"
  | "orders.removeLine"
  | "orders.addNote"
  | "orders.removeNote"
  | "inventory.reserve"
  | "inventory.release"
  | "options.create"
  | "options.createValue"
  | "payments.capture"
  | "refunds.create"
  | "refunds.complete"
  | "refunds.fail"
  | "refunds.retry"
  | "refunds.undo"
  | "compensations.resolve"
  | "invoices.create"
  | "media.attach"
  | "media.delete"
  | "media.detach"
  | "media.update"
  | "media.upload"
  | "invitations.accept"
  | "invitations.cancel"
  | "invitations.create"
  | "invitations.reject"
  | "jobs.retry"
  | "organizations.create"
  | "organizations.update"
  | "organizations.delete"
  | "sessions.create"
  | "sessions.update"
  | "sessions.delete"
  | "shippingRates.create"
  | "shippingRates.update"
  | "shippingRates.delete"
  | "shippingZones.create"
  | "shippingZones.update"
  | "shippingZones.delete"
  | "staff.create"
  | "staff.delete"
  | "staff.update"
  | "taxClasses.create"
  | "taxClasses.update"
  | "taxClasses.delete"
  | "taxRates.create"
  | "taxRates.update"
  | "taxRates.delete"
  | "users.create"
  | "users.update"
  | "users.delete"
  | "users.verifyEmail"
  | "users.changePassword"
  | "users.linkAccount"
  | "users.unlinkAccount"
  | "users.setUpTwoFactor"
  | "users.enableTwoFactor"
  | "users.disableTwoFactor"
  | "users.changeBackupCodes"
  | "variants.create"
  | "variants.update"
  | "imports.create"
  | "imports.complete"
  | "imports.fail"
  | "imports.cancel"
  | "exports.create"
  | "warehouses.create"
  | "webhooks.create"
  | "webhooks.update"
  | "webhooks.delete"
  | "webhooks.rotateSecret"
  | "webhooks.disable"

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
