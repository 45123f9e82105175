import { Schema } from "effect"
import { EntityId, rowsOf, statement, Uuid } from "stoa/plugin"

const Named = Schema.Struct({ id: Uuid, name: Schema.String, priceAdjustment: Schema.Int })
const Offered = Schema.Struct({ ...Named.fields, entityId: EntityId })
const named = rowsOf(Named)
const offered = rowsOf(Offered)

/** Reads options of modifiers by their ids. */
export const optionsNamed = statement("Parts.options", function*(sql, organizationId, ids: ReadonlyArray<string>) {
  if (ids.length === 0) return []
  return yield* named(sql`select o.id, o.name, o.price_adjustment as "priceAdjustment" from pos_modifier_options o
    join pos_modifier_groups g on g.id = o.group_id and g.organization_id = ${organizationId}
    where o.id = any(${ids}::uuid[])`)
})

/** Reads items of combos by their ids. */
export const itemsNamed = statement("Parts.items", function*(sql, organizationId, ids: ReadonlyArray<string>) {
  if (ids.length === 0) return []
  return yield* offered(sql`select i.id, i.item_name as name, i.price_adjustment as "priceAdjustment",
      i.entity_id as "entityId"
    from pos_combo_items i join pos_combo_groups g on g.id = i.group_id and g.organization_id = ${organizationId}
    where i.id = any(${ids}::uuid[])`)
})
