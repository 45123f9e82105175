import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrderStatus } from "../orders/OrderStatus.ts"

/** An event about an order that a tax adapter taxed. */
export interface OutsideTaxed {
  readonly type: string
  readonly organizationId: string
  readonly orderId: string
  /** Status after the event. */
  readonly status: OrderStatus
}

/** Which events are about orders that a tax adapter taxed. */
export class TaxNoticeRepo extends Context.Service<TaxNoticeRepo>()("stoa/domain/tax/TaxNoticeRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    /** One statement for any number of events, by their ids, of all organizations; in the order of the events. */
    outside: Effect.fn("TaxNoticeRepo.outside")(
      (events: ReadonlyArray<string>) =>
        sql<OutsideTaxed>`select e.type, e.organization_id as "organizationId", o.id as "orderId",
            e.payload->>'status' as status
          from outbox_events_read e join orders_read o on o.id = e.entity_id::uuid and o.organization_id = e.organization_id
          where e.id = any(${events}::uuid[])
            and o.id = any(array(select entity_id::uuid from outbox_events_read where id = any(${events}::uuid[])))
            and o.tax_provider is not null
          order by e.event_sequence`,
      Effect.orDie
    )
  }))
}) {}

/** `TaxNoticeRepo` over the database of the process. */
export const taxNoticeRepoLayer = Layer.effect(TaxNoticeRepo, TaxNoticeRepo.make)
