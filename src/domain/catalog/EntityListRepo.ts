import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { isUuid } from "../ids/Id.ts"
import { MediaAddress } from "../media/MediaSettings.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import { offsetOf, type PageOf } from "../paging/Paging.ts"
import type { EntityQuery, EntitySort } from "./EntityQuery.ts"
import { type EntityViewRow, toView } from "./EntityRow.ts"
import type { EntityView } from "./Expansion.ts"
import { expansionColumn, type ExpansionView } from "./ExpansionRepo.ts"

/** A category and a brand named by id or slug, as ids; null where the organization has no such record. */
export interface NamedFilters {
  readonly category: string | null
  readonly brand: string | null
  /** The category and all below it, where they were asked for. */
  readonly below: ReadonlyArray<string> | null
}

/** The names as they came; `descendants` asks for the categories below, too. */
export interface SentFilters {
  readonly category: string | undefined
  readonly brand: string | undefined
  readonly descendants: boolean
}

/** A query whose category and brand are ids. `publicOnly`: shoppers see published entities, whatever they ask for. */
export interface EntityFilter extends Omit<EntityQuery, "category" | "brand" | "descendants" | "locale"> {
  readonly view: ExpansionView
  /** Entities are in any of these; null asks for no category. */
  readonly categoryIds: ReadonlyArray<string> | null
  readonly brandId: string | null
  readonly publicOnly: boolean
}

/** Pages of entities. */
export class EntityListRepo extends Context.Service<EntityListRepo, {
  readonly named: (sent: SentFilters) => Effect.Effect<NamedFilters, never, CurrentActor>
  /** The page with its total and every expansion that was asked for, in one statement. */
  readonly page: (filter: EntityFilter) => Effect.Effect<PageOf<EntityView>, never, CurrentActor>
}>()("stoa/domain/catalog/EntityListRepo") {
  static readonly layer = Layer.effect(
    EntityListRepo,
    Effect.map(Effect.all([lookupSql, MediaAddress]), ([sql, address]) => make(sql, address))
  )
}

const columns = { createdAt: "created_at", updatedAt: "updated_at", slug: "slug" } as const

/** Ties are broken by id in the same direction, so that one index serves both. */
const orderBy = (sort: EntitySort): string => {
  const direction = sort.ascending ? "asc" : "desc"
  const column = `e.${columns[sort.field]} ${direction}`
  return `order by ${sort.field === "slug" ? column : `${column}, e.id ${direction}`}`
}

const make = (sql: SqlClient.SqlClient, address: string): EntityListRepo["Service"] => {
  const named = Effect.fn("EntityListRepo.named")(function*({ brand, category, descendants }: SentFilters) {
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
    const rows = yield* sql<NamedFilters>`select ${idOf("categories", category)} as category,
      ${idOf("brands", brand)} as brand, ${below} as below`
    return rows[0] ?? { category: null, brand: null, below: null }
  }, Effect.orDie)

  const matching = (organization: string, filter: EntityFilter) => {
    const clauses = [sql`e.organization_id = ${organization}`]
    if (filter.publicOnly) clauses.push(sql`e.status = 'active' and e.is_visible`)
    if (filter.type !== undefined) clauses.push(sql`e.type = ${filter.type}`)
    if (filter.ids !== undefined) clauses.push(sql`e.id = any(${filter.ids}::uuid[])`)
    if (filter.status !== undefined) clauses.push(sql`e.status = ${filter.status}`)
    const [one, ...others] = filter.categoryIds ?? []
    if (one !== undefined) {
      // What lies in many categories is gathered first: a join would be planned as if it were most of the catalog.
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

  /** Catalogs are counted by the triggers that keep `catalog_totals`; only links and lists of ids have to be counted row by row. */
  const total = (organization: string, filter: EntityFilter) =>
    filter.categoryIds !== null || filter.brandId !== null || filter.ids !== undefined
      ? sql`select count(*) as total from catalog_entities e where ${matching(organization, filter)}`
      : sql`select coalesce(sum(e.entities), 0)::int8 as total from catalog_totals e
        where ${matching(organization, filter)}`

  // The page size stands in the text: with it the server can keep one plan for the most frequent statement of all,
  // while a parameter makes it plan anew each time. It is a whole number from 1 to 100.
  const slice = (filter: EntityFilter) =>
    filter.page === 1
      ? sql`limit ${sql.literal(String(filter.limit))}`
      : sql`limit ${sql.literal(String(filter.limit))} offset ${offsetOf(filter)}`

  const page = Effect.fn("EntityListRepo.page")(function*(filter: EntityFilter) {
    const organization = yield* currentOrganization
    const order = sql.literal(orderBy(filter.sort))
    interface Row extends EntityViewRow {
      readonly total: bigint
    }
    // A page beyond the end still has its total: one row without an entity.
    const rows = yield* sql<Row>`select t.total, e.* ${expansionColumn(sql, address, filter.include, filter.view)}
      from (${total(organization, filter)}) t
      left join lateral (select e.* from catalog_entities e where ${matching(organization, filter)}
        ${order} ${slice(filter)}) e on true ${order}`
    const found = rows.filter((row) => row.id !== null)
    return { items: found.map(toView), page: filter.page, limit: filter.limit, total: Number(rows[0]?.total ?? 0) }
  }, Effect.orDie)

  return { named, page }
}
