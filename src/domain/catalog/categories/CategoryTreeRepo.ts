import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { isUuid } from "../../ids/Id.ts"
import type { Category } from "./Category.ts"
import type { PlacedCategory, SubtreeQuery } from "./CategoryTree.ts"

/** Where categories lie: each read is one statement that goes from parent to child by an index. */
export class CategoryTreeRepo extends Context.Service<CategoryTreeRepo, {
  /** By id or slug; undefined when there is no such category. */
  readonly find: (idOrSlug: string) => Effect.Effect<PlacedCategory | undefined, never, CurrentActor>
  /** The category and all below it, each parent before its children, siblings in their order. Empty: there is none. */
  readonly subtree: (
    idOrSlug: string,
    query: SubtreeQuery
  ) => Effect.Effect<ReadonlyArray<PlacedCategory>, never, CurrentActor>
}>()("stoa/domain/catalog/categories/CategoryTreeRepo") {
  static readonly layer = Layer.effect(CategoryTreeRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

interface CreatedOrderRow {
  readonly id: string
  readonly parent_id: string | null
  readonly slug: string
  readonly sort_order: number
  readonly status: Category["status"]
  readonly metadata: Readonly<Record<string, unknown>>
  readonly path: PlacedCategory["path"]
  readonly children: number
}

const toPlaced = (row: CreatedOrderRow): PlacedCategory => ({
  id: row.id,
  parentId: row.parent_id,
  slug: row.slug,
  sortOrder: row.sort_order,
  status: row.status,
  metadata: row.metadata,
  depth: row.path.length - 1,
  path: row.path,
  childCount: row.children
})

/** The greatest depth that is read: more than any shop has, and an end for a tree that something has broken. */
const deepest = 1000

const step = (row: string) => `jsonb_build_object('id', ${row}.id, 'slug', ${row}.slug, 'metadata', ${row}.metadata)`

const children = `(select count(*)::int4 from categories k
  where k.organization_id = d.organization_id and k.parent_id = d.id and k.status = 'active') as children`

const make = (sql: SqlClient.SqlClient): CategoryTreeRepo["Service"] => {
  const named = (organization: string, idOrSlug: string) =>
    sql`select c.* from categories c where c.organization_id = ${organization} and ${
      isUuid(idOrSlug)
        ? sql`c.id = coalesce((select id from categories where id = ${idOrSlug}::uuid
            and organization_id = ${organization}),
          (select id from categories where slug = ${idOrSlug} and organization_id = ${organization}))`
        : sql`c.slug = ${idOrSlug}`
    }`

  /** The category as `top` with the way to it. */
  const above = (organization: string, idOrSlug: string) =>
    sql`top as (${named(organization, idOrSlug)}),
      line as (
        select t.id, t.parent_id, t.slug, t.metadata, 0 as up from top t
        union all
        select c.id, c.parent_id, c.slug, c.metadata, l.up + 1 from line l
          join categories c on c.id = l.parent_id and c.organization_id = ${organization}
          where l.up < ${sql.literal(String(deepest))}),
      way as (select jsonb_agg(${sql.literal(step("l"))} order by l.up desc) as path from line l)`

  const find = Effect.fn("CategoryTreeRepo.find")(function*(idOrSlug: string) {
    const organization = yield* currentOrganization
    const rows = yield* sql<CreatedOrderRow>`with recursive ${above(organization, idOrSlug)}
      select d.*, way.path, ${sql.literal(children)} from top d, way`
    return rows[0] === undefined ? undefined : toPlaced(rows[0])
  }, Effect.orDie)

  const subtree = Effect.fn("CategoryTreeRepo.subtree")(function*(idOrSlug: string, query: SubtreeQuery) {
    const organization = yield* currentOrganization
    const levels = Math.min(query.depth ?? deepest, deepest)
    const rows = yield* sql<CreatedOrderRow>`with recursive ${above(organization, idOrSlug)},
      down as (
        select t.*, way.path as path, 0 as level from top t, way
        union all
        select c.*, d.path || ${sql.literal(step("c"))}, d.level + 1 from down d
          join categories c on c.parent_id = d.id and c.organization_id = ${organization}
          where d.level < ${levels}::int4 and (c.status = 'active' or ${query.includeArchived}::boolean))
        search depth first by sort_order, slug set place
      select d.id, d.parent_id, d.slug, d.sort_order, d.status, d.metadata, d.path, ${sql.literal(children)}
      from down d order by place`
    return rows.map(toPlaced)
  }, Effect.orDie)

  return { find, subtree }
}
