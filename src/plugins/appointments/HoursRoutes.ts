import { Effect, Schema } from "effect"
import { about, type Actor, date, inputOf, invalid, notFound, resource, Uuid } from "stoa/plugin"
import { removeWeek } from "./AppointmentsRepo.ts"
import {
  breaks,
  manage,
  overrides,
  providers,
  routes,
  serviceTypes,
  type Tools,
  weeklyHours
} from "./AppointmentTables.ts"
import { customerOf } from "./Customers.ts"
import { day } from "./LocalTime.ts"
import { askedOf, dayOf, offersOf } from "./Openings.ts"
import { mergedSlots, slotsOf, type Span } from "./Slots.ts"

class HoursOverlap
  extends invalid("HoursOverlap", "schedules", "schedules must not have hours of one day that overlap.")
{}
/** Below a megabyte of an answer that anyone may ask for. */
const mostSlots = 10_000

class DaysNotInOrder
  extends invalid("DaysNotInOrder", "to", "to must be the day of from, or at most a year after it.")
{}
class TooManySlots extends invalid(
  "TooManySlots",
  "to",
  `There are more than ${mostSlots} free times from that day to this one. Ask for fewer days.`
) {}
class ProviderNotFound extends notFound("Provider", "Provider not found.") {}
class ServiceNotFound extends notFound("Service", "Service not found.") {}

const shoppers = { public: "Shoppers choose a time." }
/** A list of an unknown provider is empty. */
const parts = {
  of: { table: providers, noun: "provider" },
  read: shoppers,
  write: manage,
  get: false,
  patch: false
} as const
const ofProvider = "/availability/:providerId"
const missing = "404 without it."
const times = "Times are local ones of the provider."
const WeeklyHours = inputOf(weeklyHours, { without: ["providerId"] })
const Week = Schema.Struct({
  schedules: Schema.Array(WeeklyHours).check(Schema.isMaxLength(200)).pipe(
    about("All weekly hours; they replace those before.")
  )
})

const requireProvider = Effect.fnUntraced(function*({ db }: Tools, id: string) {
  const provider = yield* db.table(providers).find(id)
  return provider ?? (yield* new ProviderNotFound())
})

const requireApart = (hours: typeof Week.Type["schedules"]) => {
  const sorted = hours.toSorted((a, b) => a.dayOfWeek - b.dayOfWeek || (a.startTime < b.startTime ? -1 : 1))
  const isMet = sorted.some((one, n) => {
    const next = sorted[n + 1]
    return next?.dayOfWeek === one.dayOfWeek && (one.endTime === "00:00" || next.startTime < one.endTime)
  })
  return isMet ? Effect.fail(new HoursOverlap()) : Effect.void
}

/** The weekly hours of a provider in place of those before; of several at once one whole week stays. */
const replaceWeek = Effect.fn("Hours.replaceWeek")(
  function*({ db }: Tools, providerId: string, hours: typeof Week.Type["schedules"]) {
    yield* requireApart(hours)
    yield* db.table(providers).lock(providerId)
    yield* db.use(removeWeek)(providerId)
    return hours.length === 0
      ? []
      : yield* db.table(weeklyHours).insertMany(hours.map((one) => ({ ...one, providerId })))
  },
  (work, { db }) => db.transaction(work)
)

/** Free times of one provider or of all, from one local day to another. */
const openingsOf = Effect.fnUntraced(
  function*(
    tools: Tools & { readonly actor: Actor },
    serviceTypeId: string,
    from: string,
    to: string,
    providerId?: string
  ) {
    const service = yield* tools.db.table(serviceTypes).find({ id: serviceTypeId, isActive: true })
    if (service === undefined) return yield* new ServiceNotFound()
    const asked = yield* askedOf(service, dayOf(from), dayOf(to))
    return {
      asked,
      offers: yield* offersOf(tools, service, asked, { providerId, customerId: customerOf(tools.actor) })
    }
  }
)

const Day = Schema.String.check(Schema.makeFilter(Schema.is(date.schema)))
// Texts, because a year has tens of thousands of them: to encode as many dates takes most of a request.
const Moment = Schema.String.annotate({ format: "date-time" })
const Slot = Schema.Struct({
  start: Moment.pipe(about("Begin of the appointment, ISO 8601 in UTC.")),
  end: Moment.pipe(about("End of the appointment, ISO 8601 in UTC."))
})
const shown = ({ end, start }: Span) => ({ start: new Date(start).toISOString(), end: new Date(end).toISOString() })

/** When providers work, and when they are free (contract, plugins §11). */
export const hoursRoutes = [
  routes.list(`${ofProvider}/weekly`, {
    summary: "List weekly hours",
    description: times,
    ...shoppers,
    success: weeklyHours.Row
  })
    .handle(({ db, page, params }) => db.table(weeklyHours).page(params, page, ["dayOfWeek", "startTime"])),
  routes.put(`${ofProvider}/weekly`, {
    summary: "Replace the weekly hours",
    description: `Several a day are allowed. ${times} 404 without the provider, 422 for hours that overlap.`,
    permission: manage,
    input: Week,
    strict: true,
    success: Schema.Array(weeklyHours.Row)
  }).handle((call) => replaceWeek(call, call.params.providerId, call.input.schedules)),
  ...resource(routes, `${ofProvider}/breaks`, breaks, {
    ...parts,
    noun: "break",
    rowId: "breakId",
    list: {
      summary: "List breaks",
      description: times,
      answer: ({ db, page, where }) => db.table(breaks).page(where, page, ["startTime", "id"])
    },
    create: {
      summary: "Add a break",
      description:
        `Every day without \`dayOfWeek\`. ${times} 404 without the provider, 422 when it ends before it begins.`
    },
    remove: { summary: "Remove a break", description: missing }
  }),
  ...resource(routes, `${ofProvider}/overrides`, overrides, {
    ...parts,
    noun: "override",
    rowId: "overrideId",
    list: {
      summary: "List days with other hours",
      description: times,
      query: { from: Schema.optional(Day), to: Schema.optional(Day) },
      answer: ({ db, page, query: { from, to }, where }) =>
        from !== undefined && to !== undefined && to < from
          ? Effect.fail(new DaysNotInOrder())
          : db.table(overrides).page({ ...where, date: { ...(from && { gte: from }), ...(to && { lte: to }) } }, page, [
            "date"
          ])
    },
    create: {
      summary: "Set other hours for a day, or none",
      description: `${times} 404 without the provider, 409 for a day that has some, 422 for one time without the other.`
    },
    remove: { summary: "Delete other hours of a day", description: missing }
  }),
  routes.get(`${ofProvider}/slots`, {
    summary: "List the free times of a provider on a day",
    description: "`date` is a day of the provider's time zone. 404 without provider or service.",
    ...shoppers,
    query: { date: Day, serviceTypeId: Uuid },
    success: Schema.Array(Slot)
  }).handle((call) =>
    Effect.gen(function*() {
      const { date: on, serviceTypeId } = call.query
      const { id } = yield* requireProvider(call, call.params.providerId)
      const { asked, offers } = yield* openingsOf(call, serviceTypeId, on, on, id)
      return offers.flatMap(({ agenda, visit }) => slotsOf(agenda, visit, asked)).map(shown)
    })
  ),
  routes.get("/availability/slots", {
    summary: "List the free times of all providers of a service",
    description:
      "From one day to another, of the providers' time zones. 404 without the service, 422 for more than a year or 10,000 times.",
    ...shoppers,
    query: { from: Day, to: Day, serviceTypeId: Uuid },
    success: Schema.Array(
      Schema.Struct({ ...Slot.fields, providers: Schema.Int.pipe(about("Number of providers who are free.")) })
    )
  }).handle((call) =>
    Effect.gen(function*() {
      const { from, serviceTypeId, to } = call.query
      if (to < from || dayOf(to) - dayOf(from) > 366 * day) return yield* new DaysNotInOrder()
      const { asked, offers } = yield* openingsOf(call, serviceTypeId, from, to)
      const slots = mergedSlots(offers, asked)
      if (slots.length > mostSlots) return yield* new TooManySlots()
      return slots.map(({ providers, ...span }) => ({ ...shown(span), providers }))
    })
  )
]
