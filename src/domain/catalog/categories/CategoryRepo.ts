import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../../access/Actor.ts"
import { ValidationFailed } from "../../errors/ApiErrors.ts"
import { changeLogRows } from "../../events/ChangeLogRepo.ts"
import { newId } from "../../ids/Id.ts"
import { ownPage } from "../../paging/OwnPageRepo.ts"
import type { PageRequest } from "../../paging/Paging.ts"
import { conflictOn } from "../UniqueRepo.ts"
import type { Category, CategoryChange, NewCategory } from "./Category.ts"
import { ancestors, categories, noted, treeLock } from "./CategoryRowsRepo.ts"

/** The category tree of an organization. */
export class CategoryRepo extends Context.Service<CategoryRepo>()("stoa/domain/catalog/categories/CategoryRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(CategoryRepo, CategoryRepo.make)
}

/** Reads and locks the row before a change. */
const locked = (sql: SqlClient.SqlClient, organization: string, id: string) =>
  sql`select * from categories where id = ${id}::uuid and organization_id = ${organization} for no key update`

const slugTaken = conflictOn({ categories_organization_id_slug_key: "A category with this slug already exists." })

const unknownParent = ValidationFailed.of("parentId", "No such category.", "not_found")
const cycle = ValidationFailed.of("parentId", "A category cannot lie below itself.", "cycle")

const make = (sql: SqlClient.SqlClient) => {
  /** By position, then slug; the complete tree when no page is given. */
  const list = Effect.fn("CategoryRepo.list")((includeArchived: boolean, page: PageRequest | undefined) =>
    Effect.orDie(ownPage(
      sql,
      categories,
      "sort_order, slug",
      page,
      includeArchived ? [] : [sql`status = 'active'`]
    ))
  )

  const create = Effect.fn("CategoryRepo.create")(function*(input: NewCategory) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    const parent = input.parentId ?? null
    // Key share waits for a concurrent deletion of the parent, which is then not found.
    const rows = yield* categories.rows(sql)`with parent as (select id from categories
        where id = ${parent}::uuid and organization_id = ${organization} for key share),
      written as (insert into categories (id, organization_id, parent_id, slug, sort_order, metadata)
        select ${newId()}::uuid, ${organization}, ${parent}::uuid, ${input.slug}, ${input.sortOrder ?? 0}::int,
          ${JSON.stringify(input.metadata ?? {})}::jsonb
        where ${parent}::uuid is null or exists (select 1 from parent)
        returning *),
      entry as (${noted(sql, actor, "categories.create")})
      select ${sql.literal(categories.columns())} from written`.pipe(slugTaken)
    return rows[0] ?? (yield* unknownParent)
  })

  const write = Effect.fn("CategoryRepo.write")(function*(actor: Actor, id: string, change: CategoryChange) {
    const organization = actor.organizationId
    const metadata = change.metadata === undefined ? null : JSON.stringify(change.metadata)
    const rows = yield* categories.rows(sql)`with old as materialized (${locked(sql, organization, id)}),
      written as (update categories set
          slug = coalesce(${change.slug}, slug),
          sort_order = coalesce(${change.sortOrder}::int, sort_order),
          metadata = coalesce(${metadata}::jsonb, metadata),
          parent_id = case when ${
      change.parentId !== undefined
    }::boolean then ${change.parentId}::uuid else parent_id end
        where id = (select id from old) and organization_id = ${organization} returning *),
      entry as (${noted(sql, actor, "categories.update", "old")})
      select ${sql.literal(categories.columns())} from written`.pipe(slugTaken)
    return rows[0]
  })

  const move = Effect.fn("CategoryRepo.move")(function*(id: string, parentId: string, change: CategoryChange) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    // Two moves that are harmless each can close a cycle together, so an organization runs one at a time.
    yield* treeLock(sql, organization)
    // Waits for a concurrent deletion of the parent, which is then not found.
    yield* sql`select 1 from categories where id = ${parentId}::uuid and organization_id = ${organization}
      for key share`.pipe(Effect.orDie)
    const above = yield* ancestors(sql, organization, parentId)
    if (above.length === 0) return yield* unknownParent
    if (above.some((one) => one.id === id.toLowerCase())) return yield* cycle
    return yield* write(actor, id, change)
  })

  /** Undefined when there is no such category; 422 when it would become an ancestor of itself. */
  const update = Effect.fn("CategoryRepo.update")(function*(id: string, change: CategoryChange) {
    return typeof change.parentId === "string"
      ? yield* sql.withTransaction(move(id, change.parentId, change)).pipe(
        Effect.catchTag("SqlError", (error) => Effect.die(error))
      )
      : yield* write(yield* CurrentActor, id, change)
  })

  return { list, create, update, setStatus: makeSetStatus(sql), remove: makeRemove(sql) }
}

/** Children become roots, entities are detached. False when there is no such category. */
const makeRemove = (sql: SqlClient.SqlClient) =>
  Effect.fn("CategoryRepo.remove")((id: string) => sql.withTransaction(removal(sql, id)), Effect.orDie)

const removal = (sql: SqlClient.SqlClient, id: string) =>
  Effect.gen(function*() {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    // Before any row lock, like a move: both lock several categories and could deadlock.
    yield* treeLock(sql, organization)
    // This statement, not the foreign key, turns children into roots, so that each of them gets a change log entry.
    const rows = yield* sql`with target as materialized (select * from categories
        where id = ${id}::uuid and organization_id = ${organization} for update),
      old as materialized (select * from categories
        where parent_id = (select id from target) and organization_id = ${organization} order by id for no key update),
      written as (update categories set parent_id = null where id = any(array(select id from old)) returning *),
      detached as (${noted(sql, actor, "categories.update", "old")}),
      deleted as (delete from categories where id = (select id from target) and organization_id = ${organization}
        returning *),
      entry as (${
      changeLogRows(sql, actor, {
        type: "categories.delete",
        entityType: "category",
        entityId: "x.id::text",
        payload: categories.json("x"),
        before: categories.json("x"),
        from: "deleted x"
      })
    })
      select 1 from deleted`
    return rows.length === 1
  })

const makeSetStatus = (sql: SqlClient.SqlClient) =>
  Effect.fn("CategoryRepo.setStatus")(function*(id: string, status: Category["status"]) {
    const actor = yield* CurrentActor
    const type = status === "archived" ? "categories.archive" : "categories.restore"
    const rows = yield* categories.rows(sql)`with old as materialized (${locked(sql, actor.organizationId, id)}),
      written as (update categories set status = ${status}
        where id = (select id from old) and organization_id = ${actor.organizationId} returning *),
      entry as (${noted(sql, actor, type, "old")})
      select ${sql.literal(categories.columns())} from written`
    return rows[0]
  }, Effect.orDie)
