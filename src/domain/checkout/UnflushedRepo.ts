import type { SqlClient } from "effect/sql"

/**
 * Lets the statement it stands in commit without waiting for the disk. For steps of a checkout that a later step, which
 * does wait, makes durable with itself: the log is written in order, so a crash of PostgreSQL that loses such a step
 * has lost everything after it too, nobody was answered, and the checkout repeats the step. Never for a step that
 * reaches outside before the next flush.
 */
export const unflushed = (sql: SqlClient.SqlClient) => sql`set_config('synchronous_commit', 'off', true) as durability`
