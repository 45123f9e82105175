import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { usageReturned } from "./CreateOrderStatementRepo.ts"
import { UndoCreateOrder } from "./UndoCreateOrder.ts"

/** `UndoCreateOrder` over the database of the process. */
export const undoCreateOrderRepoLayer = Layer.effect(
  UndoCreateOrder,
  Effect.map(SqlClient.SqlClient, (sql) =>
    UndoCreateOrder.of({
      undo: Effect.fn("UndoCreateOrder.undo")(function*(orderId: string) {
        const organization = yield* currentOrganization
        yield* sql`with cancelled as (select id, cart_id, amount_captured from orders where id = ${orderId}::uuid
            and organization_id = ${organization} and status = 'cancelled'),
          cart as (update carts set status = 'active', checkout_id = null, version = version + 1, updated_at = now()
            where id = (select cart_id from cancelled where amount_captured is null)
              and organization_id = ${organization} and checkout_id = ${orderId}::uuid and status = 'checked_out'),
          usages as (delete from promotion_usages where order_id = (select id from cancelled)
            returning promotion_id, buyers),
          ${usageReturned(sql, organization)}
          select 1`
      }, Effect.orDie)
    }))
)
