import { boolean, integerBetween, json, list, oneOf, type RowOf, table, text, timestamp, uuid } from "stoa/plugin"

export const alertTypes = [
  "delayed_order",
  "kot_not_started",
  "unclosed_bill",
  "prolonged_occupancy",
  "excessive_cancellations",
  "excessive_modifications"
] as const
export type AlertType = typeof alertTypes[number]

/** Something that staff should look at. There is one open alert of a type about a thing. */
export const alerts = table("pos_restaurant_alerts", {
  type: oneOf([...alertTypes, "ingredient_shortage"]).about(
    "Cause of the alert. ingredient_shortage has no setting: sales raise it."
  ),
  severity: oneOf(["warning", "critical"]).default("warning").about(
    "critical: it has lasted twice as long as allowed, or longer."
  ),
  referenceType: oneOf(["assignment", "ticket", "transaction", "ingredient"]).about("Kind of record it is about."),
  referenceId: uuid.about("Id of the record it is about."),
  message: text,
  isResolved: boolean.default(false),
  resolvedBy: text.nullable.about("User who resolved it."),
  resolvedAt: timestamp.nullable,
  metadata: json.default({})
}, {
  unique: [{ columns: ["type", "referenceId"], where: "not is_resolved" }],
  indexes: [{ columns: ["referenceId"] }]
})

export type Alert = RowOf<typeof alerts>

/** From when on there is an alert, and who is to know. */
export const alertConfig = table("pos_alert_config", {
  alertType: oneOf(alertTypes).unique().about(
    "Cause of the alert. ingredient_shortage has no setting: sales raise it."
  ),
  thresholdMinutes: integerBetween(1, 10_080).about(
    "Minutes after which it is reported; for `excessive_…` the tickets of a sale."
  ),
  isEnabled: boolean.default(true),
  notifyRoles: list(text).default([]).about("Roles whose members get a mail.")
}, { strict: true })

/** Stations have thresholds of late tickets: the longer one of both counts. */
export const defaultThresholds: Readonly<Record<AlertType, number>> = {
  delayed_order: 1,
  kot_not_started: 10,
  unclosed_bill: 15,
  prolonged_occupancy: 120,
  excessive_cancellations: 3,
  excessive_modifications: 5
}
