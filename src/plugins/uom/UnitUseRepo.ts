import { Schema } from "effect"
import { type EntityId, rowsOf, statement } from "stoa/plugin"
import type { Conversion } from "./UnitTables.ts"

const entities = rowsOf(Schema.Struct({ entityId: Schema.String }))

/** Units on the two sides of a conversion, which only this conversion connects. */
export interface Sides {
  readonly from: ReadonlyArray<string>
  readonly to: ReadonlyArray<string>
}

/**
 * An entity that needs the conversion: it has units on both sides, by what it is bought, kept and sold in or by its other
 * conversions. A conversion of an entity is needed by that entity alone.
 */
export const needingEntity = statement(
  "UnitUse.needingEntity",
  function*(sql, organizationId, { entityId, id }: Conversion, sides: Sides) {
    const [row] = yield* entities(sql`select e.entity_id as "entityId" from entity_uom e
      cross join lateral (select array[e.purchase_uom_id, e.stock_uom_id, e.sale_uom_id] || coalesce(
        (select array_agg(c.from_unit_id) || array_agg(c.to_unit_id) from uom_conversions c
          where c.organization_id = e.organization_id and c.entity_id = e.entity_id and c.id <> ${id}::uuid),
        '{}') as units) used
      where e.organization_id = ${organizationId} and (${entityId}::uuid is null or e.entity_id = ${entityId}::uuid)
        and used.units && ${sides.from}::uuid[] and used.units && ${sides.to}::uuid[] limit 1`)
    return row?.entityId
  }
)

/** Whether stock of the entity or its variants is there, reserved or on its way: it is counted in the stock unit. */
export const hasStock = statement("UnitUse.hasStock", function*(sql, organizationId, id: EntityId) {
  const found = yield* entities(sql`select entity_id as "entityId" from plugin_stock_levels
    where organization_id = ${organizationId} and entity_id = ${id}::uuid
      and (quantity_on_hand, quantity_reserved, quantity_incoming, quantity_in_transit) <> (0, 0, 0, 0) limit 1`)
  return found.length > 0
})
