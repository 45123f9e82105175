import { DateTime, Effect } from "effect"
import { notFound, type PluginCall, type PluginDatabase } from "stoa/plugin"
import { authorOf } from "../pos/index.ts"
import { type Finding, findingsOf, type Thresholds } from "./AlertsRepo.ts"
import { alertConfig, alerts, type AlertType, alertTypes, defaultThresholds } from "./AlertTables.ts"

class AlertNotFound extends notFound("RestaurantAlert", "Alert not found.") {}

/** The settings of all types, with their defaults. */
export const settingsOf = (db: PluginDatabase) =>
  Effect.map(db.table(alertConfig).list({}), (rows) =>
    alertTypes.map((alertType) => {
      const { isEnabled = true, notifyRoles = [], thresholdMinutes = defaultThresholds[alertType] } = rows.find((row) =>
        row.alertType === alertType
      ) ?? {}
      return { alertType, thresholdMinutes, isEnabled, notifyRoles }
    }))

const messages: Readonly<Record<AlertType, (measured: number, of: Finding["metadata"]) => string>> = {
  delayed_order: (minutes, of) => `Ticket ${of["ticketNumber"]} is not ready after ${minutes} minutes.`,
  kot_not_started: (minutes, of) => `Ticket ${of["ticketNumber"]} was not started for ${minutes} minutes.`,
  unclosed_bill: (minutes, of) => `Table ${of["tableNumber"]} waits for its bill for ${minutes} minutes.`,
  prolonged_occupancy: (minutes, of) => `Table ${of["tableNumber"]} is occupied for ${minutes} minutes.`,
  excessive_cancellations: (tickets) => `A sale has ${tickets} tickets that cancel.`,
  excessive_modifications: (tickets) => `A sale has ${tickets} tickets that change it.`
}

type Settings = Effect.Success<ReturnType<typeof settingsOf>>

const thresholdsOf = (settings: Settings): Thresholds =>
  Object.fromEntries(
    settings.filter(({ isEnabled }) => isEnabled).map((
      { alertType, thresholdMinutes }
    ) => [alertType, thresholdMinutes])
  )

/** Writes alerts about what was found, and makes open ones critical. Returns the new ones. */
const raise = Effect.fnUntraced(function*(db: PluginDatabase, settings: Settings, found: ReadonlyArray<Finding>) {
  const severityOf = ({ isCritical }: Finding) => isCritical ? "critical" as const : "warning" as const
  const [old, fresh] = [found.filter(({ openId }) => openId !== null), found.filter(({ openId }) => openId === null)]
  const made = fresh.length === 0 ? [] : yield* db.table(alerts).insertMany(fresh.map((one) => ({
    type: one.type,
    severity: severityOf(one),
    referenceType: one.referenceType,
    referenceId: one.referenceId,
    message: messages[one.type](one.measured, one.metadata),
    metadata: one.metadata
  })))
  const raised = old.length === 0 ? [] : yield* db.table(alerts).updateEach(old.map((one) => ({
    id: one.openId ?? "",
    severity: severityOf(one),
    message: messages[one.type](one.measured, one.metadata)
  })))
  yield* db.announce(
    "pos-restaurant.alert",
    [...made, ...raised].map((alert) => ({
      entityType: "pos_restaurant_alert",
      entityId: alert.id,
      payload: { ...alert, notifyRoles: settings.find((one) => one.alertType === alert.type)?.notifyRoles ?? [] }
    }))
  )
  return made
})

/** Looks for what staff should know, and answers how many alerts of each type are new. Each is raised once. */
export const detect = Effect.fn("Alerts.detect")(function*({ db }: Pick<PluginCall, "db">) {
  const settings = yield* settingsOf(db)
  const find = db.use(findingsOf)(yield* DateTime.nowAsDate, thresholdsOf(settings))
  const made = (yield* find).length === 0 ? [] : yield* db.transaction(
    // Of several at once the second one finds the alerts of the first.
    Effect.andThen(db.turn("alerts"), Effect.flatMap(find, (found) => raise(db, settings, found)))
  )
  const count = (type: AlertType) => made.filter((one) => one.type === type).length
  return {
    delayed: count("delayed_order"),
    notStarted: count("kot_not_started"),
    occupancy: count("prolonged_occupancy"),
    unclosedBills: count("unclosed_bill"),
    cancellations: count("excessive_cancellations"),
    modifications: count("excessive_modifications")
  }
})

/** 404; 422 when it is resolved. */
export const resolve = Effect.fn("Alerts.resolve")(function*({ actor, db }: PluginCall, id: string) {
  const change = { isResolved: true, resolvedBy: authorOf(actor), resolvedAt: yield* DateTime.nowAsDate }
  yield* Effect.catchTag(
    db.table(alerts).update(id, change, { isResolved: false }),
    "NotFound/Row",
    () => new AlertNotFound()
  )
})
