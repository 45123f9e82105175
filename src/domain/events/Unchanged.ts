import { Equal } from "effect"
import type { Change, ChangeType } from "./Event.ts"

/**
 * Changes that are none when the record is the same before and after: a request that sets what is set already is answered
 * with the record, and nobody is told. The others happen whatever the record shows: a secret that was rotated, a line
 * that is gone.
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

/** Whether changes of this type are none when the record stays the same. */
export const maySetTheSame = (type: ChangeType): boolean => settings.has(type)

/** Whether two states of a record differ in nothing but the time of the last change. */
export const isSameRecord = (before: object, after: object): boolean =>
  Equal.equals({ ...before, updatedAt: null }, { ...after, updatedAt: null })

/** Whether something happened that the change log has to tell. */
export const isChange = ({ before, payload, type }: Change): boolean =>
  !(maySetTheSame(type) && before !== undefined && before !== null && isSameRecord(before, payload))
