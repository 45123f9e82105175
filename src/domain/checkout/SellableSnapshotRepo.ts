/**
 * SQL of a `ClaimedLine` as JSON: the catalog data that an order line keeps and that pricing needs. Reads a line
 * `l (entity_id, variant_id, quantity)` and the joins of `catalogOf`.
 */
export const sellableSnapshot = `jsonb_build_object(
    'entityId', l.entity_id, 'variantId', l.variant_id, 'quantity', l.quantity, 'entityType', e.type,
    'available', coalesce(e.status = 'active' and e.is_visible
      and (l.variant_id is null or v.status = 'active'), false),
    'title', coalesce((select a.title from entity_attributes a where a.entity_id = l.entity_id
      order by a.locale <> 'en', a.locale limit 1), e.slug),
    'sku', coalesce(v.sku, e.metadata->>'sku'),
    'taxClass', coalesce(v.tax_class, e.tax_class),
    'weightGrams', case when jsonb_typeof(coalesce(v.metadata->'weightGrams', e.metadata->'weightGrams')) = 'number'
      then coalesce(v.metadata->'weightGrams', e.metadata->'weightGrams') else '0' end,
    'categorySlugs', coalesce((select jsonb_agg(k.slug) from entity_categories ec
      join categories k on k.id = ec.category_id where ec.entity_id = l.entity_id), '[]'))`

/** SQL joins of the entity and variant of a line `l`, in the organization of `c`. */
export const catalogOf = `left join catalog_entities e on e.id = l.entity_id and e.organization_id = c.organization_id
    left join variants v on v.id = l.variant_id and v.entity_id = e.id`

/** SQL of the lines of the cart `c`, each a `ClaimedLine` with current catalog data. */
export const linesOfCart = `coalesce((select jsonb_agg(${sellableSnapshot} order by l.added_at, l.id)
        from cart_lines l ${catalogOf} where l.cart_id = c.id), '[]')`
