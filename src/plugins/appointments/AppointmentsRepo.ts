import { DateTime, Schema } from "effect"
import { rowsOf, statement } from "stoa/plugin"
import type { Booking } from "./AppointmentTables.ts"

const Moments = Schema.Array(Schema.Number)
const takenSpans = rowsOf(Schema.Struct({ providerId: Schema.String, starts: Moments, ends: Moments }))
const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/**
 * What providers have to do between two moments, buffers included, in its order, but for one appointment. Times that are held
 * for who has waited for them are taken for others.
 */
export const takenBy = statement(
  "Appointments.taken",
  function*(
    sql,
    organizationId,
    providerIds: ReadonlyArray<string>,
    { customerId = null, end, start, without = null }: {
      readonly start: number
      readonly end: number
      readonly customerId?: string | null | undefined
      readonly without?: string | null | undefined
    }
  ) {
    const now = yield* DateTime.nowAsDate
    // A row for each provider: thousands of small ones would take longer to read than to find.
    const rows = yield* takenSpans(sql`select provider_id as "providerId",
        array_agg(date_part('epoch', since) * 1000 order by since) as starts,
        array_agg(date_part('epoch', until) * 1000 order by since) as ends
      from (
        select provider_id, blocked_from as since, blocked_until as until from appointment_bookings
        where organization_id = ${organizationId} and provider_id = any(${providerIds}::uuid[])
          and status in ('provisional', 'confirmed') and id is distinct from ${without}::uuid
        union all
        select offered_provider_id, held_from, held_until from appointment_waiting_list
        where organization_id = ${organizationId} and offered_provider_id = any(${providerIds}::uuid[])
          and status = 'offered' and expires_at > ${now} and customer_id is distinct from ${customerId}
      ) as busy
      where tstzrange(since, until, '[)')
        && tstzrange(to_timestamp(${start}::float8 / 1000), to_timestamp(${end}::float8 / 1000), '[)')
      group by provider_id`)
    return new Map(
      rows.map(({ ends, providerId, starts }) =>
        [providerId, starts.map((at, index) => ({ start: at, end: ends[index] ?? at }))] as const
      )
    )
  }
)

/** Removes the weekly hours of a provider, in one statement. */
export const removeWeek = statement("Appointments.removeWeek", function*(sql, organizationId, providerId: string) {
  yield* sql`delete from appointment_weekly_availability w using appointment_providers p
      where w.provider_id = p.id and p.id = ${providerId}::uuid and p.organization_id = ${organizationId}`
})

/** Locks the first who waits for a time like that of an appointment that was cancelled; other transactions take the next one. */
export const firstWaiting = statement(
  "Appointments.firstWaiting",
  function*(sql, organizationId, { customerId, providerId, serviceTypeId, startTime }: Pick<
    Booking,
    "customerId" | "providerId" | "serviceTypeId" | "startTime"
  >) {
    const [first] = yield* ids(sql`select id from appointment_waiting_list
      where organization_id = ${organizationId} and status = 'waiting' and service_type_id = ${serviceTypeId}::uuid
        and (provider_id is null or provider_id = ${providerId}::uuid) and customer_id <> ${customerId}
        and ${startTime}::timestamptz between earliest and latest
      order by created_at, id limit 1 for update skip locked`)
    return first?.id
  }
)

/** Whether a customer of the organization has this login. */
export const isCustomer = statement("Appointments.isCustomer", function*(sql, organizationId, userId: string) {
  const found = yield* ids(sql`select id from plugin_customers
      where organization_id = ${organizationId} and user_id = ${userId} and erased_at is null`)
  return found.length > 0
})
