import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { journalInsert } from "../../events/JournalRepo.ts"
import type { Category } from "../categories/Category.ts"
import { categoryColumns, treeLock } from "../categories/CategoryRowsRepo.ts"
import type { CategoryState, PlannedCategory } from "./CategoryPlan.ts"
import type { CategoryRecord } from "./GroupRecords.ts"

/** Where a page of categories ended. */
export interface CategoryCursor {
  readonly depth: number
  readonly slug: string
}

/** Categories as files carry them. */
export class CategoryFileRepo extends Context.Service<CategoryFileRepo, {
  /** Holds the tree until the transaction ends and reads what the records name, with all above it; three statements. */
  readonly read: (records: ReadonlyArray<CategoryRecord>) => Effect.Effect<CategoryState, never, CurrentActor>
  /** All rows of a batch and its entries in the journal, in one statement. */
  readonly write: (plans: ReadonlyArray<PlannedCategory>) => Effect.Effect<void, never, CurrentActor>
  /** So many categories behind a place: parents before children, and by slug. */
  readonly after: (
    cursor: CategoryCursor,
    limit: number
  ) => Effect.Effect<
    { readonly records: ReadonlyArray<CategoryRecord>; readonly last: CategoryCursor | undefined },
    never,
    CurrentActor
  >
}>()("stoa/domain/catalog/import-export/CategoryFileRepo") {
  static readonly layer = Layer.effect(CategoryFileRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const columns = `id uuid, "parentId" uuid, slug text, "sortOrder" int, status text, metadata jsonb`

const makeReads = (sql: SqlClient.SqlClient) => {
  const read = Effect.fn("CategoryFileRepo.read")(function*(records: ReadonlyArray<CategoryRecord>) {
    const organization = yield* currentOrganization
    // The tree before any row, as every writer of several categories takes them (`CategoryGuardRepo`).
    yield* treeLock(sql, organization)
    const slugs = records.map(({ slug }) => slug)
    const named = [
      ...slugs,
      ...records.flatMap(({ parent }) => parent === undefined || parent === null ? [] : [parent])
    ]
    yield* sql`select 1 from categories where organization_id = ${organization} and slug = any(${slugs}::text[])
      order by id for no key update`.unprepared
    // One look-up a step, whatever the planner expects of a tree: no join over all categories.
    const rows = yield* sql<Category>`with recursive line as (
        select * from categories where organization_id = ${organization} and slug = any(${named}::text[])
        union select c.* from line cross join lateral (select * from categories
          where id = line.parent_id and organization_id = ${organization} limit 1) c)
      select ${sql.literal(categoryColumns)} from line`.unprepared
    return {
      bySlug: new Map(rows.map((category) => [category.slug, category])),
      byId: new Map(rows.map((category) => [category.id, category]))
    }
  }, Effect.orDie)

  const after = Effect.fn("CategoryFileRepo.after")(function*({ depth, slug }: CategoryCursor, limit: number) {
    const organization = yield* currentOrganization
    interface Row extends Pick<Category, "slug" | "status" | "metadata"> {
      readonly sort_order: number
      readonly depth: number
      readonly parent: string | null
    }
    const rows = yield* sql<Row>`with recursive placed as (
        select c.*, 0 as depth, null::text as parent from categories c
          where c.organization_id = ${organization} and c.parent_id is null
        union all select c.*, p.depth + 1, p.slug from placed p join categories c on c.parent_id = p.id
          and c.organization_id = ${organization})
      select * from placed where (depth, slug) > (${depth}::int, ${slug}::text) order by depth, slug limit ${limit}`
    const last = rows.length < limit ? undefined : rows.at(-1)
    return {
      records: rows.map(({ metadata, parent, slug, sort_order, status }) => ({
        slug,
        parent,
        sortOrder: sort_order,
        status,
        metadata
      })),
      last: last === undefined ? undefined : { depth: last.depth, slug: last.slug }
    }
  }, Effect.orDie)

  return { read, after }
}

const make = (sql: SqlClient.SqlClient): CategoryFileRepo["Service"] => {
  const write = Effect.fn("CategoryFileRepo.write")(function*(plans: ReadonlyArray<PlannedCategory>) {
    const written = plans.filter(({ changes }) => changes.length > 0)
    if (written.length === 0) return
    const actor = yield* CurrentActor
    const rows = (list: ReadonlyArray<PlannedCategory>) =>
      sql`jsonb_to_recordset(${JSON.stringify(list.map(({ after }) => after))}::jsonb) as x(${sql.literal(columns)})`
    // The guard of the tree looks at the end of the statement, so that parents may be new as well.
    yield* sql`with made as (insert into categories (id, organization_id, parent_id, slug, sort_order, status, metadata)
        select id, ${actor.organizationId}, "parentId", slug, "sortOrder", status, metadata
        from ${rows(written.filter(({ before }) => before === undefined))}),
      changed as (update categories c set parent_id = x."parentId", sort_order = x."sortOrder", status = x.status,
          metadata = x.metadata
        from ${rows(written.filter(({ before }) => before !== undefined))}
        where c.id = x.id and c.organization_id = ${actor.organizationId}),
      entries as (${journalInsert(sql, actor, written.flatMap(({ changes }) => changes))})
      select 1`
  }, Effect.orDie)

  return { ...makeReads(sql), write }
}
