import { DateTime, Effect, Schema } from "effect"
import { NotFound, notFound, oneOf, type PluginContext, table, text } from "stoa/plugin"
import { type Booking, bookings, providers, routes, serviceTypes, type Tools } from "./AppointmentTables.ts"
import { customerOf, ownProviders, reader } from "./Customers.ts"

/** Links that calendar programs follow without signing in. */
export const calendars = table("appointment_calendars", {
  kind: oneOf(["provider", "customer"]),
  /** The id of the provider, or of the customer's login. */
  ownerId: text
}, { unique: [{ columns: ["kind", "ownerId"] }] })

class NoCalendar extends notFound("Calendar", "Calendar not found.") {}

/** Texts of iCalendar (RFC 5545 §3.3.11): some signs are escaped. */
const escaped = (value: string): string => value.replace(/[\\;,]/g, "\\$&").replace(/\r?\n|\r/g, "\\n")

/** Lines have up to 75 bytes; longer ones go on behind a space (§3.1). */
const folded = (line: string): string => {
  const encoder = new TextEncoder()
  const lines: Array<string> = []
  let [current, size] = ["", 0]
  for (const sign of line) {
    const bytes = encoder.encode(sign).length
    if (size + bytes > 75) {
      lines.push(current)
      current = " "
      size = 1
    }
    current += sign
    size += bytes
  }
  return [...lines, current].join("\r\n")
}

const stamp = (time: Date): string => time.toISOString().replace(/[-:]|\.\d{3}/g, "")

/** Appointments as a calendar (RFC 5545). Times are UTC, which every program shows in the zone of its reader. */
export const calendarOf = (
  name: string,
  events: ReadonlyArray<
    Pick<Booking, "id" | "startTime" | "endTime" | "status" | "updatedAt"> & {
      readonly summary: string
      readonly notes: string | null
    }
  >
): string => {
  const lines = events.flatMap((one) => [
    "BEGIN:VEVENT",
    `UID:${one.id}@stoa`,
    `DTSTAMP:${stamp(one.updatedAt)}`,
    `DTSTART:${stamp(one.startTime)}`,
    `DTEND:${stamp(one.endTime)}`,
    `SUMMARY:${escaped(one.summary)}`,
    ...(one.notes === null ? [] : [`DESCRIPTION:${escaped(one.notes)}`]),
    `STATUS:${one.status === "provisional" ? "TENTATIVE" : "CONFIRMED"}`,
    "END:VEVENT"
  ])
  const head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Stoa//Appointments//EN", `X-WR-CALNAME:${escaped(name)}`]
  return [...head, ...lines, "END:VCALENDAR"].map((line) => `${folded(line)}\r\n`).join("")
}

/** The last month and all that follows, at most 1,000 appointments; four statements. */
const eventsOf = Effect.fnUntraced(function*({ db }: Tools, kind: "provider" | "customer", ownerId: string) {
  const since = DateTime.toDateUtc(DateTime.subtract(yield* DateTime.now, { days: 30 }))
  const owner = kind === "provider" ? { providerId: ownerId } : { customerId: ownerId }
  const found = yield* db.table(bookings).list(
    { ...owner, startTime: { gte: since }, status: { not: "cancelled" } },
    { order: ["startTime"], limit: 1_000 }
  )
  const named = (rows: ReadonlyArray<{ readonly id: string; readonly name: string }>) => {
    const names = new Map(rows.map(({ id, name }) => [id, name]))
    return (id: string) => names.get(id) ?? ""
  }
  const services = named(yield* db.table(serviceTypes).list({ id: { in: found.map((one) => one.serviceTypeId) } }))
  const people = named(yield* db.table(providers).list({ id: { in: found.map((one) => one.providerId) } }))
  return found.map((one) => {
    const other = kind === "provider" ? one.customerName : people(one.providerId)
    return { ...one, summary: `${services(one.serviceTypeId)}: ${other}` }
  })
})

const CalendarLink = Schema.Struct({ path: Schema.String })

/** Calendars of providers and customers, as links (contract, plugins §11). */
export const calendarRoutes = ({ digests, ofRecord }: PluginContext) => {
  const key = (id: string) => digests(`calendar ${id}`)
  /** A new link in place of the one before, which leads nowhere from now on. */
  const link = Effect.fnUntraced(function*({ db }: Tools, kind: "provider" | "customer", ownerId: string) {
    yield* db.turn(`calendar ${kind} ${ownerId}`)
    const before = yield* db.table(calendars).first({ kind, ownerId })
    if (before !== undefined) yield* db.table(calendars).delete(before.id)
    const { id } = yield* db.table(calendars).insert({ kind, ownerId })
    return { path: `/api/appointments/calendars/${id}/feed.ics?key=${key(id)[0]}` }
  }, (work, { db }) => db.transaction(work))

  return [
    routes.post("/providers/:id/calendar", {
      summary: "Create the calendar link of a provider",
      description: "The link before leads nowhere from now on. 404 without the provider, and for another one's login.",
      ...reader,
      success: CalendarLink
    }).handle((call) =>
      Effect.flatMap(
        call.db.table(providers).get({ ...ownProviders(call.actor), id: call.params.id }),
        ({ id }) => link(call, "provider", id)
      )
    ),
    routes.post("/my-calendar", {
      summary: "Create the calendar link of the customer",
      description: "The link before leads nowhere from now on.",
      auth: true,
      success: CalendarLink
    }).handle((call) => link(call, "customer", customerOf(call.actor))),
    routes.raw("GET", "/calendars/:id/feed.ics", {
      summary: "Get a calendar in the format iCalendar",
      description: "404 for a link that is not, or no longer, the right one.",
      public: "Calendar programs have a link with a key in place of credentials.",
      produces: "text/calendar; charset=utf-8",
      query: { key: Schema.optional(Schema.String) }
    }, ({ params: { id }, query }) =>
      Effect.gen(function*() {
        if (!key(id).some((one) => one === query.key)) return yield* new NoCalendar()
        // The link says whose calendar it is, and in which organization.
        return yield* ofRecord(calendars, id)((call) =>
          Effect.gen(function*() {
            const { kind, ownerId } = yield* call.db.table(calendars).get(id)
            return { body: calendarOf("Appointments", yield* eventsOf(call, kind, ownerId)) }
          })
        )
      }).pipe(Effect.catchIf(Schema.is(NotFound), () => new NoCalendar())))
  ]
}
