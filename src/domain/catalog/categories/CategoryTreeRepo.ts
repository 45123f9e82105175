import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../platform/access/Actor.ts"
import { CategoryId, isUuid } from "../../platform/ids/Id.ts"
import { decoding } from "../../platform/records/Rows.ts"
import { inTransaction } from "../CatalogChangeRepo.ts"
import { type CategoryMove, CategoryNotFound, PlacedCategory, type SubtreeQuery, UnknownSibling } from "./Category.ts"
import { categories, categoryEntry, checkParent, treeLock } from "./CategoryRepo.ts"

export class CategoryTreeRepo
  extends Context.Service<CategoryTreeRepo>()("stoa/domain/catalog/categories/CategoryTreeRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...makeReads(sql), move: makeMove(sql) }))
  })
{
  static readonly layer = Layer.effect(CategoryTreeRepo, CategoryTreeRepo.make)
}

/** Limits reads of a broken tree. */
const maxDepth = 1000

const step = (row: string) => `jsonb_build_object('id', ${row}.id, 'slug', ${row}.slug, 'metadata', ${row}.metadata)`

const placed = (path: string) =>
  `${categories.columns("d")}, ${path} as path, jsonb_array_length(${path}) - 1 as depth,
    (select count(*)::int4 from categories k
      where k.organization_id = d.organization_id and k.parent_id = d.id and k.status = 'active') as "childCount"`

const makeReads = (sql: SqlClient.SqlClient) => {
  const rows = decoding(sql, PlacedCategory)

  const named = (organization: string, idOrSlug: string) =>
    sql`select c.* from categories c where c.organization_id = ${organization} and ${
      isUuid(idOrSlug)
        ? sql`c.id = coalesce((select id from categories where id = ${idOrSlug}::uuid
            and organization_id = ${organization}),
          (select id from categories where slug = ${idOrSlug} and organization_id = ${organization}))`
        : sql`c.slug = ${idOrSlug}`
    }`

  const above = (organization: string, idOrSlug: string) =>
    sql`top as (${named(organization, idOrSlug)}),
      line as (
        select t.id, t.parent_id, t.slug, t.metadata, 0 as up from top t
        union all
        select c.id, c.parent_id, c.slug, c.metadata, l.up + 1 from line l
          join categories c on c.id = l.parent_id and c.organization_id = ${organization}
          where l.up < ${sql.literal(String(maxDepth))}),
      way as (select jsonb_agg(${sql.literal(step("l"))} order by l.up desc) as path from line l)`

  const find = Effect.fn("CategoryTreeRepo.find")(function*(idOrSlug: string) {
    const organization = yield* currentOrganization
    const [found] = yield* rows`with recursive ${above(organization, idOrSlug)}
      select ${sql.literal(placed("way.path"))} from top d, way`
    return found
  }, Effect.orDie)

  const subtree = Effect.fn("CategoryTreeRepo.subtree")(function*(idOrSlug: string, query: SubtreeQuery) {
    const organization = yield* currentOrganization
    const levels = Math.min(query.depth ?? maxDepth, maxDepth)
    return yield* rows`with recursive ${above(organization, idOrSlug)},
      down as (
        select t.*, way.path as path, 0 as level from top t, way
        union all
        select c.*, d.path || ${sql.literal(step("c"))}, d.level + 1 from down d
          join categories c on c.parent_id = d.id and c.organization_id = ${organization}
          where d.level < ${levels}::int4 and (c.status = 'active' or ${query.includeArchived}::boolean))
        search depth first by sort_order, slug set place
      select ${sql.literal(placed("d.path"))} from down d order by place`
  }, Effect.orDie)

  return { find, subtree }
}

const reordered = (siblings: ReadonlyArray<CategoryId>, id: CategoryId, { after, before }: CategoryMove) => {
  const others = siblings.filter((sibling) => sibling !== id)
  const anchor = before ?? after
  if (anchor === undefined) return Effect.succeed([...others, id])
  const at = others.indexOf(anchor)
  return at < 0
    ? Effect.fail(new UnknownSibling(before === undefined ? "after" : "before"))
    : Effect.succeed(others.toSpliced(before === undefined ? at + 1 : at, 0, id))
}

const makeMove = (sql: SqlClient.SqlClient) => {
  const ids = decoding(sql, Schema.Struct({ id: CategoryId }))

  const moved = Effect.fnUntraced(function*(id: CategoryId, request: CategoryMove) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    yield* treeLock(sql, organization)
    const [current] = yield* categories.rows(sql)`select ${sql.literal(categories.columns())} from categories
      where id = ${id}::uuid and organization_id = ${organization}`
    if (current === undefined) return yield* new CategoryNotFound()
    const parentId = request.parentId === undefined ? current.parentId : request.parentId
    if (parentId !== null) yield* checkParent(sql, organization, id, parentId)
    const siblings = yield* ids`select id from categories where organization_id = ${organization}
      and ${parentId === null ? sql`parent_id is null` : sql`parent_id = ${parentId}::uuid`}
      order by sort_order, slug`
    const order = yield* reordered(siblings.map((row) => row.id), id, request)
    yield* sql`with old as materialized (select * from categories
        where id = any(${order}::uuid[]) and organization_id = ${organization} order by id for no key update),
      place as (select v::uuid as id, n::int4 - 1 as sort_order from unnest(${order}::text[]) with ordinality t(v, n)),
      written as (update categories c set sort_order = p.sort_order,
          parent_id = case when c.id = ${id}::uuid then ${parentId}::uuid else c.parent_id end
        from place p join old o on o.id = p.id
        where c.id = p.id and c.organization_id = ${organization} returning c.*),
      entry as (${categoryEntry(sql, actor, "categories.update", "old")})
      select 1 from written`
  })

  return Effect.fn("CategoryTreeRepo.move")((id: CategoryId, request: CategoryMove) =>
    inTransaction(sql, moved(id, request))
  )
}
