import { DateTime, Effect, Schema } from "effect"
import {
  type CheckoutExtension,
  CurrentActor,
  defineTask,
  HookRefusal,
  InvalidTransition,
  type PluginContext,
  pluginWith
} from "stoa/plugin"
import { failedMail, noticeMail } from "./Mails.ts"
import { scheduleMigrations } from "./migrations.ts"
import { noticeTasks } from "./Notices.ts"
import { reviewMail, unansweredMail } from "./PriceMails.ts"
import { orderingTasks } from "./Releases.ts"
import { events, scheduledOrders as orders, slots, usesOf } from "./ScheduledOrder.ts"
import { forgetEnded, openOfErased } from "./ScheduledRepo.ts"
import { scheduleRoutes } from "./ScheduleRoutes.ts"
import { ScheduleSettings, settingsIn } from "./ScheduleSettings.ts"
import { cancel } from "./Scheduling.ts"

const scheduled = new HookRefusal("This cart is scheduled: cancel that to order it now.")

const PickedUp = Schema.Struct({
  scheduledOrderId: Schema.NullOr(Schema.String),
  orderType: Schema.Literals(["pickup", "dine_in"])
})

/** Prices an order that is to come, which has no cart yet, as its checkout. */
const quotedShipping = (about: unknown) =>
  Schema.is(PickedUp)(about) ? { shippingTotal: 0, shippingMethod: about.orderType } : undefined

/** A cart that is ordered later is not ordered beside that; what is picked up has no shipping costs. One statement a checkout. */
const checkouts = ({ db }: PluginContext): CheckoutExtension => ({
  decide: Effect.fnUntraced(function*({ cartId, checkoutId, metadata }) {
    if (cartId === null) return checkoutId === null ? quotedShipping(metadata) : undefined
    const row = yield* db.table(orders).first({
      or: [{ checkoutCartId: cartId }, ...usesOf(cartId)]
    })
    if (row === undefined) return undefined
    // Its customer, who sees the cart of the job's checkout, would pay twice.
    const isJob = row.checkoutCartId === cartId && (yield* CurrentActor).source === "job"
    if (!isJob) return checkoutId === null ? undefined : yield* Effect.fail(scheduled)
    return row.orderType === "delivery" ? undefined : { shippingTotal: 0, shippingMethod: row.orderType }
  })
})

const pageSize = 1_000

/** Cancels what erased customers have scheduled, and deletes what is personal of orders that ended long ago. */
const forget = (context: PluginContext, settings: ScheduleSettings) =>
  defineTask({
    slug: "scheduled-orders/forget",
    schedule: "23 * * * *",
    everyOrganization: true,
    handler: Effect.fnUntraced(function*() {
      const { db } = context
      const tools = yield* context.call
      yield* Effect.forEach(
        yield* db.use(openOfErased)(),
        // It was cancelled with another one of its cart, or released meanwhile.
        ({ id }) => Effect.catchIf(cancel(tools, settings, id), Schema.is(InvalidTransition), () => Effect.void),
        { discard: true }
      )
      const before = DateTime.toDateUtc(DateTime.subtract(yield* DateTime.now, { days: settings.keepDays }))
      while ((yield* db.use(forgetEnded)(before, pageSize)) === pageSize);
    })
  })

/** Carts that are ordered later, once or again and again (contract, plugins §9): `plugins: [scheduledOrders({ … })]`. */
export const scheduledOrders = pluginWith("scheduled-orders", ScheduleSettings, (options) => ({
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  permissions: [
    { scope: "scheduled-orders:admin", description: "See and change all scheduled orders, and capacities" },
    { scope: "scheduled-orders:create", description: "Schedule orders and change them", roles: ["customer"] },
    { scope: "scheduled-orders:read", description: "See one's scheduled orders", roles: ["customer"] }
  ],
  schema: () => ({ scheduledOrders: orders, slots }),
  migrations: scheduleMigrations,
  events: events.map((name) => `scheduled_order.${name}`),
  mailTemplates: [failedMail, noticeMail, reviewMail, unansweredMail],
  routes: ({ config }) => scheduleRoutes(settingsIn(config, options)),
  tasks: (context) => {
    const settings = settingsIn(context.config, options)
    return [...orderingTasks(context, settings), ...noticeTasks(context, settings), forget(context, settings)]
  },
  checkoutExtension: checkouts
}))
