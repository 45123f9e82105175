import { Effect, Schema } from "effect"
import {
  CurrentActor,
  EntityId,
  type FulfillmentId,
  OrderId,
  type PluginDatabase,
  rowsOf,
  VariantId,
  WarehouseId
} from "stoa/plugin"

const Shipped = Schema.Struct({
  orderId: OrderId,
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  warehouseId: WarehouseId,
  quantity: Schema.Int
})

const shipped = rowsOf(Shipped)

/** Units that left stock with a fulfillment, by goods and warehouse; none for digital goods. */
export const shippedUnits = Effect.fn("ShippedUnits.of")(
  function*({ sql }: PluginDatabase["Service"], fulfillmentId: FulfillmentId) {
    const { organizationId } = yield* CurrentActor
    return yield* shipped(sql)`select f.order_id as "orderId", l.entity_id as "entityId", l.variant_id as "variantId",
        t."warehouseId", t.quantity
      from plugin_fulfillments f
        cross join lateral jsonb_to_recordset(f.taken) t (sellable uuid, "warehouseId" uuid, quantity int)
        cross join lateral (select entity_id, variant_id from plugin_order_lines l
          where l.organization_id = f.organization_id and l.order_id = f.order_id
            and coalesce(l.variant_id, l.entity_id) = t.sellable limit 1) l
      where f.organization_id = ${organizationId} and f.id = ${fulfillmentId}::uuid`
  },
  Effect.orDie
)
