import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { allocateUnits } from "./AllocatedUnitsRepo.ts"
import { type HoldChange, UnitsShort } from "./HoldChange.ts"
import { returnUnits } from "./ReturnedUnitsRepo.ts"
import { allocateStock, type WarehouseStock } from "./StockRules.ts"

/** Changes what an order that is placed holds. */
export class OrderHoldRepo extends Context.Service<OrderHoldRepo>()("stoa/domain/inventory/OrderHoldRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const lock = (organization: string, { orderId, sellable }: HoldChange) =>
      Effect.andThen(
        sql`insert into holds (organization_id, holder, state) values (${organization}, ${orderId}, 'sold')
            on conflict (organization_id, holder) do update set updated_at = now()`,
        sql`select 1 from stock_items where organization_id = ${organization}
            and sellable_id = ${sellable}::uuid for update`
      )

    const take = Effect.fnUntraced(function*(organization: string, change: HoldChange, performedBy: string | null) {
      const { entityId, orderId, sellable, units } = change
      // Read after the locks, so that the levels cannot change between read and write.
      const levels = yield* sql<WarehouseStock>`select l.warehouse_id as "warehouseId", w.priority,
            l.on_hand - l.reserved as available
          from stock_levels l join warehouses w on w.id = l.warehouse_id and w.is_active
          where l.organization_id = ${organization} and l.sellable_id = ${sellable}::uuid`
      const allocated = allocateStock([{ sellable, quantity: units }], new Map([[sellable, levels]]))
      const allocations = yield* Effect.mapError(Effect.fromResult(allocated), (short) => new UnitsShort(short))
      const taking = { organization, holder: orderId, orderId, entityId, sellable, performedBy, allocations }
      yield* sql`with ${allocateUnits(sql, taking)} select 1`
    })

    return {
      /**
       * Allocates units from the active warehouses by priority, or releases at most what the order holds. Call it in the
       * transaction that changes the order, after locking its row. Locks the hold, then the version, then the levels, like
       * every stock writer; at most four statements.
       */
      change: Effect.fn("OrderHoldRepo.change")(function*(change: HoldChange) {
        const { organizationId: organization, userId } = yield* CurrentActor
        if (change.units === 0) return
        yield* lock(organization, change)
        if (change.units > 0) return yield* take(organization, change, userId)
        const { orderId: holder, sellable, units } = change
        const returning = { organization, holder, sellable, warehouseId: null, quantity: -units }
        yield* sql`with ${returnUnits(sql, { ...returning, reason: "order edited" })} select 1`
      }, Effect.catchTag("SqlError", Effect.die))
    }
  })
}) {
  static readonly layer = Layer.effect(OrderHoldRepo, OrderHoldRepo.make)
}
