import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"

/**
 * A further part of the statement that makes a change: with it the change bears the mark of the keyed request it is made
 * for, and can be made once, whoever begins the request again and whenever the first try of it arrives. Empty for a
 * request without a key. `guard` names the part that must have written a row for the change to have happened; absent
 * where the statement only runs when it has. To be put behind the last part: `with … as (…)${mark(sql, actor, "line")}`.
 */
export const idempotencyRecord = (sql: SqlClient.SqlClient, actor: Actor, guard?: string) =>
  actor.executionId === undefined
    ? sql.literal("")
    : sql`, idempotent as (insert into idempotency_records (organization_id, execution_id)
        select ${actor.organizationId}, ${actor.executionId}::uuid ${
      sql.literal(guard === undefined ? "" : `from ${guard} limit 1`)
    })`
