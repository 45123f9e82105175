import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type OrderProjections, orderProjections, updateProjections } from "../orders/OrderProjections.ts"
import { refundNoted } from "../orders/RefundEntryStatements.ts"
import { refunds } from "../orders/RefundTable.ts"
import { type Actor, CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { newId, type OrderId, RefundId } from "../platform/ids/Id.ts"
import { offsetOf, type PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { columnsOf } from "../platform/records/Table.ts"
import { PendingRefund, Refund, RefundRecord } from "./Refund.ts"
import { lockMoney, readRefundable } from "./RefundCalculationRepo.ts"
import { pendingParts } from "./RefundPartRepo.ts"
import { refundTenders } from "./RefundTables.ts"

/**
 * The refund ledger. The transaction of the status change writes rows; this repository settles them. `refunded_total`
 * changes in the same statement, under the constraint that refunds never exceed the capture.
 */
export class RefundRepo extends Context.Service<RefundRepo>()("stoa/domain/payments/RefundRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const projections = yield* orderProjections

    const find = Effect.fn("RefundRepo.find")(function*(refundId: RefundId) {
      const organization = yield* currentOrganization
      const [row] = yield* decoding(sql, Refund)`select r.id, r.order_id as "orderId", r.amount, r.reason, r.status,
          r.refusals, o.payment_intent_id as "intentId", o.payment_provider as provider,
          (select jsonb_agg(jsonb_build_object('position', t.position, 'provider', t.provider, 'intentId', t.intent_id,
              'amount', coalesce(p.amount, 0), 'isGiven', p.completed_at is not null) order by t.position)
            from order_tenders t left join refund_tenders p on p.refund_id = r.id and p.position = t.position
            where t.order_id = o.id) as tenders
        from refunds r join orders o on o.id = r.order_id
        where r.id = ${refundId}::uuid and r.organization_id = ${organization}`
      return row
    }, Effect.orDie)

    /** False when it was settled before: the total moves once. */
    const complete = Effect.fn("RefundRepo.complete")(
      function*(refundId: RefundId, reference: string | null) {
        const actor = yield* CurrentActor
        const organization = actor.organizationId
        // Lock the order's row first, like every writer of its money, to avoid deadlocks. A separate statement, so that
        // the next one sees a void added while this one waited for the lock.
        yield* sql`select 1 from orders where id = (select order_id from refunds
        where id = ${refundId}::uuid and organization_id = ${organization}) for update`
        // A void refunds the full capture at the time it was sent (the adapter's cancel refunds in full). A later
        // capture has a later void, so count nothing until that one has ended.
        const rows = yield* sql`with due as materialized (select id, outstanding from refunds
          where id = ${refundId}::uuid and organization_id = ${organization} and status = 'pending'),
        done as (
          update refunds r set status = 'completed', given = r.amount, provider_reference = ${reference},
            updated_at = now()
          from due where r.id = due.id and r.status = 'pending' returning r.*),
        entry as (${refundNoted(sql, actor, "refunds.complete", "done")}),
        voided as (select done.order_id from done where done.amount = 0 and not exists (select 1 from refunds later
          where later.order_id = done.order_id and later.status = 'pending' and later.created_at > done.created_at)),
        parts as (update order_tenders t set refunded = coalesce(t.captured, 0) from voided
          where t.order_id = voided.order_id)
        update orders o set updated_at = now(), refunded_total = case when exists (select 1 from voided)
          then coalesce(o.amount_captured, 0) else o.refunded_total + due.outstanding end
        from done, due where o.id = done.order_id returning 1`
        return rows.length === 1
      },
      sql.withTransaction,
      Effect.orDie
    )

    /** Runs right before the provider is called: the refund can no longer be undone. False if it is not pending. */
    const send = Effect.fn("RefundRepo.send")(function*(refundId: RefundId) {
      const organization = yield* currentOrganization
      const rows = yield* sql`update refunds set sent_at = coalesce(sent_at, now())
        where id = ${refundId}::uuid and organization_id = ${organization} and status = 'pending' returning 1`
      return rows.length === 1
    }, Effect.orDie)

    /** Runs after the order of a refund that was given outside was moved to `refunded`, or stays: it is no longer due. */
    const conclude = Effect.fn("RefundRepo.conclude")(function*(refundId: RefundId) {
      const organization = yield* currentOrganization
      yield* sql`update refunds set sent_at = coalesce(sent_at, now())
        where id = ${refundId}::uuid and organization_id = ${organization} and status = 'completed'`
    }, Effect.orDie)

    /**
     * Takes due refunds of all organizations, pending or given outside, and postpones the next attempt of each: by a minute at first,
     * doubling up to an hour, so that they do not block the others.
     */
    const takeDue = Effect.fn("RefundRepo.takeDue")(function*(limit: number) {
      return yield* decoding(sql, PendingRefund)`update refunds set attempts = attempts + 1,
          next_attempt_at = now() + make_interval(secs => least(3600, 60 * power(2, least(attempts, 10))))
        where id = any(array(select id from refunds
          where (status = 'pending' or (status = 'completed' and given_outside is not null and sent_at is null))
            and next_attempt_at <= now()
          order by next_attempt_at limit ${limit} for update skip locked))
        returning id as "refundId", organization_id as "organizationId", restarts`
    }, Effect.orDie)

    return { find, send, complete, conclude, takeDue, ...makeReads(sql), ...makeReported(sql, projections) }
  })
}) {
  static readonly layer = Layer.effect(RefundRepo, RefundRepo.make)
}

const columns = columnsOf(RefundRecord.fields, "r", {
  currency: "o.currency",
  shipping: "r.shipping_amount",
  lines: `coalesce((select jsonb_agg(jsonb_build_object('lineItemId', l.id, 'quantity', p.quantity,
      'amount', p.amount, 'restocked', p.restocked) order by l.position)
    from refund_lines p join order_lines_read l on l.id = p.order_line_id where p.refund_id = r.id), '[]')`,
  tenders: `coalesce((select jsonb_agg(jsonb_build_object('method', t.provider, 'label', t.label, 'amount', p.amount,
      'reference', p.reference, 'status', case when p.completed_at is null then 'pending' else 'completed' end)
      order by t.is_stored_value, t.position desc)
    from refund_tenders p join order_tenders t on t.order_id = r.order_id and t.position = p.position
    where p.refund_id = r.id), '[]')`
})

const makeReads = (sql: SqlClient.SqlClient) => {
  const records = (where: Statement.Fragment) =>
    decoding(sql, RefundRecord)`select ${sql.literal(columns)}
      from refunds r join orders_read o on o.id = r.order_id where ${where}`

  const record = Effect.fn("RefundRepo.record")(function*(refundId: RefundId) {
    const organization = yield* currentOrganization
    return (yield* records(sql`r.id = ${refundId}::uuid and r.organization_id = ${organization}`))[0]
  }, Effect.orDie)

  const ofOrder = Effect.fn("RefundRepo.ofOrder")(function*(orderId: OrderId, page: PageRequest) {
    const organization = yield* currentOrganization
    const [counted] = yield* decoding(sql, Schema.Struct({ total: Schema.Int }))`select
        (select count(*) from refunds r where r.order_id = ${orderId}::uuid) as total
      from orders_read o where o.id = ${orderId}::uuid and o.organization_id = ${organization}`
    if (counted === undefined) return undefined
    const items = yield* records(sql`r.order_id = ${orderId}::uuid and r.organization_id = ${organization}
      order by r.created_at desc, r.id desc limit ${page.limit} offset ${offsetOf(page)}`)
    return { ...page, items, total: counted.total }
  }, Effect.orDie)

  const refundable = Effect.fn("RefundRepo.refundable")(function*(orderId: OrderId) {
    return yield* readRefundable(sql, yield* currentOrganization, orderId)
  }, Effect.orDie)

  return { record, ofOrder, refundable }
}

const lateCapture = {
  type: "payments.capture",
  entityType: "order",
  entityId: "x.id::text",
  payload: `jsonb_build_object('orderId', x.id, 'amountCaptured', x.amount_captured,
    'paymentIntentId', x.payment_intent_id)`,
  before: `jsonb_build_object('orderId', x.id, 'amountCaptured', null, 'paymentIntentId', x.payment_intent_id)`,
  from: "paid x"
} as const

const reportedRefunds = {
  late: (sql: SqlClient.SqlClient, actor: Actor) =>
    refunds.insert(sql, {
      id: sql`${newId()}::uuid`,
      organizationId: sql`${actor.organizationId}`,
      orderId: "id",
      amount: "0",
      reason: "'paid_after_cancellation'",
      status: "'pending'",
      performedBy: sql`${actor.userId}::text`
    }),
  external: (sql: SqlClient.SqlClient, actor: Actor, reference: string) =>
    refunds.insert(sql, {
      id: sql`${newId()}::uuid`,
      organizationId: sql`${actor.organizationId}`,
      orderId: "id",
      amount: "amount",
      given: "amount",
      reason: "'refunded_at_provider'",
      status: "'completed'",
      providerReference: sql`${reference}`,
      performedBy: sql`${actor.userId}::text`
    })
}

const makeReported = (sql: SqlClient.SqlClient, projections: OrderProjections["Service"]) => {
  /**
   * Records a capture (minor units) of an order cancelled unpaid. Returns the refund that voids the payment (0: the
   * full capture), or null if an unsent refund already will or the order is in another state. A refund already sent may
   * have been answered before the capture. Call it in the transaction that claims the event.
   */
  const returnLate = Effect.fn("RefundRepo.returnLate")(
    function*(orderId: OrderId, captured: number, intentId: string) {
      const actor = yield* CurrentActor
      yield* lockMoney(sql, actor.organizationId, orderId)
      const rows = yield* decoding(sql, Schema.Struct({ id: RefundId }))`with paid as (
        update orders set amount_captured = ${captured}::bigint, updated_at = now()
        where id = ${orderId}::uuid and organization_id = ${actor.organizationId} and status = 'cancelled'
          and amount_captured is null returning *),
      captured as (${changeLogRows(sql, actor, lateCapture)}),
      part as (update order_tenders t set captured = least(t.amount, ${captured}::bigint) from paid
        where t.order_id = paid.id and t.intent_id = ${intentId} and t.captured is null),
      refund as (insert into refunds ${
        reportedRefunds.late(sql, actor)
      } from paid where not exists (select 1 from refunds r where r.order_id = paid.id and r.status = 'pending'
          and r.sent_at is null)
        returning *),
      entry as (${refundNoted(sql, actor, "refunds.create", "refund")})
      select id from refund`
      yield* updateProjections(projections, orderId)
      return rows[0]?.id ?? null
    },
    Effect.orDie
  )

  /**
   * Records refunds of the provider that ours do not account for, at most what was captured, and returns that amount;
   * repeating it records nothing. Call it in the transaction that claims the event.
   */
  const recordExternal = Effect.fn("RefundRepo.recordExternal")(
    function*(orderId: OrderId, total: number | null, reference: string, intentId: string) {
      const actor = yield* CurrentActor
      yield* lockMoney(sql, actor.organizationId, orderId)
      const rows = yield* decoding(sql, Schema.Struct({ amount: Schema.Int }))`with paid as materialized (
          select o.id, t.position, coalesce(t.captured, o.amount_captured, 0) as captured,
            case when t.position is null then o.refunded_total - coalesce((select sum(r.given) from refunds r
                where r.order_id = o.id and r.given_outside is not null), 0)::bigint + coalesce((select sum(outstanding) from refunds r
                where r.order_id = o.id and r.status = 'pending'), 0)::bigint
              else t.refunded + ${sql.literal(pendingParts)} end as known
          from orders o left join order_tenders t on t.order_id = o.id and t.intent_id = ${intentId}
          where o.id = ${orderId}::uuid and o.organization_id = ${actor.organizationId}),
        due as (select id, position, least(coalesce(${total}::bigint, captured), captured) - known as amount
          from paid),
        made as (
          insert into refunds ${reportedRefunds.external(sql, actor, reference)} from due where amount > 0 returning *),
        entry as (${refundNoted(sql, actor, "refunds.create", "made")}),
        part as (insert into refund_tenders ${
        refundTenders.insert(sql, {
          organizationId: "made.organization_id",
          refundId: "made.id",
          position: "due.position",
          amount: "made.amount",
          reference: sql`${reference}`,
          completedAt: "now()"
        })
      } from made join due on due.id = made.order_id where due.position is not null),
        tender as (update order_tenders t set refunded = t.refunded + made.amount from made join due on due.id = made.order_id
          where t.order_id = made.order_id and t.position = due.position)
        update orders o set refunded_total = o.refunded_total + made.amount, updated_at = now()
        from made where o.id = made.order_id returning made.amount`
      yield* updateProjections(projections, orderId)
      return rows[0]?.amount ?? 0
    },
    Effect.orDie
  )
  return { returnLate, recordExternal }
}
