import { DateTime, Effect } from "effect"
import { defineTask, type EventCall, type PluginContext, rowIn } from "stoa/plugin"
import { Pos } from "../pos/index.ts"
import { fireOrder, fireSale, nameCustomer } from "./Kitchen.ts"
import { forgetTickets } from "./KitchenRepo.ts"
import type { RestaurantSettings } from "./RestaurantOptions.ts"
import { stations } from "./Stations.ts"
import { tickets } from "./Tickets.ts"

const pageSize = 500

/** Deletes old tickets once a day. */
export const forgetTask = (context: PluginContext, { keepTicketDays }: RestaurantSettings) =>
  defineTask({
    slug: "pos-restaurant/forget-tickets",
    schedule: "23 4 * * *",
    everyOrganization: true,
    handler: Effect.fn("Kitchen.forget")(function*() {
      const now = yield* DateTime.nowAsDate
      const before = new Date(now.getTime() - keepTicketDays * 86_400_000)
      let deleted = 0
      for (let last = pageSize; last === pageSize; deleted += last) {
        last = yield* context.db.use(forgetTickets)(before, pageSize)
      }
      return { output: { deleted } }
    })
  })

/** Fires what is left of a completed sale; one that was made offline was cooked then. */
export const onCompleted = Effect.fnUntraced(function*(
  { enableKDS, fireOnComplete }: RestaurantSettings,
  call: EventCall
) {
  if (!enableKDS) return
  const { transaction } = yield* (yield* Pos).sale(call.event.entityId)
  yield* nameCustomer(call, transaction)
  if (fireOnComplete && transaction.clientDigest === null) yield* fireSale(call, { transactionId: transaction.id })
})

/** Takes back what was fired of a voided sale. */
export const onVoided = ({ enableKDS }: RestaurantSettings, call: EventCall) =>
  enableKDS ? Effect.asVoid(fireSale(call, { transactionId: call.event.entityId })) : Effect.void

const ofOrder = { handler: (call: EventCall) => fireOrder(call, call.event.entityId) }
const withKitchen = [rowIn(stations, { where: { isActive: true } })] as const

/** Orders of other channels are cooked once they are paid, and followed from then on. */
export const orderEvents = {
  "orders.create": { ...ofOrder, only: { rowsIn: withKitchen, record: "$.grandTotal ? (@ == 0)" } },
  "payments.capture": { ...ofOrder, only: { rowsIn: withKitchen } },
  "orders.update": { ...ofOrder, only: { rowsIn: [rowIn(tickets, { column: "orderId" })] } },
  "orders.statusChange": { ...ofOrder, only: { rowsIn: [rowIn(tickets, { column: "orderId" })] } }
} as const
