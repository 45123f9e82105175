import { Effect, Schema } from "effect"
import { Moment, OrderId, ownedBy, Text, Uuid } from "stoa/plugin"
import { bookings, manage, routes } from "./AppointmentTables.ts"
import { book, booking, cancel, moveWithNotice, NewBooking, reschedule } from "./Bookings.ts"
import { booker } from "./Customers.ts"
import type { AppointmentSettings } from "./Notices.ts"
import { bookAndPay } from "./Payments.ts"

const missing = "404 without it, and for another one's."
const state = "422 INVALID_TRANSITION from another state."
const mine = ownedBy(bookings, { user: "customerId" })

const filters = {
  providerId: Schema.optional(Uuid),
  serviceTypeId: Schema.optional(Uuid),
  customerId: Schema.optional(Text),
  status: Schema.optional(Schema.Literals(["provisional", "confirmed", "completed", "no_show", "cancelled"])),
  from: Schema.optional(Moment.annotate({ description: "The first moment at which they begin." })),
  to: Schema.optional(Moment.annotate({ description: "The last one." }))
}

const whereOf = <A extends { readonly from?: Date | undefined; readonly to?: Date | undefined }>(
  { from, to, ...same }: A
) => ({ ...same, startTime: { ...(from && { gte: from }), ...(to && { lte: to }) } })

const Cancelling = Schema.NullOr(Schema.Struct({ reason: Schema.optional(Text) }))

/** Appointments (contract, plugins §11). */
export const bookingRoutes = (settings: AppointmentSettings) => [
  routes.list("/bookings", {
    summary: "List appointments",
    description: "The latest first.",
    permission: manage,
    query: filters,
    success: bookings.Row
  }).handle(({ db, page, query }) => db.table(bookings).page(whereOf(query), page, ["-startTime"])),
  routes.post("/bookings", {
    summary: "Book an appointment",
    description:
      "Without `providerId` of any provider who is free. Staff may name the customer, others get 403. With `paymentMethodId` it is paid in advance, as at a checkout: 422 CHECKOUT_FAILED gives the time up. 409 when the time is taken, 422 when it cannot be booked.",
    ...booker,
    input: Schema.Struct({
      ...NewBooking.fields,
      paymentMethodId: Schema.optional(Text),
      paymentMethodToken: Schema.optional(Text)
    }),
    success: Schema.Struct({
      booking: bookings.Row,
      paymentIntent: Schema.optional(
        Schema.Struct({ orderId: OrderId, clientSecret: Schema.NullOr(Schema.String) })
      )
    })
  }).handle((call) => {
    const { paymentMethodId, paymentMethodToken, ...input } = call.input
    return paymentMethodId === undefined
      ? Effect.map(book(call, settings, call.actor, input), (made) => ({ booking: made }))
      : bookAndPay(call, settings, call.actor, { ...input, paymentMethodId, paymentMethodToken })
  }),
  routes.get("/bookings/:id", {
    summary: "Get an appointment",
    description: "404 without it.",
    permission: manage,
    success: bookings.Row
  }).handle(({ db, params }) => db.table(bookings).get(params.id)),
  ...(["confirm", "noShow"] as const).map((move) =>
    routes.post(move === "confirm" ? "/bookings/:id/confirm" : "/bookings/:id/no-show", {
      summary: move === "confirm" ? "Confirm an appointment" : "Note that the customer did not come",
      description: `404 without it. ${state}`,
      permission: manage,
      success: bookings.Row
    }).handle((call) => moveWithNotice(call, move, call.params.id))
  ),
  routes.post("/bookings/:id/complete", {
    summary: "Complete an appointment",
    description: `One that is not confirmed, too. 404 without it. ${state}`,
    permission: manage,
    success: bookings.Row
  }).handle(({ db, params }) => db.use(booking).move("complete", params.id))
]

/** What customers do with their appointments, and staff with all (contract, plugins §11). */
export const ownBookingRoutes = (settings: AppointmentSettings) => [
  routes.post("/bookings/:id/cancel", {
    summary: "Cancel an appointment",
    description: `${missing} ${state}`,
    auth: true,
    input: Cancelling,
    success: Schema.Struct({ booking: bookings.Row, refunded: Schema.Boolean })
  }).handle((call) =>
    Effect.map(
      cancel(call, settings, call.params.id, call.input?.reason ?? null),
      (one) => ({ booking: one, refunded: one.paymentStatus === "refunded" })
    )
  ),
  routes.post("/bookings/:id/reschedule", {
    summary: "Move an appointment to another time of its provider",
    description:
      `A refusal leaves it as it was: 409 when the time is taken or its payment is under way, 422 when it cannot be booked. ${missing} ${state}`,
    auth: true,
    input: Schema.Struct({ newStartTime: Moment }),
    success: Schema.Struct({ oldBooking: bookings.Row, newBooking: bookings.Row })
  }).handle((call) => reschedule(call, settings, call.params.id, call.input.newStartTime)),
  routes.list("/my-bookings", {
    summary: "List the appointments of the customer",
    description: "The latest first.",
    auth: true,
    query: { status: filters.status, from: filters.from, to: filters.to },
    success: bookings.Row
  }).handle((call) => call.db.use(mine).page(whereOf(call.query), call.page, ["-startTime"])),
  routes.get("/my-bookings/:id", {
    summary: "Get an appointment of the customer",
    description: missing,
    auth: true,
    success: bookings.Row
  }).handle((call) => call.db.use(mine).get(call.params.id))
]
