import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { usageReturned } from "./UsageReturnRepo.ts"

/** Gives back what the placing of an order took, besides the stock and the money, which have repositories of their own. */
export class UndoCreateOrderRepo extends Context.Service<UndoCreateOrderRepo, {
  /**
   * The promotion usage of a cancelled order goes back to its counters, and when nothing was captured the cart goes back
   * to the shopper. To be called in the transaction that cancels it. Repeating it changes nothing: the rows that drive
   * it are gone the first time.
   */
  readonly undo: (orderId: string) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/checkout/UndoCreateOrderRepo") {}

/** `UndoCreateOrderRepo` over the database of the process. */
export const undoCreateOrderRepoLayer = Layer.effect(
  UndoCreateOrderRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    UndoCreateOrderRepo.of({
      undo: Effect.fn("UndoCreateOrderRepo.undo")(function*(orderId: string) {
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
