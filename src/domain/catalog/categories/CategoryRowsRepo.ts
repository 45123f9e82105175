import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Actor } from "../../access/Actor.ts"
import { changeLogRows } from "../../events/ChangeLogRepo.ts"
import type { ChangeType } from "../../events/Event.ts"
import { Table } from "../../records/Table.ts"
import { Category } from "./Category.ts"

/**
 * Serializes changes of several rows of an organization's tree until the transaction ends. Take it before any row lock
 * (see `CategoryGuardRepo` for the order).
 */
export const treeLock = (sql: SqlClient.SqlClient, organization: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`categories:${organization}`}, 0))`.pipe(Effect.orDie)

/** A category with all its ancestors; empty when the organization has no such category. */
export const ancestors = (sql: SqlClient.SqlClient, organization: string, id: string) =>
  sql<{ readonly id: string }>`with recursive line as (
      select id, parent_id from categories where id = ${id}::uuid and organization_id = ${organization}
      union select c.id, c.parent_id from categories c join line on c.id = line.parent_id
        and c.organization_id = ${organization})
    select id from line`.pipe(Effect.orDie)

/** Categories of an organization; a tree by `parentId`. */
export const categories = new Table("categories", Category)

/** Change log entries for the categories in the CTE `written`; `old` names the CTE with their previous rows. */
export const noted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: Extract<ChangeType, `categories.${string}`>,
  old?: string
) =>
  changeLogRows(sql, actor, {
    type,
    entityType: "category",
    entityId: "x.id::text",
    payload: categories.json("x"),
    before: old === undefined ? undefined : categories.json("o"),
    from: old === undefined ? "written x" : `written x join ${old} o on o.id = x.id`
  })
