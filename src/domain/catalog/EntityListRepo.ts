import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { isUuid } from "../ids/Id.ts"
import { MediaAddress } from "../media/MediaSettings.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import { offsetOf } from "../paging/Paging.ts"
import type { EntityQuery, EntitySort } from "./EntityQuery.ts"
import { entityColumns, type EntityViewRow, toView } from "./EntityRowsRepo.ts"
import { expansionColumn, type ExpansionView } from "./ExpansionRepo.ts"

/** The ids of a category and a brand; null when the organization has no such record. */
export interface FilterIds {
  readonly category: string | null
  readonly brand: string | null
  /** The category and its descendants, if requested. */
  readonly descendants: ReadonlyArray<string> | null
}

/** A category and a brand by id or slug. */
export interface FilterNames {
  readonly category: string | undefined
  readonly brand: string | undefined
  readonly descendants: boolean
}

/** A query with the ids of category and brand. `publicOnly` limits shoppers to published entities. */
export interface EntityFilter extends Omit<EntityQuery, "category" | "brand" | "descendants" | "locale"> {
  readonly view: ExpansionView
  /** Entities in any of these categories; null for no filter. */
  readonly categoryIds: ReadonlyArray<string> | null
  readonly brandId: string | null
  readonly publicOnly: boolean
}

/** Pages of entities. */
export class EntityListRepo extends Context.Service<EntityListRepo>()("stoa/domain/catalog/EntityListRepo", {
  make: Effect.map(Effect.all([lookupSql, MediaAddress]), ([sql, address]) => make(sql, address))
}) {
  static readonly layer = Layer.effect(EntityListRepo, EntityListRepo.make)
}

const columns = { createdAt: "created_at", updatedAt: "updated_at", slug: "slug" } as const

/** Breaks ties by id in the same direction, so that one index serves both. */
const orderBy = (sort: EntitySort): string => {
  const direction = sort.ascending ? "asc" : "desc"
  const column = `e.${columns[sort.field]} ${direction}`
  return `order by ${sort.field === "slug" ? column : `${column}, e.id ${direction}`}`
}

const make = (sql: SqlClient.SqlClient, address: string) => {
  const resolve = Effect.fn("EntityListRepo.resolve")(function*({ brand, category, descendants }: FilterNames) {
    const organization = yield* currentOrganization
    const idOf = (table: string, text: string | undefined) =>
      sql`(select id from ${sql(table)} where organization_id = ${organization} and ${
        text !== undefined && isUuid(text) ? sql`id = ${text}::uuid` : sql`slug = ${text}`
      })`
    const below = descendants
      ? sql`(with recursive down as (
          select ${idOf("categories", category)} as id
          union select c.id from down d join categories c on c.parent_id = d.id and c.organization_id = ${organization})
        select coalesce(json_agg(id), '[]') from down)`
      : sql.literal("null::json")
    const rows = yield* sql<FilterIds>`select ${idOf("categories", category)} as category,
      ${idOf("brands", brand)} as brand, ${below} as descendants`
    return rows[0] ?? { category: null, brand: null, descendants: null }
  }, Effect.orDie)

  const matching = (organization: string, filter: EntityFilter) => {
    const clauses = [sql`e.organization_id = ${organization}`]
    if (filter.publicOnly) clauses.push(sql`e.status = 'active' and e.is_visible`)
    if (filter.type !== undefined) clauses.push(sql`e.type = ${filter.type}`)
    if (filter.ids !== undefined) clauses.push(sql`e.id = any(${filter.ids}::uuid[])`)
    if (filter.status !== undefined) clauses.push(sql`e.status = ${filter.status}`)
    const [one, ...others] = filter.categoryIds ?? []
    if (one !== undefined) {
      // Collect the entities of many categories first: PostgreSQL would plan a join as if it matched most of the catalog.
      clauses.push(
        others.length === 0
          ? sql`exists (select 1 from entity_categories l where l.entity_id = e.id and l.category_id = ${one}::uuid)`
          : sql`e.id = any(array(select l.entity_id from entity_categories l
              where l.category_id = any(${filter.categoryIds}::uuid[]) and l.organization_id = ${organization}))`
      )
    }
    if (filter.brandId !== null) {
      clauses.push(sql`exists (select 1 from entity_brands l
        where l.entity_id = e.id and l.brand_id = ${filter.brandId}::uuid)`)
    }
    return sql.and(clauses)
  }

  /** Triggers count entities in `catalog_totals`; only filters by link or id count row by row. */
  const total = (organization: string, filter: EntityFilter) =>
    filter.categoryIds !== null || filter.brandId !== null || filter.ids !== undefined
      ? sql`select count(*) as total from catalog_entities e where ${matching(organization, filter)}`
      : sql`select coalesce(sum(e.entities), 0)::int8 as total from catalog_totals e
        where ${matching(organization, filter)}`

  // The page size, 1 to 100, is literal: PostgreSQL keeps a plan for it but replans with a parameter each time.
  const slice = (filter: EntityFilter) =>
    filter.page === 1
      ? sql`limit ${sql.literal(String(filter.limit))}`
      : sql`limit ${sql.literal(String(filter.limit))} offset ${offsetOf(filter)}`

  /** The page with its total and the requested expansions, in one statement. */
  const page = Effect.fn("EntityListRepo.page")(function*(filter: EntityFilter) {
    const organization = yield* currentOrganization
    const order = sql.literal(orderBy(filter.sort))
    interface Row extends EntityViewRow {
      readonly total: bigint
    }
    // A page beyond the end still has its total: one row without an entity.
    const rows = yield* sql<Row>`select t.total, ${sql.literal(entityColumns("e"))} ${
      expansionColumn(sql, address, filter.include, filter.view)
    }
      from (${total(organization, filter)}) t
      left join lateral (select e.* from catalog_entities e where ${matching(organization, filter)}
        ${order} ${slice(filter)}) e on true ${order}`
    const items = rows.filter((row) => row.id !== null).map(({ total: _, ...row }) => toView(row))
    return { items, page: filter.page, limit: filter.limit, total: Number(rows[0]?.total ?? 0) }
  }, Effect.orDie)

  return { resolve, page }
}
