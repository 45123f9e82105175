import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../../access/Actor.ts"
import { isUuid } from "../../ids/Id.ts"
import { columnsOf } from "../../records/Columns.ts"
import { Category } from "./Category.ts"
import type { PlacedCategory, SubtreeQuery } from "./CategoryTree.ts"

/** Reads categories with their position. Each read is one statement that follows an index from parent to child. */
export class CategoryTreeRepo
  extends Context.Service<CategoryTreeRepo>()("stoa/domain/catalog/categories/CategoryTreeRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
  })
{
  static readonly layer = Layer.effect(CategoryTreeRepo, CategoryTreeRepo.make)
}

/** A category with its path; the number of ancestors follows from it. */
type TreeRow = Omit<PlacedCategory, "depth">

const toPlaced = (row: TreeRow): PlacedCategory => ({ ...row, depth: row.path.length - 1 })

/** Limits reads of a tree that is deeper than any shop needs, or broken. */
const maxDepth = 1000

const columns = columnsOf(Category.fields, "d")

const step = (row: string) => `jsonb_build_object('id', ${row}.id, 'slug', ${row}.slug, 'metadata', ${row}.metadata)`

const childCount = `(select count(*)::int4 from categories k
  where k.organization_id = d.organization_id and k.parent_id = d.id and k.status = 'active') as "childCount"`

const make = (sql: SqlClient.SqlClient) => {
  const named = (organization: string, idOrSlug: string) =>
    sql`select c.* from categories c where c.organization_id = ${organization} and ${
      isUuid(idOrSlug)
        ? sql`c.id = coalesce((select id from categories where id = ${idOrSlug}::uuid
            and organization_id = ${organization}),
          (select id from categories where slug = ${idOrSlug} and organization_id = ${organization}))`
        : sql`c.slug = ${idOrSlug}`
    }`

  /** The CTEs `top`, the category, and `way`, the path to it. */
  const above = (organization: string, idOrSlug: string) =>
    sql`top as (${named(organization, idOrSlug)}),
      line as (
        select t.id, t.parent_id, t.slug, t.metadata, 0 as up from top t
        union all
        select c.id, c.parent_id, c.slug, c.metadata, l.up + 1 from line l
          join categories c on c.id = l.parent_id and c.organization_id = ${organization}
          where l.up < ${sql.literal(String(maxDepth))}),
      way as (select jsonb_agg(${sql.literal(step("l"))} order by l.up desc) as path from line l)`

  /** By id or slug; undefined when there is no such category. */
  const find = Effect.fn("CategoryTreeRepo.find")(function*(idOrSlug: string) {
    const organization = yield* currentOrganization
    const rows = yield* sql<TreeRow>`with recursive ${above(organization, idOrSlug)}
      select ${sql.literal(columns)}, way.path, ${sql.literal(childCount)} from top d, way`
    return rows[0] === undefined ? undefined : toPlaced(rows[0])
  }, Effect.orDie)

  /** The category and all below it, each parent before its children, siblings in order. Empty when there is none. */
  const subtree = Effect.fn("CategoryTreeRepo.subtree")(function*(idOrSlug: string, query: SubtreeQuery) {
    const organization = yield* currentOrganization
    const levels = Math.min(query.depth ?? maxDepth, maxDepth)
    const rows = yield* sql<TreeRow>`with recursive ${above(organization, idOrSlug)},
      down as (
        select t.*, way.path as path, 0 as level from top t, way
        union all
        select c.*, d.path || ${sql.literal(step("c"))}, d.level + 1 from down d
          join categories c on c.parent_id = d.id and c.organization_id = ${organization}
          where d.level < ${levels}::int4 and (c.status = 'active' or ${query.includeArchived}::boolean))
        search depth first by sort_order, slug set place
      select ${sql.literal(columns)}, d.path, ${sql.literal(childCount)}
      from down d order by place`
    return rows.map(toPlaced)
  }, Effect.orDie)

  return { find, subtree }
}
