import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** A pending order that has been unpaid for a long time. */
export interface StaleOrder {
  readonly orderId: string
  readonly organizationId: string
}

/** Finds abandoned orders (contract §4.4). */
export class StaleOrderRepo extends Context.Service<StaleOrderRepo, {
  /**
   * A page, by id, of pending orders of all organizations created longer ago than `hours`. Excludes paid, draft and
   * imported orders, and those waiting for payment confirmation, which have a separate deadline and scheduled job.
   */
  readonly older: (hours: number, after: string, limit: number) => Effect.Effect<ReadonlyArray<StaleOrder>>
}>()("stoa/domain/orders/StaleOrderRepo") {}

/** `StaleOrderRepo` over the database of the process. */
export const staleOrderRepoLayer = Layer.effect(
  StaleOrderRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    StaleOrderRepo.of({
      // One organization at a time, to use the index by status. An index of unpaid orders alone would be written by
      // every checkout, only for the time until its payment.
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
