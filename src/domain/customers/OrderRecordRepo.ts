import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import type { OrderRecords } from "./OrderRecord.ts"

/** Reads the records that belong to a customer's orders. */
export class OrderRecordRepo extends Context.Service<OrderRecordRepo>()("stoa/domain/customers/OrderRecordRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    /** Four statements for any number of orders; the newest `limit` of each kind. */
    of: Effect.fn("OrderRecordRepo.of")(function*(customerId: string, limit: number) {
      const organization = yield* currentOrganization
      const owned = sql`x.organization_id = ${organization} and x.order_id = any(array(select id from orders_read
        where customer_id = ${customerId}::uuid and organization_id = ${organization}))`
      const notes = yield* sql<Row<"notes">>`select x.id, x.order_id as "orderId", x.visibility, x.text,
          x.created_at as "createdAt"
        from order_notes_read x where ${owned} order by x.created_at desc, x.id desc limit ${limit}`
      const refunds = yield* sql<Omit<Row<"refunds">, "amount"> & { readonly amount: bigint }>`select x.id,
          x.order_id as "orderId", x.amount, x.reason, x.status, x.created_at as "createdAt"
        from refunds_read x where ${owned} order by x.created_at desc, x.id desc limit ${limit}`
      const fulfillments = yield* sql<Row<"fulfillments">>`select x.id, x.order_id as "orderId", x.type, x.status,
          x.carrier, x.tracking_number as "trackingNumber", x.tracking_url as "trackingUrl", x.details,
          x.created_at as "createdAt"
        from fulfillments_read x where ${owned} order by x.created_at desc, x.id desc limit ${limit}`
      const invoices = yield* sql<Omit<Row<"invoices">, "number"> & { readonly number: bigint }>`select
          x.order_id as "orderId", x.number, x.issued_at as "issuedAt", x.content
        from invoices_read x where ${owned} order by x.issued_at desc, x.number desc limit ${limit}`
      return {
        notes,
        refunds: refunds.map((one) => ({ ...one, amount: Number(one.amount) })),
        fulfillments,
        invoices: invoices.map((one) => ({ ...one, number: Number(one.number) }))
      }
    }, Effect.orDie)
  }))
}) {
  static readonly layer = Layer.effect(OrderRecordRepo, OrderRecordRepo.make)
}

type Row<Kind extends keyof OrderRecords> = OrderRecords[Kind][number]
