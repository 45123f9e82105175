import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Actor } from "../../access/Actor.ts"
import type { ChangeType } from "../../events/Event.ts"
import { journalRows } from "../../events/JournalRepo.ts"
import type { Category } from "./Category.ts"

/**
 * One at a time in an organization who changes more than one row of its tree, until the end of his transaction. Taken
 * before any row (see `CategoryGuardRepo` for the order).
 */
export const treeLock = (sql: SqlClient.SqlClient, organization: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`categories:${organization}`}, 0))`.pipe(Effect.orDie)

/** A row of `categories`. */
export interface CategoryRow {
  readonly id: string
  readonly parent_id: string | null
  readonly slug: string
  readonly sort_order: number
  readonly status: Category["status"]
  readonly metadata: Readonly<Record<string, unknown>>
}

export const toCategory = (row: CategoryRow): Category => ({
  id: row.id,
  parentId: row.parent_id,
  slug: row.slug,
  sortOrder: row.sort_order,
  status: row.status,
  metadata: row.metadata
})

/** A category as the API shows it: an SQL text over a row. */
export const categoryJson = (row: string) =>
  `jsonb_build_object('id', ${row}.id, 'parentId', ${row}.parent_id, 'slug', ${row}.slug,
    'sortOrder', ${row}.sort_order, 'status', ${row}.status, 'metadata', ${row}.metadata)`

/** The journal's entry of every category in the part `written`, with the row of the part `old` as it was. */
export const noted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: Extract<ChangeType, `categories.${string}`>,
  old?: string
) =>
  journalRows(sql, actor, {
    type,
    entityType: "category",
    entityId: "x.id::text",
    payload: categoryJson("x"),
    before: old === undefined ? undefined : categoryJson("o"),
    from: old === undefined ? "written x" : `written x join ${old} o on o.id = x.id`
  })
