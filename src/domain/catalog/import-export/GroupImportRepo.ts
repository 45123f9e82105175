import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../../access/Actor.ts"
import type { Category } from "../categories/Category.ts"
import { categories, treeLock } from "../categories/CategoryRepo.ts"

/** The categories that records name, with their ancestors. */
export interface CategoryState {
  readonly bySlug: Map<string, Category>
  readonly byId: Map<string, Category>
}

/** A category that a record names, and its parent. */
interface NamedCategory {
  readonly slug: string
  readonly parent?: string | null | undefined
}

/** Locks the tree until the transaction ends and reads the named categories with their ancestors; three statements. */
export const categoryReads = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    Effect.fn("GroupImportRepo.categories")(function*(records: ReadonlyArray<NamedCategory>) {
      const organization = yield* currentOrganization
      // Lock the tree before any row, like every writer of several categories (`CategoryGuardRepo`).
      yield* treeLock(sql, organization)
      const slugs = records.map(({ slug }) => slug)
      const named = [...slugs, ...records.flatMap(({ parent }) => parent ?? [])]
      yield* sql`select 1 from categories where organization_id = ${organization} and slug = any(${slugs}::text[])
      order by id for no key update`.unprepared
      // One look-up per step, so that the planner never joins over all categories.
      const rows = yield* categories.rows(sql, "unprepared")`with recursive line as (
        select * from categories where organization_id = ${organization} and slug = any(${named}::text[])
        union select c.* from line cross join lateral (select * from categories
          where id = line.parent_id and organization_id = ${organization} limit 1) c)
      select ${sql.literal(categories.columns())} from line`
      const state: CategoryState = {
        bySlug: new Map(rows.map((category) => [category.slug, category])),
        byId: new Map(rows.map((category) => [category.id, category]))
      }
      return state
    }, Effect.orDie)
)
