import { Schema } from "effect"
import { rowsOf, statement } from "stoa/plugin"
import { alertTypes } from "./AlertTables.ts"

/** What an alert is about; `measured` are minutes or tickets. */
export const Finding = Schema.Struct({
  type: Schema.Literals(alertTypes),
  referenceType: Schema.Literals(["assignment", "ticket", "transaction"]),
  referenceId: Schema.String,
  measured: Schema.Int,
  isCritical: Schema.Boolean,
  /** The open alert that becomes critical. */
  openId: Schema.NullOr(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.NullOr(Schema.String))
})
export type Finding = typeof Finding.Type

const findings = rowsOf(Finding)

/** Thresholds by type; types that are not enabled have none. */
export type Thresholds = Readonly<Partial<Record<Finding["type"], number>>>

/**
 * Finds what has no alert yet, and what has come to twice its threshold without a critical one. Tickets of the last day count.
 * One statement.
 */
export const findingsOf = statement(
  "Alerts.find",
  function*(sql, organizationId, now: Date, thresholds: Thresholds) {
    return yield* findings(sql`with config as (
        select key as type, value::int as threshold from jsonb_each_text(${JSON.stringify(thresholds)}::jsonb)),
      minutes (type, reference_type, reference_id, since, threshold, metadata) as (
        select config.type, 'assignment', seat.id,
          case config.type when 'unclosed_bill' then seat.bill_requested_at else seat.seated_at end, config.threshold,
          jsonb_build_object('tableId', t.id, 'tableNumber', t.number, 'transactionId', seat.transaction_id)
        from pos_tables t join pos_table_assignments seat on seat.table_id = t.id and seat.left_at is null
        join config on config.type in ('prolonged_occupancy', 'unclosed_bill')
        where t.organization_id = ${organizationId}
        union all
        select config.type, 'ticket', ticket.id, ticket.fired_at,
          case config.type when 'delayed_order' then greatest(config.threshold, station.alert_threshold_minutes)
            else config.threshold end,
          jsonb_build_object('ticketNumber', ticket.ticket_number, 'tableNumber', ticket.table_number)
        from kds_tickets ticket join kds_stations station on station.id = ticket.station_id
        join config on (config.type = 'delayed_order' and ticket.status in ('pending', 'preparing'))
          or (config.type = 'kot_not_started' and ticket.status = 'pending')
        where ticket.organization_id = ${organizationId} and ticket.served_at is null
          and ticket.fired_at > ${now}::timestamptz - interval '1 day' and ticket.type in ('new_order', 'modified')),
      measured as (
        select type, reference_type, reference_id, threshold, metadata,
          floor(extract(epoch from (${now}::timestamptz - since)) / 60)::int as measured
        from minutes where since <= ${now}::timestamptz - make_interval(mins => threshold)
        union all
        select config.type, 'transaction', ticket.transaction_id, config.threshold,
          jsonb_build_object('tableNumber', max(ticket.table_number)), count(*)::int
        from kds_tickets ticket join config on config.type = case ticket.type
          when 'modified' then 'excessive_modifications'
          when 'new_order' then null
          else 'excessive_cancellations' end
        where ticket.organization_id = ${organizationId} and ticket.transaction_id is not null
          and ticket.fired_at > ${now}::timestamptz - interval '1 day'
        group by config.type, ticket.transaction_id, config.threshold
        having count(*) > config.threshold)
      select m.type, m.reference_type as "referenceType", m.reference_id as "referenceId", m.measured, m.metadata,
        m.measured >= 2 * m.threshold as "isCritical", known.open_id as "openId"
      from measured m cross join lateral (
        select count(*) as total, count(*) filter (where severity = 'critical') as critical,
          (array_agg(id) filter (where not is_resolved))[1] as open_id
        from pos_restaurant_alerts alert
        where alert.organization_id = ${organizationId} and alert.reference_id = m.reference_id and alert.type = m.type
      ) known
      where known.total = 0 or (m.measured >= 2 * m.threshold and known.critical = 0)
      order by m.type, m.reference_id`)
  }
)
