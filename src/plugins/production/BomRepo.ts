import { Schema } from "effect"
import { EntityId, rowsOf, statement, VariantId, type WarehouseId } from "stoa/plugin"

/** The most levels of bills of material below one another. */
export const maxDepth = 100

const below = rowsOf(Schema.Struct({ id: Schema.String, depth: Schema.Int }))
const around = rowsOf(Schema.Struct({ depth: Schema.Int, isCycle: Schema.Boolean }))
const StockOfMaterial = Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  available: Schema.Int,
  /** An exact decimal text. */
  unitCost: Schema.NullOr(Schema.String)
})
export type StockOfMaterial = typeof StockOfMaterial.Type
const levels = rowsOf(StockOfMaterial)

/** What refers to a version means the active one of its family. Ends one level too deep, so also in a cycle. */
const walkBelow = `below (id, depth) as (select id, 0 from start union
  select sub.id, w.depth + 1 from below w join production_bom_items i on i.bom_id = w.id
    join production_boms named on named.id = i.sub_bom_id
    join production_boms sub on sub.organization_id = named.organization_id and sub.family_id = named.family_id
      and sub.is_active
  where w.depth <= ${maxDepth})`

const walkAbove = `above (id, depth) as (select id, 0 from start union
  select parent.id, w.depth + 1 from above w join production_boms used on used.id = w.id
    join production_boms named on named.organization_id = used.organization_id and named.family_id = used.family_id
    join production_bom_items i on i.sub_bom_id = named.id
    join production_boms parent on parent.id = i.bom_id and parent.is_active
  where w.depth <= ${maxDepth})`

/** Ids of the bills of material below one and of itself, each after all that use it; none where it is not there. */
export const bomsBelow = statement("Boms.below", function*(sql, organizationId, bomId: string) {
  return (yield* below(sql`with recursive start as (select id from production_boms
      where organization_id = ${organizationId} and id = ${bomId}::uuid), ${sql.literal(walkBelow)}
    select id, max(depth) as depth from below group by id order by depth, id`)).map(({ id }) => id)
})

/** How many levels the longest way through a bill of material has, and whether a product on it is a part of itself. */
export const waysThrough = statement("Boms.waysThrough", function*(sql, organizationId, bomId: string) {
  const [row] = yield* around(sql`with recursive start as (select id from production_boms
      where organization_id = ${organizationId} and id = ${bomId}::uuid),
      ${sql.literal(walkBelow)}, ${sql.literal(walkAbove)}
    select coalesce((select max(depth) from below), 0) + coalesce((select max(depth) from above), 0) as depth,
      exists (select 1 from below join production_bom_items i on i.bom_id = below.id
        join production_boms made on made.entity_id = i.entity_id and made.variant_id is not distinct from i.variant_id
        join above on above.id = made.id) as "isCycle"`)
  return row ?? { depth: 0, isCycle: false }
})

/** What a warehouse has of these goods and could give, and what a unit cost on average. */
export const stockOf = statement(
  "Boms.stock",
  function*(sql, organizationId, warehouseId: WarehouseId, entityIds: ReadonlyArray<EntityId>) {
    return yield* levels(
      sql`select entity_id as "entityId", variant_id as "variantId", average_cost::text as "unitCost",
        greatest(quantity_on_hand - quantity_reserved, 0) as available
      from plugin_stock_levels where organization_id = ${organizationId}
        and warehouse_id = ${warehouseId}::uuid and entity_id = any(${entityIds}::uuid[])`
    )
  }
)
