import { DateTime, Effect, Schema } from "effect"
import { dueTask, type MailPurpose, mailTemplate, option, type PluginContext } from "stoa/plugin"
import { type Booking, bookings, providers, serviceTypes, type Tools } from "./AppointmentTables.ts"

/** What a deployment decides of its appointments. */
export const AppointmentSettings = Schema.Struct({
  reminderHours: option(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 720 }))), {
    default: [24, 1],
    description: "How many hours before an appointment its customer is reminded"
  }),
  autoCancelHours: option(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 720 })), {
    default: 24,
    description:
      "How many hours before it begins an appointment is cancelled that was not confirmed and is not paid by card; 0: never"
  }),
  autoConfirm: option(Schema.Boolean, {
    default: false,
    description: "Confirms an appointment as soon as it is booked, or paid where it is paid in advance"
  }),
  cancelHours: option(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 720 })), {
    default: 0,
    description: "Until how many hours before it begins customers can cancel or move an appointment; staff always can"
  }),
  payMinutes: option(Schema.Int.check(Schema.isBetween({ minimum: 5, maximum: 1_440 })), {
    default: 30,
    description: "How many minutes a time is held for a payment in advance"
  }),
  offerMinutes: option(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_080 })), {
    default: 120,
    description: "How many minutes a time that became free is held for the first who waits for it"
  })
})
export type AppointmentSettings = typeof AppointmentSettings.Type

/** The next moment that is so many hours before the beginning; null: none is left. */
export const momentBefore = (startTime: Date, now: number, hours: ReadonlyArray<number>): Date | null => {
  const start = DateTime.makeUnsafe(startTime)
  const moments = hours.map((one) => DateTime.subtract(start, { hours: one }))
    .filter((one) => one.epochMilliseconds > now)
    .toSorted((a, b) => a.epochMilliseconds - b.epochMilliseconds)
  return moments[0] === undefined ? null : DateTime.toDateUtc(moments[0])
}

const Noticed = Schema.Struct({
  customerName: Schema.String,
  service: Schema.String,
  provider: Schema.String,
  startTime: Schema.String,
  timezone: Schema.String,
  reason: Schema.NullOr(Schema.String),
  until: Schema.NullOr(Schema.String),
  /** For the provider. Optional: mails that wait may have been written without it. */
  customer: Schema.optional(Schema.NullOr(Schema.String))
})

/** A mail about an appointment: a sentence that says what of it, with its time in the zone of the provider. */
const notice = (name: string, subject: string, sentence: string, purpose: MailPurpose = "transactional") =>
  mailTemplate({
    name: `appointments/${name}`,
    purpose,
    data: Noticed,
    sample: {
      customerName: "Ann",
      service: "Haircut",
      provider: "Grace",
      startTime: "2026-12-01T09:00:00.000Z",
      timezone: "Europe/Vienna",
      reason: null,
      until: null
    },
    texts: {
      en: (
        { customer = null, customerName, provider, reason, service, startTime, timezone, until },
        { locale, storeName }
      ) => {
        const timeOf = (at: string) =>
          DateTime.format(DateTime.makeZonedUnsafe(at, { timeZone: timezone }), {
            locale,
            dateStyle: "full",
            timeStyle: "short"
          })
        return {
          subject: `${subject} at ${storeName}`,
          paragraphs: [
            `Dear ${customerName},`,
            `${sentence} ${service} with ${provider} on ${timeOf(startTime)} (${timezone}).`,
            ...(customer === null ? [] : [`Customer: ${customer}`]),
            ...(reason === null ? [] : [`Reason: ${reason}`]),
            ...(until === null ? [] : [`It is held for you until ${timeOf(until)}.`])
          ]
        }
      }
    }
  })

export const notices = {
  reminder: notice("reminder", "Your appointment", "We look forward to seeing you:"),
  confirmation: notice("confirmation", "Your appointment is confirmed", "Your appointment is confirmed:"),
  cancellation: notice("cancellation", "Your appointment is cancelled", "Your appointment is cancelled:"),
  move: notice("move", "Your appointment has another time", "Your appointment is now:"),
  noShow: notice("no-show", "You missed your appointment", "You missed your appointment:"),
  booked: notice("booked", "An appointment with you", "You have an appointment:", "order"),
  withdrawn: notice(
    "withdrawn",
    "An appointment with you is cancelled",
    "This appointment with you is cancelled:",
    "order"
  ),
  opening: notice("opening", "A time is free", "A time that you wait for is free:", { category: "waiting-list" })
}

/** Mails a customer about an appointment, once for a key and exactly if the caller's transaction commits. */
export const notify = Effect.fn("Notices.notify")(function*(
  { db, services }: Tools,
  name: keyof typeof notices,
  { cancellationReason, providerId, serviceTypeId, startTime }: Pick<
    Booking,
    "cancellationReason" | "providerId" | "serviceTypeId" | "startTime"
  >,
  { customer, email, key, person, until }: {
    readonly customer?: string
    readonly email: string
    readonly key: string
    readonly person: string
    readonly until?: Date
  }
) {
  // A customer who was erased has no address.
  if (!services.mail.isOn || email === "") return
  const provider = yield* db.table(providers).find(providerId)
  const service = yield* db.table(serviceTypes).find(serviceTypeId)
  yield* services.mail.send(notices[name], {
    to: email,
    key,
    data: {
      customerName: person,
      service: service?.name ?? "",
      provider: provider?.name ?? "",
      startTime: startTime.toISOString(),
      timezone: provider?.timezone ?? "UTC",
      reason: cancellationReason,
      until: until?.toISOString() ?? null,
      customer: customer ?? null
    }
  })
})

/** The same, about the appointment of this customer. */
export const notifyCustomer = (tools: Tools, name: keyof typeof notices, booking: Booking, key = booking.id) =>
  notify(tools, name, booking, { email: booking.customerEmail, key, person: booking.customerName })

/** Mails a provider about an appointment with them, if they have an address. */
export const notifyProvider = Effect.fn("Notices.notifyProvider")(
  function*(tools: Tools, name: "booked" | "withdrawn", booking: Booking) {
    const provider = yield* tools.db.table(providers).find(booking.providerId)
    if (provider === undefined || provider.email === null) return
    yield* notify(tools, name, booking, {
      customer: booking.customerName,
      email: provider.email,
      key: booking.id,
      person: provider.name
    })
  }
)

/**
 * Reminds of appointments that are to come. The time of the next reminder is a column of the appointment, so that a change of
 * it supersedes what was to be sent. One that is about to be cancelled because it was not confirmed gets none.
 */
export const reminders = (context: PluginContext, { reminderHours }: AppointmentSettings) =>
  dueTask(context, {
    slug: "appointments/reminder",
    schedule: "* * * * *",
    of: bookings,
    where: (now) => ({
      status: { in: ["provisional", "confirmed"] },
      remindAt: { lte: now },
      or: [{ status: "confirmed" }, { autoCancelAt: null }, { autoCancelAt: { gt: now } }]
    }),
    each: Effect.fnUntraced(function*(booking, tools) {
      const now = DateTime.toEpochMillis(yield* DateTime.now)
      const { id, remindAt, startTime } = booking
      yield* tools.db.table(bookings).update(id, { remindAt: momentBefore(startTime, now, reminderHours) })
      if (startTime.getTime() > now) {
        yield* notifyCustomer(tools, "reminder", booking, `${id}/${remindAt?.toISOString()}`)
      }
    })
  })
