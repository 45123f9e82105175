import { Schema } from "effect"
import { rowsOf, statement } from "stoa/plugin"

const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/**
 * Takes pending payments that are due, least recently asked about first. Each is due again after a minute, and
 * twice as long after each time, at most an hour: those whose provider never answers leave time for others.
 */
export const takeDuePayments = statement("Payments.takeDue", function*(sql, organizationId, now: Date, limit: number) {
  const due = sql.literal("coalesce(retry_at, created_at + interval '1 minute')")
  return yield* ids(sql`update pos_payments set retries = retries + 1,
      retry_at = ${now}::timestamptz + make_interval(mins => least(60, 1 << least(retries, 6)))
    where organization_id = ${organizationId} and id = any(array(
      select id from pos_payments where organization_id = ${organizationId} and status = 'pending'
        and ${due} <= ${now}::timestamptz
      order by ${due}, id limit ${limit} for update skip locked))
    returning id`)
})
