import { Effect, Schema } from "effect"
import { about, defineTask, inputOf, listOf, type PluginContext } from "stoa/plugin"
import { detect, resolve, settingsOf } from "./Alerts.ts"
import { alertConfig, alerts } from "./AlertTables.ts"
import { admin, operate, routes } from "./RestaurantOptions.ts"

const { alertType, isEnabled, notifyRoles, thresholdMinutes } = alertConfig.columns
const Config = Schema.Struct({
  alertType: alertType.schema,
  thresholdMinutes: thresholdMinutes.schema.annotate({
    description:
      "Minutes, for excessive_cancellations and excessive_modifications tickets of a sale. delayed_order: the " +
      "longer one of this and the station's counts."
  }),
  isEnabled: isEnabled.schema,
  notifyRoles: notifyRoles.schema.annotate({
    description: "Members with these roles get a mail; the event `pos-restaurant.alert` names them."
  })
}).annotate({ identifier: "PosAlertConfig" })

const newAlerts = (of: string) => Schema.Int.pipe(about(`New alerts about ${of}.`))
const Detected = Schema.Struct({
  delayed: newAlerts("tickets that take too long"),
  notStarted: newAlerts("tickets that were not started"),
  occupancy: newAlerts("tables that are occupied for too long"),
  unclosedBills: newAlerts("bills that were not closed"),
  cancellations: newAlerts("sales with many cancellations"),
  modifications: newAlerts("sales with many changes")
})

export const alertRoutes = [
  routes.get("/alerts/config", {
    summary: "Get the settings of all alerts",
    permission: admin,
    success: Schema.Array(Config)
  }).handle(({ db }) => settingsOf(db)),
  routes.post("/alerts/config", {
    summary: "Change the settings of an alert",
    permission: admin,
    input: inputOf(alertConfig),
    strict: true,
    success: Config
  }).handle(({ db, input }) => Effect.map(db.table(alertConfig).upsert(input, ["alertType"]), ({ row }) => row)),
  listOf(routes, "/alerts", alerts, {
    summary: "List alerts",
    permission: operate,
    filters: ["type", "severity", "isResolved"],
    query: {
      unresolvedOnly: Schema.optional(
        Schema.Literals(["true", "false"]).annotate({ description: "`true`: only those that are not resolved." })
      )
    },
    answer: ({ db, page, query: { unresolvedOnly }, where }) =>
      db.table(alerts).page(unresolvedOnly === "true" ? { ...where, isResolved: false } : where, page)
  }),
  routes.post("/alerts/detect", {
    summary: "Detect alerts now",
    description: "Answers how many are new. A job does so each minute.",
    permission: admin,
    success: Detected
  }).handle(detect),
  routes.post("/alerts/:id/resolve", {
    summary: "Resolve an alert",
    description: "It is raised once more if it becomes critical. 404 without it; 422 when it is resolved.",
    permission: operate,
    success: Schema.Struct({ resolved: Schema.Literal(true) })
  }).handle((call) => Effect.as(resolve(call, call.params.id), { resolved: true as const }))
]

export const detectTask = ({ call }: PluginContext) =>
  defineTask({
    slug: "pos-restaurant/detect",
    schedule: "* * * * *",
    everyOrganization: true,
    handler: () => Effect.map(Effect.flatMap(call, detect), (output) => ({ output }))
  })
