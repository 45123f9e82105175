import { DateTime, Effect } from "effect"
import { timeIn } from "stoa/plugin"
import { takenBy } from "./AppointmentsRepo.ts"
import {
  breaks,
  overrides,
  type Provider,
  providers,
  providerServices,
  type ServiceType,
  type Tools,
  weeklyHours
} from "./AppointmentTables.ts"
import { day, minute, stepAt, stretchesOf } from "./LocalTime.ts"
import type { Agenda, Asked, Visit } from "./Slots.ts"

/** A provider who offers a service, and how. */
export interface Offer {
  readonly provider: Provider
  readonly visit: Visit
  readonly priceCents: number
  readonly agenda: Agenda
}

/** The midnight of UTC with this date. */
export const dayOf = (date: string): number => DateTime.makeUnsafe(`${date}T00:00:00.000Z`).epochMilliseconds

/** The instant of a time that was sent, local to the provider if one is named. */
export const timeOf = Effect.fnUntraced(
  function*({ db }: Tools, providerId: string | null | undefined, text: string, of: "beginning" | "end" = "beginning") {
    const provider = providerId ? yield* db.table(providers).find(providerId) : undefined
    return yield* timeIn(provider?.timezone, text, of)
  }
)

const dateOf = (at: number): string => DateTime.formatIsoDateUtc(DateTime.makeUnsafe(at))

const midnight = (at: number): number => Math.floor(at / day) * day

/** Whether a start is one of the steps of the service, in local time of the provider. */
export const isStep = ({ startStepMinutes }: ServiceType, { timezone }: Provider, start: Date): boolean => {
  if (startStepMinutes === null) return true
  const [at, zone] = [start.getTime(), DateTime.zoneMakeNamedUnsafe(timezone)]
  return stepAt(stretchesOf(zone, midnight(at) - day, midnight(at) + 2 * day), at, startStepMinutes) === at
}

/** Local days from one to another, as far as the service can be booked on them: no zone is more than a day from UTC. */
export const askedOf = Effect.fnUntraced(
  function*({ maxAdvanceDays, minNoticeMins }: ServiceType, from: number, to: number) {
    const now = DateTime.toEpochMillis(yield* DateTime.now)
    const [earliest, latest] = [now + minNoticeMins * minute, now + maxAdvanceDays * day]
    return {
      from: Math.max(from, midnight(earliest) - day),
      to: Math.min(to, midnight(latest) + day),
      earliest,
      latest
    }
  }
)

const grouped = <A extends { readonly providerId: string }>(rows: ReadonlyArray<A>) => {
  const groups = Map.groupBy(rows, ({ providerId }) => providerId)
  return (providerId: string) => groups.get(providerId) ?? []
}

/**
 * Who offers a service, with their agendas, in the order of their ids: one provider, or all. Six statements for any number of
 * them and of days. `lock` holds the providers until the transaction ends, so that bookings of one follow one another.
 */
export const offersOf = Effect.fn("Openings.offers")(function*(
  { db }: Tools,
  { bufferAfterMinutes, bufferBeforeMinutes, id, ...service }: ServiceType,
  { from, to }: Asked,
  { lock = false, providerId, ...others }: {
    readonly providerId?: string | undefined
    readonly lock?: boolean
    /** An appointment that does not count. */
    readonly without?: string | undefined
    /** Times that are held for this one are free. */
    readonly customerId?: string | undefined
  } = {}
) {
  if (from > to) return []
  const links = yield* db.table(providerServices).list({ serviceTypeId: id, providerId })
  const byId = new Map(links.map((link) => [link.providerId, link]))
  const people = yield* db.table(providers).list({ id: { in: [...byId.keys()] }, isActive: true }, {
    order: ["id"],
    lock
  })
  const ids = people.map((one) => one.id)
  const these = { providerId: { in: ids } }
  const weekly = grouped(yield* db.table(weeklyHours).list(these))
  const pauses = grouped(yield* db.table(breaks).list(these))
  const special = grouped(
    yield* db.table(overrides).list({ ...these, date: { gte: dateOf(from), lte: dateOf(to) } })
  )
  const taken = yield* db.use(takenBy)(ids, { start: from - 2 * day, end: to + 3 * day, ...others })
  const zones = new Map(
    [...new Set(people.map(({ timezone }) => timezone))].map((zone) =>
      [zone, stretchesOf(DateTime.zoneMakeNamedUnsafe(zone), from - 2 * day, to + 3 * day)] as const
    )
  )
  return people.map((provider): Offer => {
    const link = byId.get(provider.id)
    return {
      provider,
      visit: {
        bufferAfterMinutes,
        bufferBeforeMinutes,
        startStepMinutes: service.startStepMinutes,
        durationMinutes: link?.customDurationMinutes ?? service.durationMinutes
      },
      priceCents: link?.customPriceCents ?? service.priceCents,
      agenda: {
        stretches: zones.get(provider.timezone) ?? [],
        weekly: weekly(provider.id),
        breaks: pauses(provider.id),
        overrides: special(provider.id).map((one) => ({ ...one, day: dayOf(one.date) })),
        taken: taken.get(provider.id) ?? []
      }
    }
  })
})
