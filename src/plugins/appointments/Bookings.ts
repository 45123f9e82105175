import { DateTime, Effect, Schema, Struct } from "effect"
import {
  type Actor,
  Conflict,
  conflict,
  CurrentActor,
  dueTask,
  holds,
  inputOf,
  invalid,
  InvalidTransition,
  machine,
  type OrderId,
  ownedBy,
  type PluginContext,
  SentMoment
} from "stoa/plugin"
import { type Booking, bookings, manage, serviceTypes, type Tools } from "./AppointmentTables.ts"
import { namedCustomer, requireOwnEmail } from "./Customers.ts"
import { day, minute } from "./LocalTime.ts"
import { type AppointmentSettings, momentBefore, notifyCustomer, notifyProvider } from "./Notices.ts"
import { askedOf, isStep, type Offer, offersOf, timeOf } from "./Openings.ts"
import { type Asked, slotsOf } from "./Slots.ts"
import { offer, stopWaiting } from "./WaitingList.ts"

class UnknownService
  extends invalid("UnknownService", "serviceTypeId", "serviceTypeId must be a service that can be booked.")
{}
class NotOffered
  extends invalid("NotOffered", "providerId", "providerId must be a provider that offers this service.")
{}
class NoSuchSlot extends invalid("NoSuchSlot", "startTime", "startTime must be a time at which this can be booked.") {}
class NoStep extends invalid(
  "NotAStep",
  "startTime",
  (step: number) => `startTime must be at a full hour of the provider, or a multiple of ${step} minutes after one.`
) {}
class PaymentRuns extends conflict("PaymentRuns", "The payment of this appointment is under way.") {}
/** A payment in advance is not possible. */
export class NotSold extends invalid(
  "NotSold",
  "paymentMethodId",
  "paymentMethodId can only be given for the payment method card and a service with a price that the catalog sells."
) {}
class NotBegun extends invalid("NotBegun", "", "The appointment has not begun.") {}
class TooLate extends invalid(
  "TooLate",
  "",
  (hours: number) => `Less than ${hours} hours are left until the appointment: only staff can change it.`
) {}
class HasBegun extends invalid("HasBegun", "", "The appointment has begun: only staff can change it.") {}
class SlotTaken extends conflict("SlotTaken", "This time is taken.") {}

const rescheduled = "Rescheduled"

/** What becomes of an appointment (contract, plugins §11). Times that are over block no others. */
export const booking = machine(bookings, {
  noun: "appointment",
  moves: {
    confirm: { from: ["provisional"], to: "confirmed", emits: "appointment.confirmed" },
    complete: { from: ["provisional", "confirmed"], to: "completed", emits: "appointment.completed" },
    noShow: { from: ["confirmed"], to: "no_show", emits: "appointment.no_show" },
    cancel: { from: ["provisional", "confirmed"], to: "cancelled", emits: "appointment.cancelled" }
  }
})

/** Customers see and change the appointments that are theirs, staff all. */
export const own = ownedBy(bookings, { user: "customerId", staff: manage })

const description = "ISO 8601. A time without an offset is local to the provider, or to the store where none is named."
export const OfProvider = SentMoment.annotate({ description })

export const NewBooking = Schema.Struct({
  ...inputOf(bookings, {
    required: ["serviceTypeId", "customerName", "customerEmail", "paymentMethod"],
    optional: ["providerId", "customerId", "customerPhone", "notes", "metadata"]
  }).fields,
  startTime: OfProvider
})

interface Wish {
  readonly serviceTypeId: string
  readonly startTime: Date
  readonly providerId?: string | undefined
  readonly customerId: string
  /** The appointment that takes place then instead of when it did. */
  readonly without?: string
}

/** Those who are free at a time, with what they have to do around it. */
const freeAt = (offers: ReadonlyArray<Offer>, asked: Asked, start: number) =>
  offers.flatMap((one) =>
    slotsOf(one.agenda, one.visit, asked).filter((slot) => slot.start === start).map((slot) => ({ ...one, slot }))
  )

/**
 * The provider, times and price of an appointment that is wished for, by the generator of the slots and with the providers locked
 * until the transaction ends; of several who are free the one with the least to do around it. 422 for what cannot be booked,
 * 409 for a time that is taken.
 */
const placed = Effect.fnUntraced(function*(
  tools: Tools,
  { autoCancelHours, reminderHours }: AppointmentSettings,
  { serviceTypeId, startTime, ...which }: Wish
) {
  const service = yield* tools.db.table(serviceTypes).find(serviceTypeId)
  if (service?.isActive !== true) return yield* new UnknownService()
  const start = startTime.getTime()
  const date = Math.floor(start / day) * day
  const asked = yield* askedOf(service, date - day, date + day)
  if (start < asked.earliest || start > asked.latest) return yield* new NoSuchSlot()
  const offers = yield* offersOf(tools, service, asked, { ...which, lock: true })
  if (offers.length === 0) return yield* new NotOffered()
  const { startStepMinutes: step } = service
  if (step !== null && !offers.some(({ provider }) => isStep(service, provider, startTime))) {
    return yield* new NoStep(step)
  }
  const [first] = freeAt(offers, asked, start).toSorted((a, b) => a.agenda.taken.length - b.agenda.taken.length)
  if (first === undefined) {
    const idle = offers.map((one) => ({ ...one, agenda: { ...one.agenda, taken: [] } }))
    return yield* freeAt(idle, asked, start).length > 0 ? new SlotTaken() : new NoSuchSlot()
  }
  const now = DateTime.toEpochMillis(yield* DateTime.now)
  const at = (millis: number) => DateTime.toDateUtc(DateTime.makeUnsafe(millis))
  const { priceCents, provider, slot, visit } = first
  return {
    serviceTypeId,
    providerId: provider.id,
    startTime,
    endTime: at(slot.end),
    blockedFrom: at(slot.start - visit.bufferBeforeMinutes * minute),
    blockedUntil: at(slot.end + visit.bufferAfterMinutes * minute),
    priceCents,
    currency: service.currency,
    remindAt: momentBefore(startTime, now, reminderHours),
    cancelsAt: autoCancelHours === 0 ? null : momentBefore(startTime, now, [autoCancelHours])
  }
})

/** Makes a move of staff and mails the customer about it, in the caller's transaction. 422 for a no-show before the beginning. */
export const moveWithNotice = Effect.fn("Bookings.move")(
  function*(tools: Tools, move: "confirm" | "noShow", id: string) {
    if (move === "noShow" && (yield* tools.db.use(booking).lock(move, id)).startTime > (yield* DateTime.nowAsDate)) {
      return yield* new NotBegun()
    }
    const moved: Booking = yield* tools.db.use(booking).move(move, id)
    yield* notifyCustomer(tools, move === "confirm" ? "confirmation" : "noShow", moved)
    return moved
  }
)

/** Mails the provider about an appointment that waits for no payment, and confirms it with `autoConfirm`. */
export const announce = Effect.fnUntraced(function*(tools: Tools, { autoConfirm }: AppointmentSettings, one: Booking) {
  yield* notifyProvider(tools, "booked", one)
  return autoConfirm && one.status === "provisional" ? yield* moveWithNotice(tools, "confirm", one.id) : one
})

/** Books a time of a provider, or of any who is free. 403 for another customer; 409 and 422 as of `placed`. */
export const book = Effect.fn("Bookings.book")(function*(
  tools: Tools,
  settings: AppointmentSettings,
  actor: Actor,
  { customerId, providerId, serviceTypeId, startTime: sent, ...rest }: typeof NewBooking.Type,
  /** When it is given up unless it was paid; null: it is paid at the visit. */
  payBy: Date | null = null
) {
  yield* requireOwnEmail(actor, rest.customerEmail)
  const customer = yield* namedCustomer(tools, actor, customerId)
  // Moving an appointment has this turn before it locks providers.
  yield* tools.db.turn(bookings)
  const startTime = yield* timeOf(tools, providerId, sent)
  const wish = { serviceTypeId, providerId, startTime, customerId: customer }
  const { cancelsAt, ...place } = yield* placed(tools, settings, wish)
  const autoCancelAt = rest.paymentMethod === "card" ? null : cancelsAt
  if (payBy !== null && place.priceCents === 0) return yield* new NotSold()
  const made = yield* tools.db.table(bookings).insert({
    ...rest,
    ...place,
    ...(payBy !== null && { payBy, paymentStatus: "pending" }),
    customerId: customer,
    autoCancelAt
  })
  yield* stopWaiting(tools, made)
  return payBy === null ? yield* announce(tools, settings, made) : made
}, (work, { db }) => db.transaction(work))

/** Locks an appointment that can be cancelled; customers change it until `cancelHours` before it begins, so that none escapes a no-show. 404 for another one's. */
const changeable = Effect.fnUntraced(
  function*(tools: Tools, { cancelHours }: AppointmentSettings, id: string) {
    const found = yield* tools.db.use(booking).lock("cancel", yield* tools.db.use(own).which(id))
    if (holds(yield* CurrentActor, manage)) return found
    const left = found.startTime.getTime() - DateTime.toEpochMillis(yield* DateTime.now)
    if (left <= 0) return yield* new HasBegun()
    return left < cancelHours * 60 * minute ? yield* new TooLate(cancelHours) : found
  }
)

/** Moves an appointment to another time of its provider, in one transaction: a time that cannot be booked leaves it as it was. */
export const reschedule = Effect.fn("Bookings.reschedule")(function*(
  tools: Tools,
  settings: AppointmentSettings,
  id: string,
  newStartTime: string
) {
  const { db } = tools
  const before = yield* changeable(tools, settings, id)
  if (before.paymentStatus === "pending") return yield* new PaymentRuns()
  const { customerId, paymentMethod, providerId } = before
  const { cancelsAt, ...place } = yield* placed(tools, settings, {
    serviceTypeId: before.serviceTypeId,
    providerId,
    customerId,
    startTime: yield* timeOf(tools, providerId, newStartTime),
    without: id
  })
  const oldBooking = yield* db.use(booking).move("cancel", id, {
    cancellationReason: rescheduled,
    orderId: null,
    paymentStatus: "none"
  })
  const newBooking = yield* db.table(bookings).insert({
    ...place,
    // What was agreed stays, and the same order pays for it.
    ...Struct.pick(before, ["currency", "priceCents", "orderId", "paymentStatus", "paymentMethod", "customerId"]),
    ...Struct.pick(before, ["customerEmail", "customerName", "customerPhone", "metadata", "notes"]),
    autoCancelAt: paymentMethod === "card" ? null : cancelsAt,
    rescheduledFromId: id
  })
  yield* notifyCustomer(tools, "move", newBooking)
  yield* notifyProvider(tools, "withdrawn", oldBooking)
  yield* notifyProvider(tools, "booked", newBooking)
  yield* offer(tools, settings, oldBooking)
  return { oldBooking, newBooking }
}, (work, { db }) => db.transaction(work))

/** Gives back what an order has paid, if it was not yet; the money moves by itself afterwards. */
export const giveBack = ({ services: { refunds } }: Tools, orderId: OrderId) =>
  Effect.gen(function*() {
    const { cap } = yield* refunds.cap(orderId)
    if (cap > 0) yield* refunds.request(orderId, { reason: "The appointment is cancelled." })
  }).pipe(
    // Staff has refunded the order meanwhile.
    Effect.catchIf(Schema.is(Conflict), () => Effect.void),
    Effect.updateService(CurrentActor, (actor) => ({ ...actor, permissions: [...actor.permissions, "orders:update"] }))
  )

/** What a cancelled appointment has cost goes back; a payment that is under way goes back once it comes. */
const endPayment = Effect.fnUntraced(function*(tools: Tools, { orderId, paymentStatus }: Booking) {
  if (paymentStatus === "pending") return { paymentStatus: "failed", payBy: null } as const
  if (paymentStatus !== "paid" || orderId === null) return {}
  yield* giveBack(tools, orderId)
  return { paymentStatus: "refunded" } as const
})

/** Cancels an appointment, gives back what was paid, tells its customer and offers the time to who waits for it. 404 for another one's. */
export const cancel = Effect.fn("Bookings.cancel")(
  function*(tools: Tools, settings: AppointmentSettings, id: string, reason: string | null) {
    const before = yield* changeable(tools, settings, id)
    const payment = yield* endPayment(tools, before)
    const cancelled = yield* tools.db.use(booking).move("cancel", id, { cancellationReason: reason, ...payment })
    yield* notifyCustomer(tools, "cancellation", cancelled)
    // The provider does not know of one that is being paid.
    if (before.paymentStatus !== "pending") yield* notifyProvider(tools, "withdrawn", cancelled)
    yield* offer(tools, settings, cancelled)
    return cancelled
  },
  (work, { db }) => db.transaction(work)
)

/** Cancels what erased customers have booked: their rows have no address any more, so no mail is sent. */
export const cancelOfErased = (settings: AppointmentSettings) =>
  Effect.fn("Bookings.cancelOfErased")(function*(tools: Tools) {
    const toCome = { status: { in: ["provisional", "confirmed"] as const }, endTime: { gt: yield* DateTime.nowAsDate } }
    const found = yield* tools.db.table(bookings).list({ ...toCome, customerEmail: "" })
    yield* Effect.forEach(found, ({ id }) =>
      // Another call has cancelled it.
      Effect.catchIf(cancel(tools, settings, id, null), Schema.is(InvalidTransition), () => Effect.void), {
      discard: true
    })
  })

/** Cancels what was not confirmed in time and is not paid by card. */
export const autoCancel = (context: PluginContext, settings: AppointmentSettings) =>
  dueTask(context, {
    slug: "appointments/auto-cancel",
    schedule: "* * * * *",
    of: bookings,
    where: (now) => ({ status: "provisional", autoCancelAt: { lte: now } }),
    each: ({ id }, tools) => cancel(tools, settings, id, "Not confirmed in time.")
  })
