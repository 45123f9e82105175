import { Schema } from "effect"
import { about, rowsOf, statement } from "stoa/plugin"

const Seconds = Schema.NullOr(Schema.Int).pipe(about("Seconds from the start to ready, on average; null without any."))
export const StatusCount = Schema.Struct({
  status: Schema.String.pipe(about("Step of the kitchen.")),
  count: Schema.Int
})
export const Station = Schema.Struct({
  totalTickets: Schema.Int.pipe(about("Number of tickets.")),
  averagePrepSeconds: Seconds,
  ticketsByStatus: Schema.Array(StatusCount).pipe(about("Tickets by step of the kitchen."))
})
export const Course = Schema.Struct({
  courseName: Schema.NullOr(Schema.String),
  totalItems: Schema.Int.pipe(about("Number of units.")),
  averagePrepSeconds: Seconds
})
export const Operator = Schema.Struct({
  operatorName: Schema.NullOr(Schema.String),
  totalTickets: Schema.Int.pipe(about("Number of tickets.")),
  averagePrepSeconds: Seconds
})

const [stations, courses, operators] = [rowsOf(Station), rowsOf(Course), rowsOf(Operator)]

/** Counts the tickets of a station that were fired in this time, without those that cancel. */
export const stationPerformance = statement(
  "KitchenReports.station",
  function*(sql, organizationId, stationId: string, from: Date, to: Date) {
    const [row] = yield* stations(sql`with fired as (
        select status, prep_duration_seconds from kds_tickets
        where organization_id = ${organizationId} and station_id = ${stationId}::uuid
          and fired_at >= ${from} and fired_at < ${to} and type in ('new_order', 'modified')),
      counted as (select status, count(*)::int4 as count from fired group by status)
      select (select count(*)::int4 from fired) as "totalTickets",
        (select round(avg(prep_duration_seconds))::int4 from fired) as "averagePrepSeconds",
        coalesce((select jsonb_agg(jsonb_build_object('status', status, 'count', count) order by status) from counted), '[]')
          as "ticketsByStatus"`)
    return row ?? { totalTickets: 0, averagePrepSeconds: null, ticketsByStatus: [] }
  }
)

/** Counts units that were cooked, by course. */
export const coursePerformance = statement(
  "KitchenReports.courses",
  function*(sql, organizationId, from: Date, to: Date) {
    return yield* courses(sql`select i.course_name as "courseName",
        sum(i.quantity - i.cancelled_quantity)::int4 as "totalItems",
        round(avg(t.prep_duration_seconds))::int4 as "averagePrepSeconds"
      from kds_tickets t join kds_ticket_items i on i.ticket_id = t.id
      where t.organization_id = ${organizationId} and t.fired_at >= ${from} and t.fired_at < ${to}
        and t.type in ('new_order', 'modified')
      group by i.course_name order by i.course_name`)
  }
)

/** Counts tickets by who fired them. */
export const operatorPerformance = statement(
  "KitchenReports.operators",
  function*(sql, organizationId, from: Date, to: Date) {
    return yield* operators(sql`select operator_name as "operatorName", count(*)::int4 as "totalTickets",
        round(avg(prep_duration_seconds))::int4 as "averagePrepSeconds"
      from kds_tickets
      where organization_id = ${organizationId} and fired_at >= ${from} and fired_at < ${to}
        and type in ('new_order', 'modified')
      group by operator_name order by operator_name`)
  }
)
