import { Effect, Schema } from "effect"
import {
  about,
  type Actor,
  date,
  fieldsOf,
  group,
  holds,
  isAnonymous,
  Moment,
  requireWindow,
  resource,
  timestamp,
  Until
} from "stoa/plugin"
import { changeItems, NewItems } from "./Items.ts"
import { releaseDue } from "./Releases.ts"
import { Acceptance, acceptPrice, pause, resume, skip } from "./Repeats.ts"
import { admin, own, scheduledOrders, slots } from "./ScheduledOrder.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"
import { cancel, Change, change, Means, NewSchedule, retry, schedule } from "./Scheduling.ts"
import { setCapacity, Slot, slotsOn } from "./Slots.ts"

const routes = group("Scheduled orders", "/scheduled-orders")
const success = scheduledOrders.Row
const order = ["-scheduledFor"] as const
const missing = "404 without it, and for another one's."
const state = "422 INVALID_TRANSITION from another state."

/** A day whose moments the database has in every time zone. */
const Day = date.schema.check(
  Schema.makeFilter((day: string) => ("1970-01-01" < day && day < "9999-12-31") || "must be between 1970 and 9999.")
)

/** Customers who have signed in and hold the scope, and staff. */
const holder = (scope: string) => ({
  admits: {
    rule: (actor: Actor) => !isAnonymous(actor) && (holds(actor, scope) || holds(actor, admin)),
    missing: scope
  }
})
const creates = holder("scheduled-orders:create")
const reads = holder("scheduled-orders:read")

/** What customers do with their scheduled orders, and staff with all (contract, plugins §9). */
export const scheduleRoutes = (settings: ScheduleSettings) => [
  ...resource(routes, "/", scheduledOrders, {
    noun: "scheduled order",
    read: reads,
    write: creates,
    filters: ["status", "customerId", "cartId"],
    order,
    visible: own,
    list: {
      summary: "List scheduled orders",
      description: "Those of the customer, for staff all; the latest first. All repeats of an order have one cart.",
      query: {
        from: Schema.optional(Moment),
        to: Schema.optional(Until)
      },
      answer: ({ db, page, query: { from, to }, where }) => {
        const scheduledFor = { ...(from && { gte: from }), ...(to && { lt: to }) }
        return Effect.andThen(
          requireWindow({ from, to }, "from", "to"),
          db.table(scheduledOrders).page({ ...where, scheduledFor }, page, order)
        )
      }
    },
    get: { description: missing, answer: ({ db, which }) => db.table(scheduledOrders).get(which) },
    create: {
      summary: "Schedule a cart",
      description:
        "Orders its items at that time, at the prices of that time, with this means of payment; again every `everyDays` days or `everyMonths` months, if it says so. Staff names the customer, others get 403. 404 for another one's cart, 409 when it is scheduled already or the slot is full, 422 for a time that cannot be.",
      rate: "checkout",
      input: NewSchedule,
      answer: (call) => schedule(call, settings, call.actor, call.input)
    },
    patch: {
      description:
        `Until it is placed; absent fields stay. 409 when the slot is full, 422 for a time that cannot be. ${missing} ${state}`,
      input: Change,
      answer: (call) => change(call, settings, call.params.id, call.input)
    },
    remove: false
  }),
  routes.put("/:id/items", {
    summary: "Change the items of a scheduled order",
    description:
      `Replaces all items, also for its repeats. 422 for what a cart refuses, or cannot be held. ${missing} ${state}`,
    ...creates,
    rate: "checkout",
    input: NewItems,
    success
  }).handle((call) => changeItems(call, settings, call.actor, call.params.id, call.input)),
  routes.post("/:id/cancel", {
    summary: "Cancel a scheduled order",
    description: `With all its repeats, also those that have failed. ${missing} ${state}`,
    ...creates,
    success
  }).handle((call) => cancel(call, settings, call.params.id)),
  routes.post("/:id/retry", {
    summary: "Place a failed order again",
    description: `Within a minute, maybe with another means of payment. 422 once its time is over. ${missing} ${state}`,
    ...creates,
    rate: "checkout",
    input: Means,
    success
  }).handle((call) => retry(call, settings, call.params.id, call.input)),
  ...repeatRoutes(settings),
  ...storeRoutes(settings)
]

const repeatRoutes = (settings: ScheduleSettings) => [
  ...([
    ["skip", skip, "Skip the next time of an order that repeats"],
    ["pause", pause, "Pause an order that repeats"],
    ["resume", resume, "Resume a paused order, at its next time"]
  ] as const).map(([word, make, summary]) =>
    routes.post(`/:id/${word}`, {
      summary,
      description: `422 when it does not repeat, or no longer; 409 when the slot is full. ${missing} ${state}`,
      ...creates,
      success
    }).handle((call) => make(call, settings, call.params.id))
  ),
  routes.post("/:id/accept-price", {
    summary: "Accept the new price of a scheduled order",
    description:
      `Its \`quotedTotal\` is the agreed one from then on, and it goes on. 409 when \`total\` is another price, or the slot is full. ${missing} ${state}`,
    ...creates,
    input: Acceptance,
    success
  }).handle((call) => acceptPrice(call, settings, call.params.id, call.input))
]

const storeRoutes = (settings: ScheduleSettings) => [
  routes.post("/process-due", {
    summary: "Place the orders that are due",
    description:
      "Those that are scheduled up to `bufferMinutes` from now (default 15), at most 500. Gives those that this call has moved; of several at once each moves others.",
    permission: admin,
    input: Schema.NullOr(Schema.Struct({
      bufferMinutes: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 525_600 }))).pipe(
        about("Also places orders that are due so many minutes from now. Default: 15.")
      )
    })),
    success: Schema.Array(success)
  }).handle((call) => releaseDue(call, settings, call.input?.bufferMinutes ?? 15)),
  routes.get("/slots", {
    summary: "List the slots of a day",
    description: "In the store's time zone. None where the deployment has no slots.",
    public: "Visitors see when they can order.",
    query: { date: Day },
    success: Schema.Array(Slot)
  }).handle((call) => slotsOn(call, settings, call.query.date)),
  routes.put("/slots", {
    summary: "Set the capacity of a slot",
    description: "0 closes it. Orders that have a place keep it. 422 for what is the beginning of no slot.",
    permission: admin,
    input: Schema.Struct({ startsAt: timestamp.sent, capacity: fieldsOf(slots).capacity }),
    strict: true,
    success: slots.Row
  }).handle((call) => setCapacity(call, settings, call.input))
]
