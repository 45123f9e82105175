import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"

const levelJson = (reserved: string) =>
  `jsonb_build_object('id', x.id, 'entityId', x.entity_id, 'variantId', x.variant_id, 'warehouseId', x.warehouse_id,
    'quantityOnHand', x.on_hand, 'quantityReserved', ${reserved})`

/**
 * The change log's entry of every level that a reservation or a release by hand changed: rows of `stock_levels` in the
 * part `from`, with the `units` that were moved.
 */
export const reservationNoted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: "inventory.reserve" | "inventory.release",
  orderId: string,
  from: string
) =>
  changeLogRows(sql, actor, {
    type,
    entityType: "inventory",
    entityId: "x.id::text",
    payload: sql`${sql.literal(levelJson("x.reserved"))}
      || jsonb_build_object('orderId', ${orderId}::text, 'quantity', x.units)`,
    before: levelJson(type === "inventory.reserve" ? "x.reserved - x.units" : "x.reserved + x.units"),
    from: `${from} x`
  })
