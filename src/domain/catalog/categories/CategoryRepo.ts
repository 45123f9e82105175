import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { type Conflict, ValidationFailed } from "../../errors/ApiErrors.ts"
import { journalRows } from "../../events/JournalRepo.ts"
import { newId } from "../../ids/Id.ts"
import { offsetOf, type PageOf, type PageRequest, wholeList } from "../../paging/Paging.ts"
import { conflictOn } from "../UniqueRepo.ts"
import type { Category, CategoryChange, NewCategory } from "./Category.ts"
import { categoryJson, type CategoryRow, noted, toCategory, treeLock } from "./CategoryRowsRepo.ts"

/** The category tree of an organization. */
export class CategoryRepo extends Context.Service<CategoryRepo, {
  /** By position, then slug; without a page the whole tree. */
  readonly list: (
    includeArchived: boolean,
    page: PageRequest | undefined
  ) => Effect.Effect<PageOf<Category>, never, CurrentActor>
  readonly create: (input: NewCategory) => Effect.Effect<Category, Conflict | ValidationFailed, CurrentActor>
  /** Undefined when there is no such category; refused when it would become its own ancestor. */
  readonly update: (
    id: string,
    change: CategoryChange
  ) => Effect.Effect<Category | undefined, Conflict | ValidationFailed, CurrentActor>
  readonly setStatus: (
    id: string,
    status: Category["status"]
  ) => Effect.Effect<Category | undefined, never, CurrentActor>
  /** Its children become roots, its entities are detached. False: there was none. */
  readonly remove: (id: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/catalog/categories/CategoryRepo") {
  static readonly layer = Layer.effect(CategoryRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

/** The row before a change, locked until it is done. */
const locked = (sql: SqlClient.SqlClient, organization: string, id: string) =>
  sql`select * from categories where id = ${id}::uuid and organization_id = ${organization} for no key update`

const slugTaken = conflictOn({ categories_organization_id_slug_key: "A category with this slug already exists." })

const unknownParent = ValidationFailed.of("parentId", "No such category.", "not_found")
const cycle = ValidationFailed.of("parentId", "A category cannot lie below itself.", "cycle")

const make = (sql: SqlClient.SqlClient): CategoryRepo["Service"] => {
  const list = Effect.fn("CategoryRepo.list")(function*(includeArchived: boolean, page: PageRequest | undefined) {
    const organization = yield* currentOrganization
    const where = sql`organization_id = ${organization} and (status = 'active' or ${includeArchived}::boolean)`
    const rows = sql<CategoryRow>`select id, parent_id, slug, sort_order, status, metadata from categories
      where ${where} order by sort_order, slug
      ${page === undefined ? sql.literal("") : sql`limit ${page.limit} offset ${offsetOf(page)}`}`
    if (page === undefined) return wholeList((yield* rows).map(toCategory))
    const count = sql<{ readonly total: bigint }>`select count(*) as total from categories where ${where}`
    const [found, totals] = yield* Effect.all([rows, count], { concurrency: "unbounded" })
    return { ...page, items: found.map(toCategory), total: Number(totals[0]?.total ?? 0) }
  }, Effect.orDie)

  const create = Effect.fn("CategoryRepo.create")(function*(input: NewCategory) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    const parent = input.parentId ?? null
    // Key share: a parent deleted at the same moment is waited for and then not found.
    const rows = yield* sql<CategoryRow>`with parent as (select id from categories
        where id = ${parent}::uuid and organization_id = ${organization} for key share),
      written as (insert into categories (id, organization_id, parent_id, slug, sort_order, metadata)
        select ${newId()}::uuid, ${organization}, ${parent}::uuid, ${input.slug}, ${input.sortOrder ?? 0}::int,
          ${JSON.stringify(input.metadata ?? {})}::jsonb
        where ${parent}::uuid is null or exists (select 1 from parent)
        returning *),
      entry as (${noted(sql, actor, "categories.create")})
      select * from written`.pipe(slugTaken)
    return rows[0] === undefined ? yield* unknownParent : toCategory(rows[0])
  })

  const write = Effect.fn("CategoryRepo.write")(function*(actor: Actor, id: string, change: CategoryChange) {
    const organization = actor.organizationId
    const metadata = change.metadata === undefined ? null : JSON.stringify(change.metadata)
    const rows = yield* sql<CategoryRow>`with old as materialized (${locked(sql, organization, id)}),
      written as (update categories set
          slug = coalesce(${change.slug}, slug),
          sort_order = coalesce(${change.sortOrder}::int, sort_order),
          metadata = coalesce(${metadata}::jsonb, metadata),
          parent_id = case when ${
      change.parentId !== undefined
    }::boolean then ${change.parentId}::uuid else parent_id end
        where id = (select id from old) and organization_id = ${organization} returning *),
      entry as (${noted(sql, actor, "categories.update", "old")})
      select * from written`.pipe(slugTaken)
    return rows[0] === undefined ? undefined : toCategory(rows[0])
  })

  /** The parent and all above it, nearest first; empty when the organization has no such category. */
  const lineage = (organization: string, id: string) =>
    sql<{ readonly id: string }>`with recursive line as (
        select id, parent_id from categories where id = ${id}::uuid and organization_id = ${organization}
        union select c.id, c.parent_id from categories c join line on c.id = line.parent_id)
      select id from line`.pipe(Effect.orDie)

  const move = Effect.fn("CategoryRepo.move")(function*(id: string, parentId: string, change: CategoryChange) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    // One mover at a time in an organization: two moves that are harmless each can close a circle together.
    yield* treeLock(sql, organization)
    // The parent stays until this move is done; if it is being deleted, it is not found afterwards.
    yield* sql`select 1 from categories where id = ${parentId}::uuid and organization_id = ${organization}
      for key share`.pipe(Effect.orDie)
    const above = yield* lineage(organization, parentId)
    if (above.length === 0) return yield* unknownParent
    if (above.some((one) => one.id === id.toLowerCase())) return yield* cycle
    return yield* write(actor, id, change)
  })

  const update = Effect.fn("CategoryRepo.update")(function*(id: string, change: CategoryChange) {
    return typeof change.parentId === "string"
      ? yield* sql.withTransaction(move(id, change.parentId, change)).pipe(
        Effect.catchTag("SqlError", (error) => Effect.die(error))
      )
      : yield* write(yield* CurrentActor, id, change)
  })

  return { list, create, update, setStatus: makeSetStatus(sql), remove: makeRemove(sql) }
}

const makeRemove = (sql: SqlClient.SqlClient) =>
  Effect.fn("CategoryRepo.remove")((id: string) => sql.withTransaction(removal(sql, id)), Effect.orDie)

const removal = (sql: SqlClient.SqlClient, id: string) =>
  Effect.gen(function*() {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    // Before any row, as a move does: both lock several categories, and would meet in each other's order.
    yield* treeLock(sql, organization)
    // Its children become roots by this statement and not by the foreign key, so that each of them has its entry.
    const rows = yield* sql`with doomed as materialized (select * from categories
        where id = ${id}::uuid and organization_id = ${organization} for update),
      old as materialized (select * from categories
        where parent_id = (select id from doomed) and organization_id = ${organization} order by id for no key update),
      written as (update categories set parent_id = null where id = any(array(select id from old)) returning *),
      freed as (${noted(sql, actor, "categories.update", "old")}),
      gone as (delete from categories where id = (select id from doomed) and organization_id = ${organization}
        returning *),
      entry as (${
      journalRows(sql, actor, {
        type: "categories.delete",
        entityType: "category",
        entityId: "x.id::text",
        payload: categoryJson("x"),
        before: categoryJson("x"),
        from: "gone x"
      })
    })
      select 1 from gone`
    return rows.length === 1
  })

const makeSetStatus = (sql: SqlClient.SqlClient) =>
  Effect.fn("CategoryRepo.setStatus")(function*(id: string, status: Category["status"]) {
    const actor = yield* CurrentActor
    const type = status === "archived" ? "categories.archive" : "categories.restore"
    const rows = yield* sql<CategoryRow>`with old as materialized (${locked(sql, actor.organizationId, id)}),
      written as (update categories set status = ${status}
        where id = (select id from old) and organization_id = ${actor.organizationId} returning *),
      entry as (${noted(sql, actor, type, "old")})
      select * from written`
    return rows[0] === undefined ? undefined : toCategory(rows[0])
  }, Effect.orDie)
