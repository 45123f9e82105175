import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** A pending order that nobody has paid for a long time. */
export interface StaleOrder {
  readonly orderId: string
  readonly organizationId: string
}

/** Finds orders that were left behind (contract §4.4). */
export class StaleOrderRepo extends Context.Service<StaleOrderRepo, {
  /**
   * Pending orders placed longer ago than this, of all organizations, behind one of them in the order of their ids:
   * unpaid, no drafts, none that came from another system, and none that waits for the confirmation of its payment, which has its own deadline and sweep.
   */
  readonly older: (hours: number, after: string, limit: number) => Effect.Effect<ReadonlyArray<StaleOrder>>
}>()("stoa/domain/orders/StaleOrderRepo") {}

/** `StaleOrderRepo` over the database of the process. */
export const staleOrderRepoLayer = Layer.effect(
  StaleOrderRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    StaleOrderRepo.of({
      // Organization by organization, so that the index by status finds them: an index of unpaid orders alone would be
      // written by every checkout, for the moment until its payment.
      older: Effect.fn("StaleOrderRepo.older")((hours: number, after: string, limit: number) =>
        sql<StaleOrder>`select o.id as "orderId", o.organization_id as "organizationId"
          from organizations g cross join lateral (select id, organization_id from orders
            where organization_id = g.id and status = 'pending' and amount_captured is null and not is_draft
              and imported_at is null
              and payment_due_at is null and placed_at < now() - make_interval(hours => ${hours})
              and id > ${after}::uuid) o
          order by o.id limit ${limit}`, Effect.orDie)
    }))
)
