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

/** SQL for each field of `ShownItem`, beside `catalogOf`. `address` begins the addresses of media. */
export const shownItem = (address: string) => ({
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

/** Whether units are counted: by the variant, else by the entity. */
export const isCounted = "coalesce(v.manage_inventory, e.manage_inventory, true)"
