import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Address } from "../customers/Customer.ts"
import { currentOrganization } from "../platform/access/Actor.ts"
import { isoTime, recordChange } from "../platform/events/ChangeLogRepo.ts"
import { newId, nilId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { columnsOf, orderedJsonOf } from "../platform/records/Table.ts"
import { emailKeyOf } from "../platform/text/Email.ts"
import { BrandRecord, CategoryRecord } from "./catalog/GroupImport.ts"
import {
  isNamedByOptions,
  MediumRecord,
  optionsOf,
  ProductRecord,
  ProductTexts,
  VariantRecord
} from "./catalog/ProductRecord.ts"
import { CustomerRecord } from "./CustomerImport.ts"
import type { ExportFormat, Kind } from "./Import.ts"
import { orderRecordJson } from "./orders/OrderRecord.ts"
import { PriceRecord } from "./PriceImport.ts"
import { StockRecord } from "./StockImport.ts"

const emailOrder = emailKeyOf("email")

export type ExportCursor = ReadonlyArray<string>

/**
 * Orders entities so that required references precede their users: types by rank, then slug. Absent `rank`: entities
 * that reference later ones.
 */
export interface CatalogOrder {
  /** Above 0. */
  readonly ranks: Readonly<Record<string, number>>
  readonly rank: number | undefined
}

/** To entities of `target`, or of any type where that is null. */
const Reference = Schema.Struct({
  type: Schema.String,
  target: Schema.NullOr(Schema.String),
  isRequired: Schema.Boolean
})
export type Reference = typeof Reference.Type

const PageRow = Schema.Struct({
  cursor: Schema.Array(Schema.String),
  records: Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
})

interface PageQuery {
  readonly start: ExportCursor
  readonly rows: (
    sql: SqlClient.SqlClient,
    organization: string,
    after: ExportCursor,
    order: CatalogOrder
  ) => Statement.Fragment
  readonly order: string
  readonly cursor: string
  readonly records: string
}

const sellable = {
  slug: "p.slug",
  sku: "(select v.sku from variants_read v where v.id = x.variant_id and v.organization_id = x.organization_id)",
  options: `${optionsOf("x.variant_id", "x.organization_id")}::jsonb`
}

const bySlug = { start: [""], order: "slug", cursor: "p.slug" }

const ofEntities = (
  fields: Readonly<Record<string, unknown>>,
  expressions: Readonly<Record<string, string>>,
  from: string,
  order: string
): PageQuery => ({
  ...bySlug,
  rows: (sql, organization, [slug]) =>
    sql`select id, slug, organization_id from catalog_entities_read
      where organization_id = ${organization} and slug > ${slug}`,
  records: `(select coalesce(json_agg(to_json(r)), '[]') from (select ${
    columnsOf(fields, "x", { ...sellable, ...expressions })
  } from ${from} where x.organization_id = p.organization_id and x.entity_id = p.id
    order by sku nulls first, options nulls first, ${order}) r)`
})

const listOf = (json: string, from: string, order: string) =>
  `(select coalesce(json_agg(${json} order by ${order}), '[]') from ${from} where x.entity_id = p.id
    and x.organization_id = p.organization_id)`

const fieldsFrom = `entity_field_values f
  join entity_field_definitions_read d on d.id = f.definition_id and d.status = 'active' and d.entity_type = p.type
  left join catalog_entities_read r on r.id = f.reference_id
  where f.entity_id = p.id and f.organization_id = p.organization_id`

const isEarlier = `(r.id is null or r.id = p.id or (coalesce((p.ranks->>r.type)::int, 0), r.slug)
  < (coalesce((p.ranks->>p.type)::int, 0), p.slug))`

const options = `json_build_object('name', x.name,
  'values', (select coalesce(json_agg(v.value order by v.sort_order, v.id), '[]') from option_values_read v
    where v.option_type_id = x.id and v.organization_id = x.organization_id))`

const medium = orderedJsonOf(MediumRecord.fields, "x", {
  id: "x.media_asset_id",
  sku: "v.sku",
  options: `case when ${isNamedByOptions("v")} then coalesce(${optionsOf("v.id", "v.organization_id")}, '{}') end`
})

/** By slug, which the class keeps; a name of no class as it is. */
const taxClassOf = (row: string) =>
  `coalesce((select t.slug from tax_classes_read t where t.id = ${row}.tax_class_id), ${row}.tax_class)`

const product = orderedJsonOf(ProductRecord.fields, "p", {
  customFields: `(select coalesce(json_object_agg(d.name, case when r.id is null then f.value else to_jsonb(r.slug) end
    order by d.sort_order, d.name), '{}') from ${fieldsFrom} and (p.is_again or ${isEarlier}))`,
  attributes: listOf(orderedJsonOf(ProductTexts.fields, "x"), "entity_attributes x", "x.locale"),
  categories: listOf(
    "c.slug",
    "entity_categories x join categories_read c on c.id = x.category_id",
    "x.sort_order, c.slug"
  ),
  taxClass: taxClassOf("p"),
  brands: listOf("b.slug", "entity_brands x join brands_read b on b.id = x.brand_id", "x.sort_order, b.slug"),
  options: listOf(options, "option_types x", "x.sort_order, x.id"),
  variants: listOf(
    orderedJsonOf(VariantRecord.fields, "x", {
      taxClass: taxClassOf("x"),
      options: `coalesce(${optionsOf("x.id", "x.organization_id")}, '{}')`
    }),
    "variants x",
    "x.sort_order, x.id"
  ),
  media: listOf(
    `json_strip_nulls(${medium})`,
    "entity_media x left join variants_read v on v.id = x.variant_id",
    "x.sort_order, x.attached_at, x.media_asset_id"
  )
})

const amongTypes = (sql: SqlClient.SqlClient, { rank, ranks }: CatalogOrder) => {
  if (rank === undefined) {
    return sql`and exists (select 1 from entity_field_values_read f
      where f.entity_id = catalog_entities_read.id and f.reference_id is not null)`
  }
  const types = Object.keys(ranks).filter((type) => rank === 0 || ranks[type] === rank)
  if (rank > 0) return sql`and type = any(${types}::text[])`
  return types.length === 0 ? sql.literal("") : sql`and type <> all(${types}::text[])`
}

const addressFields = {
  ...Struct.omit(Address.fields, ["id", "customerId", "isDefault", "unchecked"]),
  isDefault: Address.fields.isDefault
}

const queries: { readonly [K in Kind]: PageQuery } = {
  catalog: {
    ...bySlug,
    rows: (sql, organization, [slug], order) =>
      sql`select *, ${JSON.stringify(order.ranks)}::jsonb as ranks, ${order.rank === undefined}::boolean as is_again
        from catalog_entities_read where organization_id = ${organization} and slug > ${slug} ${
        amongTypes(sql, order)
      }`,
    records: `case when not p.is_again or exists (select 1 from ${fieldsFrom} and not ${isEarlier})
      then json_build_array(${product}) else '[]' end`
  },
  // Parents before children.
  categories: {
    start: ["-1", ""],
    rows: (sql, organization, [depth, slug]) =>
      sql`select * from (with recursive placed as (
          select c.*, 0 as depth, null::text as parent from categories_read c
            where c.organization_id = ${organization} and c.parent_id is null
          union all select c.*, p.depth + 1, p.slug from placed p join categories_read c on c.parent_id = p.id
            and c.organization_id = ${organization})
        select * from placed) placed where (depth, slug) > (${depth}::text::int, ${slug}::text)`,
    order: "depth, slug",
    cursor: "p.depth::text, p.slug",
    records: `json_build_array(${orderedJsonOf(CategoryRecord.fields, "p")})`
  },
  brands: {
    ...bySlug,
    rows: (sql, organization, [slug]) =>
      sql`select * from brands_read where organization_id = ${organization} and slug > ${slug}`,
    records: `json_build_array(${orderedJsonOf(BrandRecord.fields, "p")})`
  },
  prices: ofEntities(
    PriceRecord.fields,
    {
      customerGroup: "g.name",
      customerGroupId: "case when g.id is null then x.customer_group_id end",
      validFrom: isoTime("x.valid_from"),
      validUntil: isoTime("x.valid_until")
    },
    `prices x left join customer_groups_read g on g.organization_id = x.organization_id
      and g.id::text = x.customer_group_id`,
    `x.currency, "customerGroup" nulls first, "customerGroupId" nulls first, x.min_quantity nulls first,
      x.max_quantity nulls first, x.valid_from nulls first, x.valid_until nulls first`
  ),
  stock: ofEntities(
    StockRecord.fields,
    { warehouse: "w.code", available: "x.on_hand - x.reserved" },
    "stock_levels x join warehouses_read w on w.id = x.warehouse_id and w.organization_id = x.organization_id",
    "w.code"
  ),
  // By e-mail address in the byte order of the index. Customers without an address have no key and are left out.
  customers: {
    start: ["", nilId],
    rows: (sql, organization, [email, id]) =>
      sql`select * from customers_read where organization_id = ${organization} and erased_at is null
        and ${sql.literal(emailOrder)} ~>=~ ${email}::text and (${
        sql.literal(emailOrder)
      } ~>~ ${email}::text or id > ${id}::uuid)`,
    order: `${emailOrder} using ~<~, id`,
    cursor: `${emailKeyOf("p.email")}, p.id::text`,
    records: `json_build_array(${
      orderedJsonOf(CustomerRecord.fields, "p", {
        occurrence:
          `(select case when count(*) > 1 then count(*) filter (where same.id <= p.id) end from customers_read same
          where same.organization_id = p.organization_id and same.erased_at is null and ${emailKeyOf("same.email")} = ${
            emailKeyOf("p.email")
          })`,
        groups: `(select coalesce(jsonb_agg(g.name order by g.name), '[]') from customer_group_members_read m
          join customer_groups_read g on g.id = m.group_id
          where m.customer_id = p.id and m.organization_id = p.organization_id)`,
        addresses: `(select coalesce(json_agg(${orderedJsonOf(addressFields, "a")} order by a.created_at, a.id), '[]')
          from customer_addresses_read a where a.customer_id = p.id and a.organization_id = p.organization_id)`
      })
    })`
  },
  // Oldest first. The position has the time's full precision: two orders of one millisecond are both exported.
  orders: {
    start: ["-infinity", nilId],
    rows: (sql, organization, [placedAt, id]) =>
      sql`select * from orders_read where organization_id = ${organization} and not is_draft
        and (placed_at, id) > (${placedAt}::text::timestamptz, ${id}::uuid)`,
    order: "placed_at, id",
    cursor: "p.placed_at::text, p.id::text",
    records: `json_build_array(${orderRecordJson("p")})`
  }
}

export const exportStart = (kind: Kind): ExportCursor => queries[kind].start

const make = (sql: SqlClient.SqlClient) => {
  const page = Effect.fn("ExportRepo.page")(function*(
    kind: Kind,
    after: ExportCursor,
    limit: number,
    inOrder: CatalogOrder = { ranks: {}, rank: 0 }
  ) {
    const organization = yield* currentOrganization
    const { cursor, order, records, rows } = queries[kind]
    const found = yield* decoding(sql, PageRow)`select array[${sql.literal(cursor)}] as cursor,
        ${sql.literal(records)} as records
      from (${rows(sql, organization, after, inOrder)} order by ${sql.literal(order)} limit ${limit}) p
      order by ${sql.literal(order)}`
    return {
      records: found.flatMap((row) => row.records),
      last: found.length < limit ? undefined : found.at(-1)?.cursor
    }
  }, Effect.orDie)

  const note = Effect.fn("ExportRepo.note")(function*(kind: Kind, format: ExportFormat) {
    const id = newId()
    const payload = { id, organizationId: yield* currentOrganization, kind, format }
    yield* recordChange(sql, { type: "exports.create", entityType: "export", entityId: id, payload })
  }, Effect.orDie)

  const references = Effect.gen(function*() {
    return yield* decoding(sql, Reference)`select entity_type as type, rules->>'entityType' as target,
        is_required as "isRequired" from entity_field_definitions_read
      where organization_id = ${yield* currentOrganization} and kind = 'reference' and status = 'active'
      order by entity_type, name`
  }).pipe(Effect.orDie, Effect.withSpan("ExportRepo.references"))

  const locales = Effect.gen(function*() {
    const rows = yield* decoding(sql, Schema.Struct({ locale: Schema.String }))`select distinct locale
      from entity_attributes_read where organization_id = ${yield* currentOrganization} order by locale`
    return ["en", ...rows.map(({ locale }) => locale).filter((locale) => locale !== "en")]
  }).pipe(Effect.orDie, Effect.withSpan("ExportRepo.locales"))

  return { page, references, locales, note }
}

export class ExportRepo extends Context.Service<ExportRepo>()("stoa/domain/import-export/ExportRepo", {
  make: Effect.map(SqlClient.SqlClient, make)
}) {
  static readonly layer = Layer.effect(ExportRepo, ExportRepo.make)
}
