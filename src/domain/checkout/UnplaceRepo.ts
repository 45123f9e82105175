import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"

/** Gives back what the placing of an order took, besides the order's own cancellation. */
export class UnplaceRepo extends Context.Service<UnplaceRepo, {
  /**
   * Promotion usage goes back to its counters and the cart to the shopper, for an order that was cancelled because its
   * money could not be captured. Repeating it changes nothing: the usage rows that drive it are gone the first time.
   */
  readonly giveBack: (orderId: string, cartId: string | null) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/checkout/UnplaceRepo") {}

export const unplaceRepoLayer = Layer.effect(
  UnplaceRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    UnplaceRepo.of({
      giveBack: Effect.fn("UnplaceRepo.giveBack")(function*(orderId: string, cartId: string | null) {
        const { organizationId } = yield* CurrentActor
        yield* sql`with cancelled as (select id from orders where id = ${orderId}::uuid
            and organization_id = ${organizationId} and status = 'cancelled'),
          cart as (update carts set status = 'active', checkout_id = null, version = version + 1, updated_at = now()
            where id = ${cartId}::uuid and organization_id = ${organizationId} and checkout_id = ${orderId}::uuid
              and status = 'checked_out' and exists (select 1 from cancelled)),
          usages as (delete from promotion_usages u using cancelled where u.order_id = cancelled.id
            returning u.promotion_id, u.customer_id),
          -- Rows are locked in the order in which orders are placed with them, so that nobody waits in a circle.
          counted as materialized (select c.promotion_id, c.customer_id from promotion_customer_usages c
            join usages u on u.promotion_id = c.promotion_id and u.customer_id = c.customer_id
            order by c.promotion_id for update of c),
          locked as materialized (select p.id from promotions p where p.id = any(array(select promotion_id from usages))
            order by p.id for update of p),
          totals as (update promotions p set used_count = p.used_count - 1 from locked where p.id = locked.id)
          update promotion_customer_usages c set used_count = c.used_count - 1 from counted
          where c.promotion_id = counted.promotion_id and c.customer_id = counted.customer_id`
      }, Effect.orDie)
    }))
)
