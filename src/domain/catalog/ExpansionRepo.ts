import type { SqlClient } from "effect/sql"
import { isoTime } from "../platform/events/ChangeLogRepo.ts"
import { jsonOf, orderedJsonOf } from "../platform/records/Table.ts"
import { Attributes } from "./Entity.ts"
import type { Include } from "./EntityView.ts"
import { OptionType, OptionValue, Variant } from "./variants/Variant.ts"

/*
 * PostgreSQL builds each expansion as JSON inside the statement that reads the page. Reads rows of other modules,
 * writes none.
 */
const approved = { status: "'approved'" }
const words = jsonOf(Attributes.fields, "a", approved)

const attributes = `(select coalesce(json_agg(${
  orderedJsonOf(Attributes.fields, "a", approved)
} order by a.locale), '[]')
  from entity_attributes a where a.entity_id = e.id)`

const withDrafts = `select coalesce(a.locale, d.locale) as locale, case when d.id is null then ${words}
    when a.id is null then jsonb_build_object('id', d.id, 'entityId', d.entity_id, 'locale', d.locale, 'title', '',
      'subtitle', null, 'description', null, 'richDescription', null, 'seoTitle', null, 'seoDescription', null)
      || d.changes || '{"status": "draft"}'
    else ${words} || d.changes || '{"status": "draft"}' end as shown
  from (select * from entity_attributes where entity_id = e.id) a
    full join (select * from entity_attribute_drafts where entity_id = e.id) d on d.locale = a.locale`

const approvedOnly = `select a.locale, ${words} as shown from entity_attributes a where a.entity_id = e.id`

export interface ExpansionView {
  readonly drafts: boolean
  readonly locales: ReadonlyArray<string> | undefined
  readonly warehouses: boolean
  readonly prices: "all" | PriceBuyer
}

export interface PriceBuyer {
  readonly organizationId: string
  readonly userId: string | null
  readonly now: Date
}

const attributesFor = (sql: SqlClient.SqlClient, { drafts, locales }: ExpansionView) => {
  if (locales === undefined && !drafts) return sql.literal(attributes)
  const all = sql.literal(drafts ? withDrafts : approvedOnly)
  return locales === undefined
    ? sql`(select coalesce(jsonb_agg(w.shown order by w.locale), '[]') from (${all}) w)`
    : sql`(select coalesce(jsonb_agg(w.shown), '[]') from (select shown from (${all}) c
        where c.locale = any(${locales}::text[]) order by array_position(${locales}::text[], c.locale) limit 1) w)`
}

const variants = `(select coalesce(json_agg(${
  orderedJsonOf(Variant.fields, "v", {
    optionValueIds: `(select coalesce(json_agg(o.option_value_id order by t.sort_order, t.id), '[]')
      from variant_option_values o
      join option_values w on w.id = o.option_value_id join option_types t on t.id = w.option_type_id
      where o.variant_id = v.id and o.organization_id = v.organization_id)`
  })
} order by v.sort_order, v.id), '[]')
  from variants v where v.entity_id = e.id)`

const categories = `(select coalesce(json_agg(json_build_object('entityId', l.entity_id, 'categoryId', l.category_id,
    'sortOrder', l.sort_order, 'slug', c.slug, 'parentId', c.parent_id, 'metadata', c.metadata)
    order by l.sort_order, c.sort_order, c.slug), '[]')
  from entity_categories l join categories c on c.id = l.category_id where l.entity_id = e.id)`

const brands = `(select coalesce(json_agg(json_build_object('entityId', l.entity_id, 'brandId', l.brand_id,
    'sortOrder', l.sort_order, 'slug', b.slug, 'displayName', b.display_name) order by l.sort_order, b.slug), '[]')
  from entity_brands l join brands b on b.id = l.brand_id where l.entity_id = e.id)`

const levels = `(select coalesce(json_agg(json_build_object('warehouseId', s.warehouse_id,
    'variantId', s.variant_id, 'onHand', s.on_hand, 'reserved', s.reserved, 'available', s.on_hand - s.reserved)
    order by s.variant_id nulls first, s.warehouse_id), '[]')
  from stock_levels_read s where s.organization_id = e.organization_id and s.entity_id = e.id)`

const availability = `(select coalesce(json_agg(json_build_object('variantId', s.variant_id, 'available', s.available)
    order by s.variant_id nulls first), '[]')
  from (select s.variant_id, sum(s.on_hand - s.reserved)::int8 as available
    from stock_levels_read s join warehouses_read w on w.id = s.warehouse_id and w.is_active
    where s.organization_id = e.organization_id and s.entity_id = e.id group by s.variant_id) s)`

const prices = `(select coalesce(json_agg(json_build_object('id', p.id, 'currency', p.currency, 'amount', p.amount,
    'compareAtAmount', p.compare_at_amount, 'variantId', p.variant_id, 'customerGroupId', p.customer_group_id,
    'minQuantity', p.min_quantity, 'maxQuantity', p.max_quantity, 'validFrom', ${isoTime("p.valid_from")},
    'validUntil', ${isoTime("p.valid_until")}, 'createdAt', ${isoTime("p.created_at")})
    order by p.created_at, p.id), '[]')
  from prices_read p where p.organization_id = e.organization_id and p.entity_id = e.id`

/** The conditions of `resolvePrice`. The groups depend on no row, so PostgreSQL reads them once. */
const pricesFor = (sql: SqlClient.SqlClient, buyer: ExpansionView["prices"]) =>
  buyer === "all"
    ? sql`${sql.literal(prices)})`
    : sql`${sql.literal(prices)}
        and (p.valid_from is null or p.valid_from <= ${buyer.now}::timestamptz)
        and (p.valid_until is null or p.valid_until > ${buyer.now}::timestamptz)
        and (p.customer_group_id is null or p.customer_group_id = any(array(select unnest(c.group_ids)
          from customers_read c where c.organization_id = ${buyer.organizationId} and c.user_id = ${buyer.userId}))))`

const optionTypes = `(select coalesce(json_agg(${
  orderedJsonOf({ ...OptionType.fields, values: true }, "t", {
    values: `(select coalesce(json_agg(${orderedJsonOf(OptionValue.fields, "w")} order by w.sort_order, w.id), '[]')
      from option_values w where w.option_type_id = t.id)`
  })
} order by t.sort_order, t.id), '[]')
  from option_types t where t.entity_id = e.id)`

const media = (address: string) =>
  `(select coalesce(json_agg(json_build_object('mediaAssetId', l.media_asset_id, 'role', l.role,
    'sortOrder', l.sort_order, 'variantId', l.variant_id, 'url', '${address.replaceAll("'", "''")}' || m.storage_key,
    'alt', m.alt, 'contentType', m.content_type) order by l.sort_order, l.attached_at, l.media_asset_id), '[]')
  from entity_media_read l join media_assets_read m on m.id = l.media_asset_id
  where l.entity_id = e.id and l.variant_id is null)`

const customFields = `(select coalesce(json_agg(json_build_object('name', d.name, 'label', d.label, 'kind', d.kind,
    'value', v.value, 'isPublic', d.is_public) order by d.sort_order, d.name), '[]')
  from entity_field_values v join entity_field_definitions d on d.id = v.definition_id and d.status = 'active'
  where v.entity_id = e.id)`

const selections: Readonly<Record<Exclude<Include, "attributes" | "media" | "inventory" | "pricing">, string>> = {
  variants,
  categories,
  brands,
  optionTypes,
  customFields
}

export const expansionColumn = (
  sql: SqlClient.SqlClient,
  address: string,
  include: ReadonlyArray<Include>,
  view: ExpansionView
) => {
  const selected = (name: Include) => {
    switch (name) {
      case "attributes":
        return attributesFor(sql, view)
      case "pricing":
        return pricesFor(sql, view.prices)
      case "inventory":
        return sql.literal(view.warehouses ? levels : availability)
      case "media":
        return sql.literal(media(address))
      default:
        return sql.literal(selections[name])
    }
  }
  return include.length === 0
    ? sql.literal("")
    : sql`, json_build_object(${
      sql.csv(include.map((name) => sql`${sql.literal(`'${name}'`)}, ${selected(name)}`))
    }) as expansions`
}
