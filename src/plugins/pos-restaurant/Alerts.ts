import { DateTime, Effect, Schema } from "effect"
import { mailTemplate, notFound, type PluginCall, type PluginDatabase } from "stoa/plugin"
import { authorOf } from "../pos/index.ts"
import { type Finding, findingsOf, type Thresholds } from "./AlertsRepo.ts"
import { type Alert, alertConfig, alerts, type AlertType, alertTypes, defaultThresholds } from "./AlertTables.ts"

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

/** For the people who are to see to an alert. */
export const alertMail = mailTemplate({
  name: "pos-restaurant/alert",
  purpose: "order",
  data: Schema.Struct({ name: Schema.String, message: Schema.String, severity: Schema.String }),
  sample: { name: "Ann", message: "Table 7 waits for its bill for 16 minutes.", severity: "warning" },
  texts: {
    en: ({ message, name, severity }, { storeName }) => ({
      subject: severity === "critical" ? `Urgent at ${storeName}` : `Please look after this at ${storeName}`,
      paragraphs: [`Dear ${name},`, message]
    })
  }
})

type Tools = Pick<PluginCall, "db" | "services">

const rolesOf = (settings: Settings, { type }: Alert) =>
  settings.find(({ alertType }) => alertType === type)?.notifyRoles ?? []

/** Mails an alert to the members with the roles that its setting names. */
const mailRoles = Effect.fnUntraced(function*({ services }: Tools, settings: Settings, alert: Alert) {
  if (!services.mail.isOn) return
  const { id, message, severity } = alert
  const members = yield* services.users.withRoles(rolesOf(settings, alert))
  yield* Effect.forEach(members, (member) =>
    services.mail.send(alertMail, {
      to: member.email,
      key: `${id}/${severity}/${member.id}`,
      data: { name: member.name, message, severity }
    }), { discard: true })
})

/** Writes alerts about what was found, and makes open ones critical. Returns the new ones. */
const raise = Effect.fnUntraced(function*(tools: Tools, settings: Settings, found: ReadonlyArray<Finding>) {
  const { db } = tools
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
      payload: { ...alert, notifyRoles: rolesOf(settings, alert) }
    }))
  )
  yield* Effect.forEach([...made, ...raised], (alert) => mailRoles(tools, settings, alert), { discard: true })
  return made
})

/** Looks for what staff should know, and answers how many alerts of each type are new. Each is raised once. */
export const detect = Effect.fn("Alerts.detect")(function*(tools: Tools) {
  const { db } = tools
  const settings = yield* settingsOf(db)
  const find = db.use(findingsOf)(yield* DateTime.nowAsDate, thresholdsOf(settings))
  const made = (yield* find).length === 0 ? [] : yield* db.transaction(
    // Of several at once the second one finds the alerts of the first.
    Effect.andThen(db.turn("alerts"), Effect.flatMap(find, (found) => raise(tools, settings, found)))
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
