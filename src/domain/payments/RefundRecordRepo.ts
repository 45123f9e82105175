import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { offsetOf, type PageRequest } from "../paging/Paging.ts"
import { columnsOf } from "../records/Columns.ts"
import { RefundRecord } from "./Refund.ts"
import { readRefundable } from "./RefundableRepo.ts"
/** The columns of a record, from `refunds r` joined with its order `o`. */
const columns = columnsOf(RefundRecord.fields, "r", {
  amount: "r.amount::float8",
  currency: "o.currency",
  shipping: "r.shipping_amount::float8",
  lines: `coalesce((select jsonb_agg(jsonb_build_object('lineItemId', l.id, 'quantity', p.quantity,
      'amount', p.amount, 'restocked', p.restocked) order by l.position)
    from refund_lines p join order_lines_read l on l.id = p.order_line_id where p.refund_id = r.id), '[]')`
})

/** Reads of the ledger of refunds; each is one statement or two, however many refunds and lines there are. */
export class RefundRecordRepo extends Context.Service<RefundRecordRepo>()("stoa/domain/payments/RefundRecordRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const records = (where: Statement.Fragment) =>
      sql<RefundRecord>`select ${
        sql.literal(columns)
      } from refunds r join orders_read o on o.id = r.order_id where ${where}`

    /** A refund with its lines. Undefined when the organization has none such. */
    const find = Effect.fn("RefundRecordRepo.find")(function*(refundId: string) {
      const organization = yield* currentOrganization
      return (yield* records(sql`r.id = ${refundId}::uuid and r.organization_id = ${organization}`))[0]
    }, Effect.orDie)

    /** A page of an order's refunds, newest first; undefined if the organization has no such order. */
    const ofOrder = Effect.fn("RefundRecordRepo.ofOrder")(function*(orderId: string, page: PageRequest) {
      const organization = yield* currentOrganization
      const [counted] = yield* sql<{ readonly total: bigint }>`select
          (select count(*) from refunds r where r.order_id = ${orderId}::uuid) as total
        from orders_read o where o.id = ${orderId}::uuid and o.organization_id = ${organization}`
      if (counted === undefined) return undefined
      const items = yield* records(sql`r.order_id = ${orderId}::uuid and r.organization_id = ${organization}
        order by r.created_at desc, r.id desc limit ${page.limit} offset ${offsetOf(page)}`)
      return { ...page, items, total: Number(counted.total) }
    }, Effect.orDie)

    /** The refundable parts of an order. Undefined if the organization has no such order. */
    const refundable = Effect.fn("RefundRecordRepo.refundable")(function*(orderId: string) {
      return yield* readRefundable(sql, yield* currentOrganization, orderId)
    }, Effect.orDie)

    return { find, ofOrder, refundable }
  })
}) {}

/** `RefundRecordRepo` over the database of the process. */
export const refundRecordRepoLayer = Layer.effect(RefundRecordRepo, RefundRecordRepo.make)
