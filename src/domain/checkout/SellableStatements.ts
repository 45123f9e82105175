import { maxUnits } from "../inventory/StockLevel.ts"
import { jsonOf } from "../platform/records/Table.ts"
import { ClaimedLine } from "./PricedCart.ts"

/**
 * The catalog of a line: `line` has `entity_id` and `variant_id`, `owner` the organization. Names the entity `e` and
 * the variant `v`.
 */
export const catalogOf = (line: string, owner: string): string =>
  `left join catalog_entities_read e on e.id = ${line}.entity_id and e.organization_id = ${owner}.organization_id
    left join variants_read v on v.id = ${line}.variant_id and v.entity_id = e.id`

const ofOptions = (aggregate: (order: string) => string) =>
  `case when v.id is not null then (select ${aggregate("order by t.sort_order, t.id")}
    from variant_option_values_read o join option_values_read w on w.id = o.option_value_id
      join option_types_read t on t.id = w.option_type_id
    where o.variant_id = v.id) end`

/** A picture of the variant, else of the entity; the primary one first. */
const image = (address: string) =>
  `(select jsonb_build_object('url', '${address.replaceAll("'", "''")}' || m.storage_key, 'alt', m.alt,
      'width', m.width, 'height', m.height)
    from entity_media_read p join media_assets_read m on m.id = p.media_asset_id
    where p.entity_id = e.id and (p.variant_id is null or p.variant_id = v.id)
      and p.role in ('primary', 'gallery', 'thumbnail') and m.content_type like 'image/%'
    order by p.variant_id is null, p.role <> 'primary', p.sort_order, p.attached_at, p.media_asset_id limit 1)`

/** SQL for each field of `ShownItem`, beside `catalogOf`. */
const shownItem = (address: string) => ({
  title: `coalesce((select a.title from entity_attributes_read a where a.entity_id = e.id
    order by a.locale <> 'en', a.locale limit 1), e.slug)`,
  variantTitle: ofOptions((order) => `string_agg(w.display_value, ' / ' ${order})`),
  options: `coalesce(${
    ofOptions((order) => `jsonb_agg(jsonb_build_object('name', t.display_name, 'value', w.display_value) ${order})`)
  }, '[]')`,
  sku: "coalesce(v.sku, e.metadata->>'sku')",
  slug: "e.slug",
  image: image(address)
})

/** The variant decides, else the entity. */
const isCounted = "coalesce(v.manage_inventory, e.manage_inventory, true)"

const mayWait = "coalesce(v.allow_backorder, e.allow_backorder, false)"

/** `address` begins the addresses of media. */
export const sellableSnapshot = (address: string) =>
  jsonOf(ClaimedLine.fields, "l", {
    ...shownItem(address),
    entityType: "e.type",
    available:
      "coalesce(e.status = 'active' and e.is_visible and (l.variant_id is null or v.status = 'active'), false)",
    taxClass: "coalesce(v.tax_class, e.tax_class)",
    taxClassId: "coalesce(v.tax_class_id, case when v.tax_class is null then e.tax_class_id end)",
    counted: isCounted,
    backorders: `case when ${mayWait} then coalesce(v.backorder_limit, e.backorder_limit, ${maxUnits}) else 0 end`,
    weightGrams: `case when jsonb_typeof(coalesce(v.metadata->'weightGrams', e.metadata->'weightGrams')) = 'number'
    then coalesce(v.metadata->'weightGrams', e.metadata->'weightGrams') else '0' end`,
    categorySlugs: `coalesce((select jsonb_agg(k.slug) from entity_categories_read ec
    join categories_read k on k.id = ec.category_id where ec.entity_id = l.entity_id), '[]')`
  })

/** Adds the units in active warehouses, whether few are left, and the units that orders wait for. */
export const shownLine = (address: string) =>
  `${sellableSnapshot(address)} || (
    select jsonb_build_object('shown', jsonb_build_object('id', l.id, 'units', coalesce(sum(s.on_hand - s.reserved), 0),
      'isLow', coalesce(bool_or(s.on_hand - s.reserved <= s.reorder_threshold), false),
      'waiting', case when ${mayWait} then coalesce((select i.backordered from stock_items_read i
        where i.organization_id = c.organization_id and i.sellable_id = coalesce(l.variant_id, l.entity_id)), 0) else 0 end))
    from stock_levels_read s join warehouses_read w on w.id = s.warehouse_id and w.is_active
    where s.organization_id = c.organization_id and s.entity_id = l.entity_id
      and s.variant_id is not distinct from l.variant_id)`
