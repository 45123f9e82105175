import { DateTime, Effect, Schema } from "effect"
import {
  type Actor,
  CheckoutFailed,
  CurrencyCode,
  CurrentActor,
  dueTask,
  type EntityId,
  NotFound,
  type Order,
  OrderId,
  type PluginCall,
  type PluginContext,
  systemActor,
  ValidationFailed
} from "stoa/plugin"
import { type Booking, bookings, serviceTypes, type Tools } from "./AppointmentTables.ts"
import { announce, book, cancel, giveBack, type NewBooking, NotSold } from "./Bookings.ts"
import type { AppointmentSettings } from "./Notices.ts"
import { appointmentOf } from "./Prices.ts"

/** How a payment in advance is made: as at a checkout. */
interface Means {
  readonly paymentMethodId: string
  readonly paymentMethodToken?: string | undefined
}

/** As the service itself, which may write orders and refunds of customers. */
const asService = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    CurrentActor,
    ({ organizationId }) => Effect.provideService(work, CurrentActor, systemActor(organizationId))
  )

/**
 * The appointment that an order pays for, locked. One that is moved takes its order with it, maybe while its row is waited for:
 * then it is looked for again.
 */
const lockPaid = Effect.fnUntraced(function*({ db }: Tools, orderId: OrderId, named: string) {
  const table = db.table(bookings)
  for (;;) {
    const found = (yield* table.first({ orderId })) ?? (yield* table.find(named))
    if (found === undefined) return undefined
    const one = yield* table.lock(found.id)
    if (one.orderId === orderId || (yield* table.first({ orderId })) === undefined) return one
  }
})

const isOver = ({ status }: Order) => status === "cancelled" || status === "refunded"
const captured = ({ amountCaptured }: Order) => amountCaptured ?? 0

/** Whether the money is there or set aside: it does not wait for the shopper. */
const isPaid = (order: Order) =>
  !isOver(order) && (order.status !== "pending" || order.tenders.every(({ status }) => status !== "pending"))

/** What is known of the payment of an appointment, by its order; and what follows from it. Runs as the service; may be repeated. */
export const settle = Effect.fn("Payments.settle")(
  function*(tools: Tools, settings: AppointmentSettings, order: Order) {
    const { id: orderId } = order
    const table = tools.db.table(bookings)
    const [line] = order.lineItems.flatMap(({ entityId, metadata }) => {
      const id = appointmentOf(metadata)
      return id === undefined ? [] : [{ id, entityId }]
    })
    if (line === undefined) return
    const one = yield* lockPaid(tools, orderId, line.id)
    if (one === undefined) return
    const service = yield* tools.db.table(serviceTypes).find(one.serviceTypeId)
    if (service?.entityId !== line.entityId) return
    const isIts = one.orderId === null || one.orderId === orderId
    const { paymentStatus, status } = one
    if (isIts && (paymentStatus === "pending" || paymentStatus === "paid")) {
      const isToCome = status === "provisional" || status === "confirmed"
      // What was given back later leaves the appointment to staff.
      if (isOver(order) && captured(order) === 0) {
        if (isToCome) yield* cancel(tools, settings, one.id, "It was not paid.")
      } else if (paymentStatus === "pending") {
        const paid = isPaid(order)
        const changed = yield* table.update(one.id, { orderId, ...(paid && { paymentStatus: "paid", payBy: null }) })
        if (paid && isToCome) yield* announce(tools, settings, changed)
      }
    } else if (isPaid(order) && (paymentStatus !== "none" || status === "cancelled")) {
      // Its time was given up before the money came, or another order has paid for it. One that is paid at the visit may have an
      // order of staff.
      yield* giveBack(tools, orderId)
    }
  },
  (work, { db }) => asService(db.transaction(work))
)

/** Refusals after which no money can come. */
const isRefusal = Schema.is(Schema.Union([CheckoutFailed, ValidationFailed, NotFound]))

const checkOut = Effect.fnUntraced(function*(
  { services: { cart, checkout } }: Tools,
  { currency: code, customerEmail, id }: Booking,
  entityId: EntityId,
  means: Means
) {
  const currency = CurrencyCode.make(code)
  const { id: cartId, secret } = yield* cart.create({ currency, email: customerEmail })
  const buying = Effect.gen(function*() {
    yield* cart.addItem(cartId, { entityId, quantity: 1, metadata: { appointmentId: id } })
    return yield* checkout.startOnce({ ...means, cartId, currency }, `appointment ${id}`)
  })
  return yield* Effect.updateService(buying, CurrentActor, (actor: Actor) => ({ ...actor, cartSecret: secret }))
})

/**
 * Books an appointment that is paid in advance, by a checkout of what its service is sold as. The time is held while that runs. A
 * payment that is refused gives it up at once; where the process dies, `unpaid` does, and money that comes later goes back.
 */
export const bookAndPay = Effect.fn("Payments.book")(function*(
  tools: Tools,
  settings: AppointmentSettings,
  actor: Actor,
  { paymentMethodId, paymentMethodToken, ...input }: typeof NewBooking.Type & Means
) {
  const service = yield* tools.db.table(serviceTypes).find(input.serviceTypeId)
  const entityId = service?.entityId ?? null
  if (entityId === null || input.paymentMethod !== "card") return yield* new NotSold()
  const payBy = DateTime.toDateUtc(DateTime.add(yield* DateTime.now, { minutes: settings.payMinutes }))
  const made = yield* book(tools, settings, actor, input, payBy)
  const means = { paymentMethodId, ...(paymentMethodToken !== undefined && { paymentMethodToken }) }
  const { clientSecret, order } = yield* checkOut(tools, made, entityId, means).pipe(
    Effect.tapError((error) =>
      isRefusal(error)
        ? Effect.ignore(asService(cancel(tools, settings, made.id, "It was not paid.")))
        : Effect.void
    )
  )
  yield* settle(tools, settings, order)
  const booking = yield* tools.db.table(bookings).get(made.id)
  return { booking, paymentIntent: { orderId: order.id, clientSecret } }
})

const open: ReadonlyArray<Order["status"]> = ["pending", "confirmed", "processing"]

/** Settles an appointment with its order. An order of which nothing is captured is cancelled once its appointment was given up. */
const follow = Effect.fnUntraced(function*(tools: Tools, settings: AppointmentSettings, orderId: OrderId) {
  const order = yield* tools.services.orders.get(orderId)
  yield* settle(tools, settings, order)
  const [line, ...others] = order.lineItems
  const named = appointmentOf(line?.metadata)
  if (named === undefined || others.length > 0 || captured(order) > 0 || !open.includes(order.status)) return
  // Also those that it was moved to.
  const found = yield* tools.db.table(bookings).list({ or: [{ id: named }, { orderId }] })
  const wasToBePaid = found.some(({ paymentStatus }) => paymentStatus === "failed" || paymentStatus === "refunded")
  if (!wasToBePaid || found.some(({ status }) => status !== "cancelled")) return
  yield* tools.services.orders.change(orderId, { status: "cancelled", reason: "The appointment is cancelled." })
})

type Happened = Pick<PluginCall, "db" | "services"> & { readonly event: { readonly entityId: string } }

/**
 * Events of orders, which say what became of a payment also when the request did not, and of cancelled appointments. Orders are
 * changed after the commit that cancelled the appointment, as often as it takes.
 */
export const paymentEvents = (settings: AppointmentSettings) => {
  const ofOrder = {
    only: { record: "$.lineItems[*].metadata.appointmentId" },
    handler: (tools: Happened) => follow(tools, settings, OrderId.make(tools.event.entityId))
  }
  const ofAppointment = Effect.fnUntraced(function*(tools: Happened) {
    const { orderId = null } = (yield* tools.db.table(bookings).find(tools.event.entityId)) ?? {}
    if (orderId !== null) yield* follow(tools, settings, orderId)
  })
  return { "orders.create": ofOrder, "orders.statusChange": ofOrder, "appointment.cancelled": ofAppointment }
}

/** Gives up times whose payment did not come. */
export const unpaid = (context: PluginContext, settings: AppointmentSettings) =>
  dueTask(context, {
    slug: "appointments/unpaid",
    schedule: "* * * * *",
    of: bookings,
    where: (now) => ({ status: { in: ["provisional", "confirmed"] }, paymentStatus: "pending", payBy: { lte: now } }),
    each: ({ id }, tools) => cancel(tools, settings, id, "It was not paid in time.")
  })
