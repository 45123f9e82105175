import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../../platform/access/Actor.ts"
import { conflict } from "../../platform/errors/ErrorKinds.ts"
import type { AuditedType } from "../../platform/events/Event.ts"
import { type CategoryId, newId } from "../../platform/ids/Id.ts"
import { ownPage } from "../../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../../platform/paging/Paging.ts"
import { refusedBy } from "../../platform/records/Constraints.ts"
import { decoding } from "../../platform/records/Rows.ts"
import { Table } from "../../platform/records/Table.ts"
import { changeEntry, inTransaction } from "../CatalogChangeRepo.ts"
import { storedCategories } from "../CatalogTables.ts"
import {
  Category,
  type CategoryChange,
  CategoryCycle,
  CategoryNotFound,
  type NewCategory,
  UnknownParent
} from "./Category.ts"

class CategorySlugTaken extends conflict("CategorySlugTaken", "A category with this slug already exists.") {}

export const categories = new Table("categories", Category)

export class CategoryRepo extends Context.Service<CategoryRepo>()("stoa/domain/catalog/categories/CategoryRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(CategoryRepo, CategoryRepo.make)
}

/**
 * Serializes changes of an organization's tree until the transaction ends. Take it before any row lock
 * (`categories_guard`).
 */
export const treeLock = (sql: SqlClient.SqlClient, organization: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`categories:${organization}`}, 0))`.pipe(Effect.orDie)

export const checkParent = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, organization: string, id: CategoryId, parentId: CategoryId) {
    yield* sql`select 1 from categories where id = ${parentId}::uuid and organization_id = ${organization}
      for key share`.pipe(Effect.orDie)
    const above = yield* decoding(sql, Schema.Struct({ id: Schema.String }))`with recursive line as (
        select id, parent_id from categories where id = ${parentId}::uuid and organization_id = ${organization}
        union select c.id, c.parent_id from categories c join line on c.id = line.parent_id
          and c.organization_id = ${organization})
      select id from line`.pipe(Effect.orDie)
    if (above.length === 0) return yield* new UnknownParent()
    if (above.some((one) => one.id === id.toLowerCase())) return yield* new CategoryCycle()
  }
)

export const categoryEntry = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: Extract<AuditedType, `categories.${string}`>,
  old?: string,
  source = "written"
) => changeEntry(sql, actor, { type, entityType: "category", json: (row) => categories.json(row), source, old })

const make = (sql: SqlClient.SqlClient) => {
  const slugTaken = refusedBy({ categories_organization_id_slug_key: () => new CategorySlugTaken() })

  const list = Effect.fn("CategoryRepo.list")((includeArchived: boolean, page: PageRequest | undefined) =>
    Effect.orDie(
      includeArchived
        ? ownPage(sql, categories, "sort_order, slug", page, [], "all")
        : ownPage(sql, categories, "sort_order, slug", page, [sql`status = 'active'`], ["active"])
    )
  )

  const create = Effect.fn("CategoryRepo.create")(function*(input: NewCategory) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    const parent = input.parentId ?? null
    // Key share waits for a concurrent deletion of the parent, which is then not found.
    const rows = yield* categories.rows(sql)`with parent as (select id from categories
        where id = ${parent}::uuid and organization_id = ${organization} for key share),
      written as (insert into categories ${
      storedCategories.insert(sql, {
        id: sql`${newId()}::uuid`,
        organizationId: sql`${organization}`,
        parentId: sql`${parent}::uuid`,
        slug: sql`${input.slug}`,
        sortOrder: sql`${input.sortOrder ?? 0}::int`,
        metadata: sql`${JSON.stringify(input.metadata ?? {})}::jsonb`
      })
    } where ${parent}::uuid is null or exists (select 1 from parent)
        returning *),
      entry as (${categoryEntry(sql, actor, "categories.create")})
      select ${sql.literal(categories.columns())} from written`.pipe(Effect.catchTag("SqlError", slugTaken))
    return rows[0] ?? (yield* new UnknownParent())
  })

  const write = Effect.fn("CategoryRepo.write")(function*(id: CategoryId, change: CategoryChange) {
    const actor = yield* CurrentActor
    const metadata = change.metadata === undefined ? null : JSON.stringify(change.metadata)
    const rows = yield* categories.rows(sql)`with old as materialized (select * from categories
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for no key update),
      written as (update categories set
          slug = coalesce(${change.slug}, slug),
          sort_order = coalesce(${change.sortOrder}::int, sort_order),
          metadata = coalesce(${metadata}::jsonb, metadata),
          parent_id = case when ${
      change.parentId !== undefined
    }::boolean then ${change.parentId}::uuid else parent_id end
        where id = (select id from old) and organization_id = ${actor.organizationId} returning *),
      entry as (${categoryEntry(sql, actor, "categories.update", "old")})
      select ${sql.literal(categories.columns())} from written`
    return rows[0] ?? (yield* new CategoryNotFound())
  }, Effect.catchTag("SqlError", slugTaken))

  const move = Effect.fn("CategoryRepo.move")(function*(id: CategoryId, parentId: CategoryId, change: CategoryChange) {
    const { organizationId } = yield* CurrentActor
    // Two moves that are harmless each can close a cycle together, so an organization runs one at a time.
    yield* treeLock(sql, organizationId)
    yield* checkParent(sql, organizationId, id, parentId)
    return yield* write(id, change)
  })

  const update = (id: CategoryId, change: CategoryChange) =>
    typeof change.parentId === "string" ? inTransaction(sql, move(id, change.parentId, change)) : write(id, change)

  return { list, create, update, setStatus: makeSetStatus(sql), remove: makeRemove(sql) }
}

const makeRemove = (sql: SqlClient.SqlClient) => {
  const removal = Effect.fnUntraced(function*(id: CategoryId) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    // Before any row lock, like a move: both lock several categories and could deadlock.
    yield* treeLock(sql, organization)
    // This statement, not the foreign key, turns children into roots: each gets a change log entry.
    const rows = yield* sql`with target as materialized (select * from categories
        where id = ${id}::uuid and organization_id = ${organization} for update),
      old as materialized (select * from categories
        where parent_id = (select id from target) and organization_id = ${organization} order by id for no key update),
      written as (update categories set parent_id = null where id = any(array(select id from old)) returning *),
      detached as (${categoryEntry(sql, actor, "categories.update", "old")}),
      deleted as (delete from categories where id = (select id from target) and organization_id = ${organization}
        returning *),
      entry as (${categoryEntry(sql, actor, "categories.delete", "deleted", "deleted")})
      select 1 from deleted`
    if (rows.length === 0) return yield* new CategoryNotFound()
  })
  return Effect.fn("CategoryRepo.remove")((id: CategoryId) => inTransaction(sql, removal(id)))
}

const makeSetStatus = (sql: SqlClient.SqlClient) =>
  Effect.fn("CategoryRepo.setStatus")(function*(id: CategoryId, status: Category["status"]) {
    const actor = yield* CurrentActor
    const type = status === "archived" ? "categories.archive" : "categories.restore"
    const rows = yield* categories.rows(sql)`with old as materialized (select * from categories
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for no key update),
      written as (update categories set status = ${status}
        where id = (select id from old) and organization_id = ${actor.organizationId} returning *),
      entry as (${categoryEntry(sql, actor, type, "old")})
      select ${sql.literal(categories.columns())} from written`
    return rows[0] ?? (yield* new CategoryNotFound())
  }, Effect.catchTag("SqlError", Effect.die))
