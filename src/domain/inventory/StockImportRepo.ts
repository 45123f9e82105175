import { Effect, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import type { Sellable } from "../catalog/Sellables.ts"
import { columnsOf } from "../records/Columns.ts"
import { decoding } from "../records/Rows.ts"
import { StockLevel } from "./StockLevel.ts"
import { Warehouse } from "./Warehouse.ts"

const levelColumns = columnsOf(StockLevel.fields, "l", {
  quantityOnHand: "l.on_hand",
  quantityReserved: "l.reserved",
  quantityIncoming: "l.incoming",
  available: "l.on_hand - l.reserved",
  version: "i.version"
})

const NamedWarehouse = Schema.Struct(Struct.pick(Warehouse.fields, ["id", "code", "isActive"]))

/**
 * Locks the version row of every sellable in id order, and creates missing ones, so that no other writer changes their
 * levels before the transaction ends. Three statements.
 */
export const stockReads = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    Effect.fn("StockImportRepo.read")(function*(sellables: ReadonlyArray<Sellable>) {
      const organization = yield* currentOrganization
      const ids = [...new Set(sellables.map(({ entityId, variantId }) => variantId ?? entityId))].toSorted()
      // An update without changes locks the row and returns its newest version to this statement.
      yield* sql`insert into stock_items as i (organization_id, sellable_id)
      select ${organization}, id from unnest(${ids}::uuid[]) id order by id
      on conflict (organization_id, sellable_id) do update set version = i.version`
      const levels = yield* decoding(sql, StockLevel, "unprepared")`select ${
        sql.literal(levelColumns)
      } from stock_levels l
      join stock_items i on i.organization_id = l.organization_id and i.sellable_id = l.sellable_id
      where l.organization_id = ${organization} and l.sellable_id = any(${ids}::uuid[])
        and i.sellable_id = any(${ids}::uuid[])`
      const warehouses = yield* decoding(sql, NamedWarehouse)`select id, code, is_active as "isActive" from warehouses
        where organization_id = ${organization} order by priority, id`
      return {
        /** By sellable and warehouse. */
        levels: new Map(levels.map((one) => [`${one.variantId ?? one.entityId} ${one.warehouseId}`, one])),
        /** Ids by code. */
        warehouses: new Map(warehouses.map(({ code, id }) => [code, id])),
        /** The first active warehouse. */
        firstWarehouse: warehouses.find(({ isActive }) => isActive)?.id
      }
    }, Effect.orDie)
)
