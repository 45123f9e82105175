import { Schema } from "effect"
import { EntityId, type OrderId, rowsOf, statement, VariantId, WarehouseId } from "stoa/plugin"

const Stocked = {
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  ingredientName: Schema.String
}
const needs = rowsOf(Schema.Struct({
  ...Stocked,
  dishId: EntityId,
  quantity: Schema.Int,
  yieldQuantity: Schema.Int
}))
const places = rowsOf(Schema.Struct({ warehouseId: WarehouseId }))
const levels = rowsOf(Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  quantityOnHand: Schema.Int
}))
const begun = rowsOf(Schema.Struct({ id: Schema.String }))

/** Reads the ingredients of dishes that leave stock, by their active recipes. */
export const needsOf = statement("Recipes.needs", function*(sql, organizationId, dishIds: ReadonlyArray<EntityId>) {
  return yield* needs(sql`select r.entity_id as "dishId", r.yield_quantity as "yieldQuantity", i.quantity,
      i.ingredient_name as "ingredientName", i.entity_id as "entityId", i.variant_id as "variantId"
    from pos_recipes r join pos_recipe_ingredients i on i.recipe_id = r.id and i.entity_id is not null
    where r.organization_id = ${organizationId} and r.is_active and r.entity_id = any(${dishIds}::uuid[])
    order by r.entity_id, i.sort_order`)
})

/** Reads where ingredients leave: the warehouse of the till, else the active one of the lowest priority. */
export const kitchenWarehouse = statement(
  "Recipes.warehouse",
  function*(sql, organizationId, of: { readonly orderId?: OrderId; readonly transactionId?: string }) {
    const [row] = yield* places(sql`select w.id as "warehouseId" from plugin_warehouses w
      where w.organization_id = ${organizationId} and w.is_active
      order by (w.id = (select t.warehouse_id from pos_transactions s
        join pos_terminals t on t.organization_id = s.organization_id and t.id = s.terminal_id
        where s.organization_id = ${organizationId} and s.id::text = coalesce(${of.transactionId ?? null}::text,
          (select o.metadata->>'posTransactionId' from plugin_orders o
            where o.organization_id = ${organizationId} and o.id = ${of.orderId ?? null}::uuid)))) is true desc,
        w.priority, w.id limit 1`)
    return row?.warehouseId
  }
)

/** Reads what a warehouse has of these goods. */
export const onHandOf = statement(
  "Recipes.onHand",
  function*(sql, organizationId, warehouseId: WarehouseId, entityIds: ReadonlyArray<EntityId>) {
    return yield* levels(sql`select entity_id as "entityId", variant_id as "variantId",
        quantity_on_hand as "quantityOnHand"
      from plugin_stock_levels where organization_id = ${organizationId} and warehouse_id = ${warehouseId}::uuid
        and entity_id = any(${entityIds}::uuid[])`)
  }
)

/** Whether the kitchen has begun to cook an order: it is in process, or a station has started. */
export const isBegun = statement("Recipes.isBegun", function*(sql, organizationId, orderId: OrderId) {
  const found = yield* begun(sql`select id from plugin_order_status_changes
    where organization_id = ${organizationId} and order_id = ${orderId}::uuid and to_status = 'processing'
    union all select id from kds_tickets where organization_id = ${organizationId} and order_id = ${orderId}::uuid
      and coalesce(started_at, ready_at) is not null
    limit 1`)
  return found.length > 0
})
