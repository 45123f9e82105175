import { Effect, Schema } from "effect"
import {
  about,
  type ListCall,
  Moment,
  moveOf,
  OrderId,
  ownedBy,
  requireWindow,
  resource,
  Text,
  Until
} from "stoa/plugin"
import { bookings, manage, routes } from "./AppointmentTables.ts"
import { book, booking, cancel, moveWithNotice, NewBooking, OfProvider, reschedule } from "./Bookings.ts"
import { booker, ofOwnProviders, reader } from "./Customers.ts"
import type { AppointmentSettings } from "./Notices.ts"
import { bookAndPay } from "./Payments.ts"

const missing = "404 without it, and for another one's."
const state = "422 INVALID_TRANSITION from another state."

const range = {
  from: Schema.optional(Moment),
  to: Schema.optional(Until)
}

const order = ["-startTime"] as const

const list = {
  summary: "List appointments",
  description: "The latest first; with `appointments:read:own` only of the providers with the caller's login.",
  query: range,
  answer: ({ db, page, query: { from, to }, where }: ListCall<typeof bookings, typeof range>) =>
    Effect.andThen(
      requireWindow({ from, to }, "from", "to"),
      db.table(bookings).page(
        { ...where, startTime: { ...(from && { gte: from }), ...(to && { lt: to }) } },
        page,
        order
      )
    )
}

const Cancelling = Schema.NullOr(Schema.Struct({ reason: Schema.optional(Text) }))

/** Appointments (contract, plugins §11). */
export const bookingRoutes = (settings: AppointmentSettings) => [
  ...resource(routes, "/bookings", bookings, {
    noun: "appointment",
    read: reader,
    write: booker,
    visible: ofOwnProviders,
    filters: ["providerId", "serviceTypeId", "customerId", "status"],
    order,
    list,
    create: {
      summary: "Book an appointment",
      description:
        "Without `providerId` of any provider who is free. Staff may name the customer, others get 403. With `paymentMethodId` it is paid in advance, as at a checkout: 422 CHECKOUT_FAILED gives the time up. 409 when the time is taken, 422 when it cannot be booked.",
      rate: "checkout",
      input: Schema.Struct({
        ...NewBooking.fields,
        paymentMethodId: Schema.optional(Text),
        paymentMethodToken: Schema.optional(Text).pipe(about("Instrument, as the provider names it."))
      }),
      success: Schema.Struct({
        booking: bookings.Row,
        paymentIntent: Schema.optional(
          Schema.Struct({
            orderId: OrderId,
            clientSecret: Schema.NullOr(Schema.String).pipe(
              about("Given to the provider's script, which confirms the payment; null: nothing to confirm.")
            )
          })
        ).pipe(about("Payment in advance; absent: it is paid at the visit."))
      }),
      answer: (call) => {
        const { paymentMethodId, paymentMethodToken, ...input } = call.input
        return paymentMethodId === undefined
          ? Effect.map(book(call, settings, call.actor, input), (made) => ({ booking: made }))
          : bookAndPay(call, settings, call.actor, { ...input, paymentMethodId, paymentMethodToken })
      }
    },
    patch: false,
    remove: false
  }),
  ...(["confirm", "noShow"] as const).map((move) =>
    moveOf(routes, "/bookings", booking, move, {
      summary: move === "confirm" ? "Confirm an appointment" : "Mark an appointment as a no-show",
      description: `404 without it. ${state}`,
      allowed: manage,
      answer: (call) => moveWithNotice(call, move, call.params.id)
    })
  ),
  moveOf(routes, "/bookings", booking, "complete", {
    summary: "Complete an appointment",
    description: `One that is not confirmed, too. 404 without it. ${state}`,
    allowed: manage
  })
]

/** What customers do with their appointments, and staff with all (contract, plugins §11). */
export const ownBookingRoutes = (settings: AppointmentSettings) => [
  routes.post("/bookings/:id/cancel", {
    summary: "Cancel an appointment",
    description: `${missing} ${state}`,
    auth: true,
    input: Cancelling,
    success: Schema.Struct({
      booking: bookings.Row,
      refunded: Schema.Boolean.pipe(about("A payment in advance went back."))
    })
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
    input: Schema.Struct({ newStartTime: OfProvider }),
    success: Schema.Struct({
      oldBooking: bookings.Row.pipe(about("The appointment before, which is cancelled.")),
      newBooking: bookings.Row.pipe(about("The appointment in its place."))
    })
  }).handle((call) => reschedule(call, settings, call.params.id, call.input.newStartTime)),
  ...resource(routes, "/my-bookings", bookings, {
    noun: "appointment of the customer",
    read: { auth: true },
    filters: ["status"],
    order,
    visible: ownedBy(bookings, { user: "customerId" }),
    list: { ...list, summary: "List the appointments of the customer", description: "The latest first." }
  })
]
