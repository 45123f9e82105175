import { Effect, Schema } from "effect"
import { type PluginDatabase, rowsOf } from "stoa/plugin"

/** Rows whose deadline the vendor has missed. */
const missed = rowsOf(Schema.Struct({ id: Schema.String, organizationId: Schema.String }))

/** What waits for a vendor, by table: the state in which it does. */
const waiting = {
  marketplace_disputes: "vendor_response_pending",
  marketplace_return_requests: "requested"
} as const

export type WithDeadline = keyof typeof waiting

/** Rows read in one go. */
const atOnce = 200

/**
 * The next rows of any organization, behind the row `after`, whose deadline has passed by the database's clock. The
 * states are texts of the statement, so that the index over them and the deadline is used.
 */
export const overdue = ({ sql }: PluginDatabase["Service"], table: WithDeadline, after: string) =>
  Effect.orDie(
    missed(sql)`select t.id, t.organization_id as "organizationId" from ${sql(table)} t
      where t.status = ${sql.literal(`'${waiting[table]}'`)} and t.deadline_at < now() and t.id > ${after}::uuid
      order by t.id limit ${atOnce}`
  )
