import { Equal } from "effect"
import type { Change, ChangeType } from "./Event.ts"

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

/** Whether the change needs a change log entry. */
export const isChange = ({ before, payload, type }: Change): boolean =>
  !(maySetTheSame(type) && before !== undefined && before !== null && isSameRecord(before, payload))
