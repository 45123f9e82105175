import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import { readRefundable } from "./RefundableRepo.ts"
import type { RefundRecord } from "./RefundRecord.ts"
import type { RefundableOrder } from "./RefundShares.ts"

interface RecordRow {
  readonly id: string
  readonly organization_id: string
  readonly order_id: string
  readonly kind: RefundRecord["kind"]
  readonly amount: bigint
  readonly currency: string
  readonly shipping_amount: bigint
  readonly reason: string
  readonly lines: RefundRecord["lines"]
  readonly status: RefundRecord["status"]
  readonly failure: string | null
  readonly provider_reference: string | null
  readonly performed_by: string | null
  readonly undone_at: Date | null
  readonly undone_by: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const toRecord = (row: RecordRow): RefundRecord => ({
  id: row.id,
  organizationId: row.organization_id,
  orderId: row.order_id,
  kind: row.kind,
  amount: Number(row.amount),
  currency: row.currency,
  shipping: Number(row.shipping_amount),
  reason: row.reason,
  lines: row.lines,
  status: row.status,
  failure: row.failure,
  providerReference: row.provider_reference,
  performedBy: row.performed_by,
  undoneAt: row.undone_at,
  undoneBy: row.undone_by,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})

/** Reads of the ledger of refunds; each is one statement or two, however many refunds and lines there are. */
export class RefundRecordRepo extends Context.Service<RefundRecordRepo, {
  /** A refund with its lines. Undefined when the organization has none such. */
  readonly find: (refundId: string) => Effect.Effect<RefundRecord | undefined, never, CurrentActor>
  /** A page of an order's refunds, newest first; undefined if the organization has no such order. */
  readonly ofOrder: (
    orderId: string,
    page: PageRequest
  ) => Effect.Effect<PageOf<RefundRecord> | undefined, never, CurrentActor>
  /** The refundable parts of an order. Undefined if the organization has no such order. */
  readonly refundable: (orderId: string) => Effect.Effect<RefundableOrder | undefined, never, CurrentActor>
}>()("stoa/domain/payments/RefundRecordRepo") {}

/** `RefundRecordRepo` over the database of the process. */
export const refundRecordRepoLayer = Layer.effect(
  RefundRecordRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const columns = sql`r.*, o.currency, coalesce((select jsonb_agg(jsonb_build_object('lineItemId', l.id,
        'quantity', p.quantity, 'amount', p.amount, 'restocked', p.restocked) order by l.position)
      from refund_lines p join order_lines l on l.id = p.order_line_id where p.refund_id = r.id), '[]') as lines`

    const find = Effect.fn("RefundRecordRepo.find")(function*(refundId: string) {
      const organization = yield* currentOrganization
      const [row] = yield* sql<RecordRow>`select ${columns} from refunds r join orders o on o.id = r.order_id
        where r.id = ${refundId}::uuid and r.organization_id = ${organization}`
      return row === undefined ? undefined : toRecord(row)
    }, Effect.orDie)

    const ofOrder = Effect.fn("RefundRecordRepo.ofOrder")(function*(orderId: string, page: PageRequest) {
      const organization = yield* currentOrganization
      const [counted] = yield* sql<{ readonly total: bigint }>`select
          (select count(*) from refunds r where r.order_id = ${orderId}::uuid) as total
        from orders o where o.id = ${orderId}::uuid and o.organization_id = ${organization}`
      if (counted === undefined) return undefined
      const rows = yield* sql<RecordRow>`select ${columns} from refunds r join orders o on o.id = r.order_id
        where r.order_id = ${orderId}::uuid and r.organization_id = ${organization}
        order by r.created_at desc, r.id desc limit ${page.limit} offset ${offsetOf(page)}`
      return { ...page, items: rows.map(toRecord), total: Number(counted.total) }
    }, Effect.orDie)

    const refundable = Effect.fn("RefundRecordRepo.refundable")(function*(orderId: string) {
      return yield* readRefundable(sql, yield* currentOrganization, orderId)
    }, Effect.orDie)

    return RefundRecordRepo.of({ find, ofOrder, refundable })
  })
)
