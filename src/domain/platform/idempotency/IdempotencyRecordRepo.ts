import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"

/**
 * Appends the request's idempotency record to the statement of a change: the change commits at most once, even if a
 * retry and the first attempt overlap. Empty without a key. `guard` names the part that must have written a row. Put it
 * last: `with … as (…)${idempotencyRecord(sql, actor, "line")}`.
 */
export const idempotencyRecord = (sql: SqlClient.SqlClient, actor: Actor, guard?: string) =>
  actor.executionId === undefined
    ? sql.literal("")
    : sql`, idempotent as (insert into idempotency_records (organization_id, execution_id)
        select ${actor.organizationId}, ${actor.executionId}::uuid ${
      sql.literal(guard === undefined ? "" : `from ${guard} limit 1`)
    })`
