import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"

/**
 * Appends to the statement of a change the idempotency record of the request, so that the change commits at most once,
 * even if a retry and a late first attempt overlap. Empty for a request without a key. `guard` names the part that must
 * have written a row; absent where the statement only runs after the change. Put it after the last part: `with … as
 * (…)${idempotencyRecord(sql, actor, "line")}`.
 */
export const idempotencyRecord = (sql: SqlClient.SqlClient, actor: Actor, guard?: string) =>
  actor.executionId === undefined
    ? sql.literal("")
    : sql`, idempotent as (insert into idempotency_records (organization_id, execution_id)
        select ${actor.organizationId}, ${actor.executionId}::uuid ${
      sql.literal(guard === undefined ? "" : `from ${guard} limit 1`)
    })`
