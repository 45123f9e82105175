import { Schema } from "effect"
import { rowsOf, statement, Time } from "stoa/plugin"

const tries = rowsOf(Schema.Struct({ isLocked: Schema.Boolean, lockedUntil: Schema.NullOr(Time) }))

/**
 * Counts a try before it is checked. The last one that is allowed locks the operator for the window from then on; a try
 * after it begins a new count.
 */
export const countTry = statement(
  "PinAttempts.count",
  function*(sql, organizationId, operatorId: string, now: Date, allowed: number, until: Date) {
    const [row] = yield* tries(sql`insert into pos_pin_attempts as a (id, organization_id, operator_id, failed_count)
      values (gen_random_uuid(), ${organizationId}, ${operatorId}, 1)
      on conflict (organization_id, operator_id) do update set
        failed_count = case when a.locked_until > ${now}::timestamptz then a.failed_count + 1
          when a.locked_until is not null then 1 else a.failed_count + 1 end,
        locked_until = case when a.locked_until > ${now}::timestamptz then a.locked_until
          when case when a.locked_until is not null then 1 else a.failed_count + 1 end >= ${allowed}::int
          then ${until}::timestamptz end,
        updated_at = now()
      returning coalesce(failed_count > ${allowed}::int, false) as "isLocked", locked_until as "lockedUntil"`)
    return row
  }
)
