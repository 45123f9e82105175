import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import { isoTime } from "../platform/events/ChangeLogRepo.ts"
import type { EntityTables, InTables } from "../platform/hooks/EntityTables.ts"
import { type BrandId, type CategoryId, isUuid } from "../platform/ids/Id.ts"
import { nextCursorOf, pageParts } from "../platform/paging/CursorRepo.ts"
import { offsetOf } from "../platform/paging/Paging.ts"
import { jsonOf, Table } from "../platform/records/Table.ts"
import { CatalogEntity } from "./Entity.ts"
import type { EntityQuery, EntitySort, EntityView, Expansions, Include } from "./EntityView.ts"
import { expansionColumn, type ExpansionView } from "./ExpansionRepo.ts"

interface FilterIds {
  readonly category: CategoryId | null
  readonly brand: BrandId | null
  readonly descendants: ReadonlyArray<CategoryId> | null
}

export interface EntityFilter
  extends Omit<EntityQuery, "approvedOnly" | "category" | "brand" | "descendants" | "locale">
{
  readonly view: ExpansionView
  readonly categoryIds: ReadonlyArray<CategoryId> | null
  readonly brandId: BrandId | null
  readonly publicOnly: boolean
}

interface EntityRow extends CatalogEntity {
  readonly expansions?: Expansions
  readonly inTables?: InTables
}

const toView = ({ expansions, inTables: _, ...entity }: EntityRow): EntityView => ({ ...entity, ...expansions })

const inTablesOf = (sql: SqlClient.SqlClient, tables: EntityTables["Service"]) =>
  sql.literal(tables.column("e.organization_id", "array[e.id]"))

export const entities = new Table("catalog_entities", CatalogEntity, {
  unset: ["createdAt", "updatedAt"]
})

export const entityJson = (row: string) =>
  jsonOf(CatalogEntity.fields, row, {
    createdAt: isoTime(`${row}.created_at`),
    updatedAt: isoTime(`${row}.updated_at`),
    publishedAt: isoTime(`${row}.published_at`)
  })

const columns = entities.columns("e")

const sortColumns = { createdAt: "created_at", updatedAt: "updated_at", slug: "slug" } as const

/** Breaks ties by id in the same direction: one index serves both. */
const orderBy = (sort: EntitySort): string => {
  const direction = sort.ascending ? "asc" : "desc"
  const column = `e.${sortColumns[sort.field]} ${direction}`
  return `order by ${sort.field === "slug" ? column : `${column}, e.id ${direction}`}`
}

export const entityRead = (sql: SqlClient.SqlClient, address: string, tables: EntityTables["Service"]) =>
  Effect.fnUntraced(
    function*(where: Statement.Fragment, include: ReadonlyArray<Include>, view: ExpansionView) {
      const organization = yield* currentOrganization
      const [row] = yield* sql<EntityRow>`select ${sql.literal(columns)} ${
        expansionColumn(sql, address, include, view)
      }${inTablesOf(sql, tables)} from catalog_entities e where ${where} and e.organization_id = ${organization}`
      return row && { entity: toView(row), inTables: row.inTables }
    }
  )

export const filterIds = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, { brand, category, descendants }: Partial<EntityQuery>) {
    const organization = yield* currentOrganization
    const idOf = (table: string, text: string | undefined) =>
      sql`(select id from ${sql(table)} where organization_id = ${organization} and ${
        text !== undefined && isUuid(text) ? sql`id = ${text}::uuid` : sql`slug = ${text}`
      })`
    const below = category !== undefined && descendants === true
      ? sql`(with recursive down as (
          select ${idOf("categories", category)} as id
          union select c.id from down d join categories c on c.parent_id = d.id and c.organization_id = ${organization})
        select coalesce(json_agg(id), '[]') from down)`
      : sql.literal("null::json")
    const rows = yield* sql<FilterIds>`select ${idOf("categories", category)} as category,
      ${idOf("brands", brand)} as brand, ${below} as descendants`
    return rows[0] ?? { category: null, brand: null, descendants: null }
  }
)

export const entityPage = (sql: SqlClient.SqlClient, address: string, tables: EntityTables["Service"]) => {
  const matching = (organization: string, filter: EntityFilter) => {
    const clauses = [sql`e.organization_id = ${organization}`]
    if (filter.publicOnly) clauses.push(sql`e.status = 'active' and e.is_visible`)
    if (filter.type !== undefined) clauses.push(sql`e.type = ${filter.type}`)
    if (filter.ids !== undefined) clauses.push(sql`e.id = any(${filter.ids}::uuid[])`)
    if (filter.status !== undefined) clauses.push(sql`e.status = ${filter.status}`)
    const [one, ...others] = filter.categoryIds ?? []
    if (one !== undefined) {
      // Collect the entities of many categories first: PostgreSQL would plan a join as if it matched most of the
      // catalog.
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
  const totalOf = (organization: string, filter: EntityFilter) =>
    filter.categoryIds !== null || filter.brandId !== null || filter.ids !== undefined
      ? sql`select count(*) as total from catalog_entities e where ${matching(organization, filter)}`
      : sql`select coalesce(sum(e.entities), 0)::int8 as total from catalog_totals e
        where ${matching(organization, filter)}`

  // The page size, 1 to 100, is literal: PostgreSQL keeps a plan for it but replans with a parameter each time.
  const slice = (filter: EntityFilter) =>
    sql`limit ${sql.literal(String(filter.limit))}${
      offsetOf(filter) === 0 ? sql.literal("") : sql` offset ${offsetOf(filter)}`
    }`

  return Effect.fnUntraced(function*(filter: EntityFilter) {
    const organization = yield* currentOrganization
    const order = sql.literal(orderBy(filter.sort))
    const { ascending, field } = filter.sort
    const list = ascending || field === "slug" ? undefined : { time: `e.${sortColumns[field]}`, id: "e.id" }
    const { after, cursor } = pageParts(sql, filter, list)
    // A page beyond the end still has its total: one row without an entity.
    const rows = yield* sql<EntityRow & { readonly total: bigint; readonly cursor?: string }>`select t.total, ${
      sql.literal(columns)
    } ${cursor} ${expansionColumn(sql, address, filter.include, filter.view)}${inTablesOf(sql, tables)}
      from (${totalOf(organization, filter)}) t
      left join lateral (select e.* from catalog_entities e where ${sql.and([matching(organization, filter), ...after])}
        ${order} ${slice(filter)}) e on true ${order}`
    const found = rows.filter((row) => row.id !== null)
    const items = found.map(({ cursor: _, total: __, ...row }) => toView(row))
    const total = Number(rows[0]?.total ?? 0)
    const page = { items, page: filter.page, limit: filter.limit, total, nextCursor: nextCursorOf(rows, filter) }
    return {
      page,
      inTables: found.some((row) => row.inTables === undefined)
        ? undefined
        : found.flatMap((row) => row.inTables ?? [])
    }
  })
}
