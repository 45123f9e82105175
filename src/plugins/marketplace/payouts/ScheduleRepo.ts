import { Effect, Schema } from "effect"
import { CurrentActor, type PluginDatabase, rowsOf } from "stoa/plugin"
import type { Schedule } from "./PayoutPeriods.ts"

const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/** The period of a schedule that is going on. */
export interface Period {
  readonly schedule: Schedule
  readonly start: Date
}

const periodsJson = (periods: ReadonlyArray<Period>): string =>
  JSON.stringify(periods.map(({ schedule, start }) => ({ schedule, start: start.toISOString() })))

/** Statements about which vendors have been looked at in which period. */
export const scheduleRepo = ({ sql }: PluginDatabase["Service"]) => ({
  /** Organizations that owe a vendor anything; for the service's own work. */
  organizations: Effect.map(
    ids(sql)`select o.id from organizations o cross join lateral (
        select 1 from marketplace_vendor_accounts a where a.organization_id = o.id and a.balance_cents > 0 limit 1) owed
      order by o.id`,
    (rows) => rows.map(({ id }) => id)
  ).pipe(Effect.orDie, Effect.withSpan("ScheduleRepo.organizations")),

  /** Approved vendors that the schedule has not processed in its current period. */
  due: Effect.fn("ScheduleRepo.due")(function*(periods: ReadonlyArray<Period>) {
    const { organizationId } = yield* CurrentActor
    const rows = yield* ids(sql)`
      select v.id from marketplace_vendors v
      join jsonb_to_recordset(${periodsJson(periods)}::jsonb) as s(schedule text, start timestamptz)
        on s.schedule = v.payout_schedule
      left join marketplace_payout_periods p on p.organization_id = ${organizationId} and p.vendor_id = v.id
      where v.organization_id = ${organizationId} and v.status = 'approved'
        and (p.period_start is null or p.period_start < s.start)
      order by v.id`
    return rows.map(({ id }) => id)
  }, Effect.orDie),

  /** Notes that these vendors have been looked at. */
  note: Effect.fn("ScheduleRepo.note")(function*(vendorIds: ReadonlyArray<string>, periods: ReadonlyArray<Period>) {
    const { organizationId } = yield* CurrentActor
    yield* sql`insert into marketplace_payout_periods as p (organization_id, vendor_id, period_start)
      select ${organizationId}, v.id, s.start from marketplace_vendors v
      join jsonb_to_recordset(${periodsJson(periods)}::jsonb) as s(schedule text, start timestamptz)
        on s.schedule = v.payout_schedule
      where v.organization_id = ${organizationId} and v.id = any(${vendorIds}::uuid[])
      on conflict (organization_id, vendor_id) do update set period_start = excluded.period_start, updated_at = now()
        where p.period_start < excluded.period_start`
  }, Effect.orDie)
})
