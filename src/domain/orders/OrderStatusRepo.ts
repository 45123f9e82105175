import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OrderStock } from "../inventory/Inventory.ts"
import { type Actor, CurrentActor } from "../platform/access/Actor.ts"
import { type Conflict, InvalidTransition } from "../platform/errors/ApiErrors.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { newId, type OrderId, type PaymentId, RefundId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import type { Order } from "./Order.ts"
import { orderProjections, updateProjections } from "./OrderProjections.ts"
import { orderStatements } from "./OrderStatements.ts"
import { effectsOf, Handover, type OrderStatus, refusedWithRefundedUnits, UndoCreateOrder } from "./OrderStatus.ts"
import { orderHistory } from "./OrderTable.ts"
import { refundNoted } from "./RefundEntryStatements.ts"
import { refunds } from "./RefundTable.ts"

class StatusChanged extends conflict(
  "OrderStatusChanged",
  (from: OrderStatus) => `The order is no longer ${from}: another request changed it.`
) {}

export interface OrderTransition {
  readonly orderId: OrderId
  readonly from: OrderStatus
  readonly to: OrderStatus
  readonly reason: string | null
  /** By the provider, minor units; absent: unchanged. */
  readonly amountCaptured?: number | undefined
  readonly authorizationEnded?: boolean | undefined
  /** Apply the change only before any capture; otherwise refuse it like a change of an order that has left `from`. */
  readonly unpaid?: boolean | undefined
  /** Apply the change only while the order has this payment and no other is being made (null: the checkout's). */
  readonly payment?: { readonly id: PaymentId | null } | undefined
  /** Fulfillments already record the handed-over units: the change deducts no more stock. */
  readonly covered?: boolean | undefined
}

export interface TransitionOutcome {
  readonly order: Order
  readonly refundId: RefundId | null
}

const compareAndSet = (sql: SqlClient.SqlClient, actor: Actor, change: OrderTransition) =>
  sql`update orders o set status = ${change.to}, updated_at = now(),
      fulfilled_at = case when ${effectsOf[change.to].includes("stampFulfilledAt")} then now() else fulfilled_at end,
      cancelled_at = case when ${effectsOf[change.to].includes("stampCancelledAt")} then now() else cancelled_at end,
      amount_captured = coalesce(${change.amountCaptured ?? null}::bigint, amount_captured)
    where id = ${change.orderId}::uuid and organization_id = ${actor.organizationId} and status = ${change.from}
      and (amount_captured is null or not ${change.unpaid ?? false}::boolean)
      and (not ${change.payment !== undefined}::boolean
        or payment_claim_id is null and payment_id is not distinct from ${change.payment?.id ?? null}::uuid)
    returning exists (select 1 from order_lines l where l.order_id = o.id and l.refunded_quantity > 0) as refunded_units`

/**
 * Locks the order's row first, so that no concurrent refund is missed. Refunds the captured amount that is neither
 * refunded nor pending, and voids an authorization that was never captured, recorded as a refund of 0.
 */
const record = (sql: SqlClient.SqlClient, actor: Actor, change: OrderTransition) => {
  const effects = effectsOf[change.to]
  return decoding(sql, Schema.Struct({ refundId: Schema.NullOr(RefundId) }))`with lines as (
      update order_lines set fulfillment_status = 'fulfilled'
      where ${effects.includes("markLinesFulfilled")}::boolean and order_id = ${change.orderId}::uuid
        and fulfillment_status <> 'fulfilled'),
    due as (
      select o.id, coalesce(o.amount_captured, 0) - o.refunded_total - coalesce((select sum(r.outstanding) from refunds r
          where r.order_id = o.id and r.status = 'pending'), 0)::bigint as amount,
        o.payment_intent_id is not null and coalesce(o.amount_captured, 0) = 0
          and not ${change.authorizationEnded ?? false}::boolean as voidable
      from orders o where o.id = ${change.orderId}::uuid and ${effects.includes("returnPayment")}::boolean),
    refund as (
      insert into refunds ${
    refunds.insert(sql, {
      id: sql`${newId()}::uuid`,
      organizationId: sql`${actor.organizationId}`,
      orderId: "id",
      amount: "greatest(amount, 0)",
      reason: sql`${change.reason ?? `order_${change.to}`}`,
      status: "'pending'",
      performedBy: sql`${actor.userId}::text`
    })
  } from due where amount > 0 or voidable
      returning *),
    entry as (${refundNoted(sql, actor, "refunds.create", "refund")}),
    history as (
      insert into order_status_history ${
    orderHistory.insert(sql, {
      id: sql`${newId()}::uuid`,
      organizationId: sql`${actor.organizationId}`,
      orderId: sql`${change.orderId}::uuid`,
      fromStatus: sql`${change.from}`,
      toStatus: sql`${change.to}`,
      reason: sql`${change.reason}`,
      changedBy: sql`${actor.userId}`
    })
  })${idempotencyRecord(sql, actor)}
    select (select id from refund) as "refundId"`
}

interface Goods {
  readonly stock: OrderStock["Service"]
  readonly handover: Handover["Service"]
}

/** A final status ends the hold on the stock: deducted when fulfilled, released when not (contract §4.2). */
const moveStock = Effect.fnUntraced(function*({ handover, stock }: Goods, { covered, orderId, to }: OrderTransition) {
  if (effectsOf[to].includes("deductStock") && covered !== true) {
    yield* handover.rest(orderId)
    yield* stock.handOver(orderId)
    return
  }
  // A refund of a partially fulfilled order ends it too: what was never sent must not stay reserved for ever.
  const ends = effectsOf[to].includes("releaseReservations") || effectsOf[to].includes("deductStock") ||
    to === "refunded"
  if (!ends) return
  const lines = yield* handover.unshelved(orderId)
  if (lines.length > 0) yield* stock.handOver(orderId, lines)
  yield* stock.release(orderId)
})

/** The one writer of an order's status (ARCHITECTURE §3, contract §4.2). */
export class OrderStatusRepo extends Context.Service<OrderStatusRepo>()("stoa/domain/orders/OrderStatusRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const goods = { stock: yield* OrderStock, handover: yield* Handover }
    const undoCreateOrder = yield* UndoCreateOrder
    const projections = yield* orderProjections
    const read = orderStatements(sql).order

    const inTransaction = Effect.fnUntraced(function*(change: OrderTransition) {
      const actor = yield* CurrentActor
      const before = yield* read(actor.organizationId, change.orderId, true)
      if (effectsOf[change.to].includes("returnPayment")) {
        yield* Effect.mapError(
          projections.refunding({ orderId: change.orderId, lines: [], isAll: true }),
          ({ error }) => InvalidTransition.of(error.message)
        )
      }
      const [set] = yield* compareAndSet(sql, actor, change)
      if (before === undefined || set === undefined) return yield* new StatusChanged(change.from)
      if (set["refunded_units"] === true && change.covered !== true && refusedWithRefundedUnits.includes(change.to)) {
        return yield* InvalidTransition.of(`An order with refunded units cannot become ${change.to}.`)
      }
      yield* moveStock(goods, change)
      if (effectsOf[change.to].includes("releaseUsage")) yield* undoCreateOrder.undo(change.orderId)
      const [written] = yield* record(sql, actor, change)
      const order = yield* read(actor.organizationId, change.orderId, false)
      if (order === undefined) {
        return yield* Effect.die(new Error(`Order ${change.orderId} vanished while it was locked.`))
      }
      const changed = { entityType: "order", entityId: order.id, payload: order, before } as const
      yield* changeLogInsert(sql, actor, [
        { ...changed, type: "orders.statusChange" },
        ...(change.to === "cancelled" ? [{ ...changed, type: "orders.cancel" } as const] : [])
      ])
      yield* updateProjections(projections, order.id)
      return { order, refundId: written?.refundId ?? null }
    })

    return {
      /**
       * Compare-and-set of the status with all its effects in one transaction. 409 if the order has left `from`; 422 if
       * refunded units would be handed over, or a projection refuses the refund.
       */
      transition: Effect.fn("OrderStatusRepo.transition")((
        change: OrderTransition
      ): Effect.Effect<TransitionOutcome, Conflict | InvalidTransition, CurrentActor> =>
        sql.withTransaction(inTransaction(change)).pipe(
          Effect.provideService(SqlClient.SqlClient, sql),
          Effect.catchTag("SqlError", Effect.die)
        )
      )
    }
  })
}) {
  static readonly layer = Layer.effect(OrderStatusRepo, OrderStatusRepo.make)
}
