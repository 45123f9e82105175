import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OrderStock } from "../inventory/Inventory.ts"
import { HeldUnits } from "../inventory/StockRules.ts"
import { orderProjections, updateProjections } from "../orders/OrderProjections.ts"
import { OrderStatus } from "../orders/OrderStatus.ts"
import { refundNoted } from "../orders/RefundEntryStatements.ts"
import { type Actor, CurrentActor } from "../platform/access/Actor.ts"
import { conflict, notFound } from "../platform/errors/ErrorKinds.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { type CompensationFailureId, newId, OrderId, OrderLineId, RefundId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { decoding } from "../platform/records/Rows.ts"
import { failures } from "./CompensationFailureRepo.ts"
import { RefundNotFound } from "./Refund.ts"
import { capOf, type RefundableOrder, refundableUnits } from "./RefundCalculation.ts"
import { lockMoney, readRefundable } from "./RefundCalculationRepo.ts"
import { pendingParts } from "./RefundPartRepo.ts"

/** `refused`: by the provider, who then has no record of it; otherwise the provider never answered. */
export interface RefundFailure {
  readonly message: string
  readonly refused: boolean
  readonly position?: number
}

const Ended = Schema.Struct({ orderId: OrderId, status: OrderStatus, released: Schema.Array(HeldUnits) })

/**
 * Releases what the refunds of the CTE `ended` accounted for. A refund of which one payment has given its part back
 * still accounts for all of it: the rest is owed.
 */
const accountedNoMore = (sql: SqlClient.SqlClient) =>
  sql`counted as (
      update order_lines l set refunded_quantity = l.refunded_quantity - r.quantity,
        refunded_value = l.refunded_value - r.value
      from ended join refund_lines r on r.refund_id = ended.id where l.id = r.order_line_id and ended.given = 0),
    shipping as (
      update orders o set refunded_shipping = o.refunded_shipping - ended.shipping_value, updated_at = now()
      from ended where o.id = ended.order_id and ended.given = 0)`

const asItWas = (sql: SqlClient.SqlClient) =>
  sql`select ended.order_id as "orderId", o.status,
      case when ended.given = 0 then ended.released_stock else '[]' end as released
    from ended join orders o on o.id = ended.order_id`

const failStatement = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  refundId: RefundId,
  { message, position = -1, refused }: RefundFailure
) =>
  decoding(sql, Ended)`with ended as (
      update refunds set status = 'failed', failure = ${message}, updated_at = now(),
        refusals = refusals + ${refused ? 1 : 0}, sent_at = case when ${refused} then null else sent_at end
      where id = ${refundId}::uuid and organization_id = ${actor.organizationId} and status = 'pending' returning *),
    ${accountedNoMore(sql)},
    recorded as (
      insert into compensation_failures ${
    failures.insert(sql, {
      id: sql`${newId()}::uuid`,
      organizationId: "ended.organization_id",
      kind: "case when ended.amount = 0 then 'void_failed' else 'refund_failed' end",
      orderId: "ended.order_id",
      refundId: "ended.id",
      provider: "coalesce(t.provider, o.payment_provider)",
      paymentIntentId: "coalesce(t.intent_id, o.payment_intent_id)",
      amount: "ended.outstanding",
      message: sql`${message}`
    })
  } from ended join orders o on o.id = ended.order_id
        left join order_tenders t on t.order_id = o.id and t.position = ${position}::int),
    entry as (${refundNoted(sql, actor, "refunds.fail", "ended")})
    ${asItWas(sql)}`

const undoStatement = (sql: SqlClient.SqlClient, actor: Actor, orderId: OrderId, refundId: RefundId) =>
  decoding(sql, Ended)`with ended as (
      update refunds set status = 'undone', undone_at = now(), undone_by = ${actor.userId ?? actor.keyId ?? null}::text,
        updated_at = now()
      where id = ${refundId}::uuid and order_id = ${orderId}::uuid and organization_id = ${actor.organizationId}
        and status = 'pending' and sent_at is null
      returning *),
    ${accountedNoMore(sql)},
    entry as (${refundNoted(sql, actor, "refunds.undo", "ended")})${idempotencyRecord(sql, actor, "ended")}
    ${asItWas(sql)}`

export class RefundSent
  extends conflict("RefundSent", "The provider has been asked for this refund: it cannot be undone any more.")
{}
export class RefundEnded extends conflict(
  "RefundEnded",
  (status: string) => `The refund is ${status}: only one that the provider has not heard of can be undone.`
) {}
export class FailureNotFound extends notFound("CompensationFailure", "Compensation failure not found.") {}
export class StepNotRestartable extends conflict(
  "StepNotRestartable",
  "This step cannot be started again here. See to it at the provider, then resolve it."
) {}
export class FailureClosed extends conflict("FailureClosed", "Somebody has seen to this failure already.") {}
export class RefundedOtherwise
  extends conflict("RefundedOtherwise", "Its units or its money have been given back otherwise. Resolve it.")
{}
export class RefundNotFailed extends conflict("RefundNotFailed", "The refund is not failed any more.") {}

const FailedRefund = Schema.Struct({
  status: Schema.String,
  orderId: Schema.NullOr(OrderId),
  refundId: Schema.NullOr(RefundId),
  amount: Amount,
  shipping: Amount,
  lines: Schema.Array(Schema.Struct({ id: OrderLineId, quantity: Schema.Int, value: Amount })),
  tendersFit: Schema.Boolean
})
type FailedRefund = typeof FailedRefund.Type

const readFailed = (sql: SqlClient.SqlClient, actor: Actor, failureId: CompensationFailureId) =>
  decoding(sql, FailedRefund)`select f.status, f.order_id as "orderId", f.refund_id as "refundId",
      coalesce(r.outstanding, 0) as amount,
      case when r.given = 0 then r.shipping_value else 0 end as shipping,
      coalesce((select jsonb_agg(jsonb_build_object('id', l.order_line_id, 'quantity', l.quantity, 'value', l.value))
        from refund_lines l where l.refund_id = r.id and r.given = 0), '[]') as lines,
      not exists (select 1 from refund_tenders part join order_tenders t on t.order_id = r.order_id
          and t.position = part.position
        where part.refund_id = r.id and part.completed_at is null
          and part.amount > coalesce(t.captured, 0) - t.refunded - ${sql.literal(pendingParts)}) as "tendersFit"
    from compensation_failures f left join refunds r on r.id = f.refund_id
    where f.id = ${failureId}::uuid and f.organization_id = ${actor.organizationId}`

const fits = (order: RefundableOrder, { amount, lines, shipping, tendersFit }: FailedRefund): boolean => {
  const known = new Map(order.lines.map((line) => [line.id, line]))
  return tendersFit && amount <= capOf(order) && shipping <= order.shippingTotal - order.refundedShipping &&
    lines.every(({ id, quantity, value }) => {
      const line = known.get(id)
      return line !== undefined && quantity <= refundableUnits(line) &&
        value <= line.totalPrice - line.discountAmount + line.taxAmount - line.refundedValue
    })
}

const unsentOf = (order: RefundableOrder, { lines }: FailedRefund) =>
  order.lines.flatMap(({ id, sellable, unsent }) => {
    const quantity = Math.min(unsent, lines.find((line) => line.id === id)?.quantity ?? 0)
    return quantity === 0 ? [] : [{ sellable, quantity }]
  })

const beginAgain = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  failureId: CompensationFailureId,
  refundId: RefundId,
  released: ReadonlyArray<HeldUnits>
) =>
  decoding(sql, Schema.Struct({ restarts: Schema.Int }))`with closed as (
      update compensation_failures set status = 'retried', resolved_at = now(),
        resolved_by = ${actor.userId ?? actor.keyId ?? null}::text
      where id = ${failureId}::uuid and organization_id = ${actor.organizationId} and status = 'open' returning 1),
    begun as (
      update refunds set status = 'pending', failure = null, restarts = restarts + 1, attempts = 0,
        next_attempt_at = now() + interval '1 minute', released_stock = ${JSON.stringify(released)}::jsonb,
        updated_at = now()
      where id = ${refundId}::uuid and status = 'failed' and exists (select 1 from closed) returning *),
    counted as (
      update order_lines l set refunded_quantity = l.refunded_quantity + r.quantity,
        refunded_value = l.refunded_value + r.value
      from begun join refund_lines r on r.refund_id = begun.id where l.id = r.order_line_id and begun.given = 0),
    shipping as (
      update orders o set refunded_shipping = o.refunded_shipping + begun.shipping_value, updated_at = now()
      from begun where o.id = begun.order_id and begun.given = 0),
    entry as (${refundNoted(sql, actor, "refunds.retry", "begun")})${idempotencyRecord(sql, actor, "begun")}
    select restarts from begun`

/**
 * Ends refunds that failed or were undone: their units, worth and shipping can be refunded again, and released units
 * are allocated again while available. Units that returned to stock stay there.
 */
export class RefundReversalRepo
  extends Context.Service<RefundReversalRepo>()("stoa/domain/payments/RefundReversalRepo", {
    make: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const stock = yield* OrderStock
      const projections = yield* orderProjections

      const ended = Effect.fnUntraced(function*(rows: ReadonlyArray<typeof Ended.Type>) {
        for (const { orderId, released, status } of rows) {
          if (!["cancelled", "refunded", "fulfilled"].includes(status)) yield* stock.holdAgain(orderId, released)
          yield* updateProjections(projections, orderId)
        }
        return rows.length > 0
      })

      const fail = Effect.fn("RefundReversalRepo.fail")(
        function*(refundId: RefundId, failure: RefundFailure) {
          const actor = yield* CurrentActor
          // Lock the order's row before its refunds, the order of all writers of its money.
          const [of] = yield* decoding(
            sql,
            Schema.Struct({ orderId: OrderId })
          )`select order_id as "orderId" from refunds
          where id = ${refundId}::uuid and organization_id = ${actor.organizationId}`
          if (of !== undefined) yield* lockMoney(sql, actor.organizationId, of.orderId)
          return yield* ended(yield* failStatement(sql, actor, refundId, failure))
        },
        sql.withTransaction,
        Effect.orDie
      )

      /** 404 for an unknown refund; 409 for one that is settled or sent. */
      const undo = Effect.fn("RefundReversalRepo.undo")(
        function*(orderId: OrderId, refundId: RefundId) {
          const actor = yield* CurrentActor
          yield* lockMoney(sql, actor.organizationId, orderId)
          if (yield* ended(yield* undoStatement(sql, actor, orderId, refundId))) return
          const [found] = yield* decoding(
            sql,
            Schema.Struct({ status: Schema.String })
          )`select status from refunds where id = ${refundId}::uuid
          and order_id = ${orderId}::uuid and organization_id = ${actor.organizationId}`
          if (found === undefined) return yield* new RefundNotFound()
          return yield* found.status === "pending" ? new RefundSent() : new RefundEnded(found.status)
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      /**
       * Makes the refund of an open failure pending again and closes the failure in the same transaction. 404; 409 if
       * the failure is closed, has no refund, or its units or money have been refunded otherwise since.
       */
      const retry = Effect.fn("RefundReversalRepo.retry")(
        function*(failureId: CompensationFailureId) {
          const actor = yield* CurrentActor
          const [seen] = yield* readFailed(sql, actor, failureId)
          if (seen === undefined) return yield* new FailureNotFound()
          const { orderId, refundId } = seen
          if (orderId === null || refundId === null) return yield* new StepNotRestartable()
          yield* lockMoney(sql, actor.organizationId, orderId)
          const [failed] = yield* readFailed(sql, actor, failureId)
          const order = yield* readRefundable(sql, actor.organizationId, orderId)
          if (failed === undefined || order === undefined || failed.status !== "open") {
            return yield* new FailureClosed()
          }
          if (!fits(order, failed)) return yield* new RefundedOtherwise()
          const released = yield* stock.releaseUnits(orderId, unsentOf(order, failed))
          const [begun] = yield* beginAgain(sql, actor, failureId, refundId, released)
          if (begun === undefined) return yield* new RefundNotFailed()
          return { refundId, organizationId: actor.organizationId, restarts: begun.restarts }
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      return { fail, undo, retry }
    })
  })
{
  static readonly layer = Layer.effect(RefundReversalRepo, RefundReversalRepo.make)
}
