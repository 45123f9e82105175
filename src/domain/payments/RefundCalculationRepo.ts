import { Context, Effect, Layer, type Result, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { OrderStock } from "../inventory/Inventory.ts"
import type { HeldUnits, StockAllocation } from "../inventory/StockRules.ts"
import { OrderNotFound } from "../orders/Order.ts"
import { orderProjections, updateProjections } from "../orders/OrderProjections.ts"
import { unsentUnits } from "../orders/OrderStatements.ts"
import { refundNoted } from "../orders/RefundEntryStatements.ts"
import { type GivenOutside, refunds } from "../orders/RefundTable.ts"
import { type Actor, CurrentActor } from "../platform/access/Actor.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { newId, type OrderId, type RefundId, type ReturnId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import {
  type CalculatedLine,
  type CalculatedRefund,
  RefundableOrder,
  type RefundRefused,
  restOf
} from "./RefundCalculation.ts"
import { refundLines } from "./RefundTables.ts"

/** Counts units of received returns as taken, except those of `returnId`. */
export const readRefundable = (
  sql: SqlClient.SqlClient,
  organization: string,
  orderId: OrderId,
  returnId: ReturnId | null = null
) =>
  decoding(sql, RefundableOrder)`select o.currency, coalesce(o.amount_captured, 0) as captured,
      o.refunded_total as refunded, o.shipping_total as "shippingTotal",
      o.payment_intent_id is not null and o.amount_captured is null as uncaptured,
      o.refunded_shipping as "refundedShipping", o.tax_included as "taxIncluded",
      coalesce((select sum(r.outstanding) from refunds r where r.order_id = ${orderId}::uuid and r.status = 'pending'), 0)::int8
        as pending,
      coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'sellable', coalesce(l.variant_id, l.entity_id),
          'quantity', l.quantity, 'refundedQuantity', l.refunded_quantity,
          'returned', coalesce((select sum(x.received_quantity) from order_return_lines_read x
            where x.order_line_id = l.id and x.status = 'received'
              and x.return_id is distinct from ${returnId}::uuid), 0), 'refundedValue', l.refunded_value,
          'totalPrice', l.total_price, 'discountAmount', l.discount_amount, 'taxAmount', l.tax_amount,
          'unsent', ${sql.literal(unsentUnits)}) order by l.position)
        from order_lines_read l where l.order_id = o.id), '[]') as lines
    from orders_read o where o.id = ${orderId}::uuid and o.organization_id = ${organization}`.pipe(
    Effect.map(([row]) => row)
  )

/**
 * Locks an order's money until the transaction ends. A separate statement: the next one sees every refund decided or
 * settled before it.
 */
export const lockMoney = (sql: SqlClient.SqlClient, organization: string, orderId: OrderId) =>
  sql`select 1 from orders_read where id = ${orderId}::uuid and organization_id = ${organization} for update`

interface RestockedLine extends CalculatedLine {
  readonly restocked: number
}

const restocked = (
  lines: ReadonlyArray<CalculatedLine>,
  back: ReadonlyArray<StockAllocation>
): ReadonlyArray<RestockedLine> => {
  const left = new Map<string, number>()
  for (const { quantity, sellable } of back) left.set(sellable, (left.get(sellable) ?? 0) + quantity)
  return lines.map((line) => {
    const units = line.restock ? Math.min(line.quantity - line.unsent, left.get(line.sellable) ?? 0) : 0
    left.set(line.sellable, (left.get(line.sellable) ?? 0) - units)
    return { ...line, restocked: units }
  })
}

interface RefundOrigin {
  readonly givenOutside?: GivenOutside | undefined
  /** The return whose goods are refunded. */
  readonly returnId?: ReturnId | undefined
}

interface Writing {
  readonly origin: RefundOrigin
  readonly refundId: RefundId
  readonly orderId: OrderId
  readonly reason: string
  readonly decided: CalculatedRefund
  readonly lines: ReadonlyArray<RestockedLine>
  readonly released: ReadonlyArray<HeldUnits>
}

const insert = (sql: SqlClient.SqlClient, actor: Actor, writing: Writing) => {
  const { decided, lines, orderId, origin, reason, refundId, released } = writing
  const { givenOutside = null, returnId } = origin
  const given = givenOutside === null ? 0 : decided.amount
  const recorded = lines.map(Struct.pick(["lineItemId", "quantity", "amount", "restocked"]))
  return sql`with input as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb)
        as i("lineItemId" uuid, quantity int, value bigint, amount bigint, restock boolean, restocked int)),
    made as (
      insert into refunds ${
    refunds.insert(sql, {
      id: sql`${refundId}::uuid`,
      organizationId: sql`${actor.organizationId}`,
      orderId: sql`${orderId}::uuid`,
      kind: sql`${returnId !== undefined || lines.some(({ restock }) => restock) ? "return" : "refund"}`,
      amount: sql`${decided.amount}::bigint`,
      shippingAmount: sql`${decided.shippingAmount}::bigint`,
      shippingValue: sql`${decided.shippingValue}::bigint`,
      reason: sql`${reason}`,
      status: sql`${given === decided.amount ? "completed" : "pending"}`,
      given: sql`${given}::bigint`,
      givenOutside: sql`${givenOutside === null ? null : JSON.stringify(givenOutside)}::jsonb`,
      performedBy: sql`${actor.userId ?? actor.keyId ?? null}::text`,
      releasedStock: sql`${JSON.stringify(released)}::jsonb`
    })
  } returning *),
    parts as (
      insert into refund_lines ${
    refundLines.insert(sql, {
      organizationId: sql`${actor.organizationId}`,
      refundId: sql`${refundId}::uuid`,
      orderLineId: "\"lineItemId\"",
      quantity: "quantity",
      amount: "amount",
      value: "value",
      restock: "restock",
      restocked: "restocked"
    })
  } from input),
    counted as (
      update order_lines l set refunded_quantity = l.refunded_quantity + i.quantity,
        refunded_value = l.refunded_value + i.value
      from input i where l.id = i."lineItemId" and l.order_id = ${orderId}::uuid),
    shipping as (
      update orders set refunded_shipping = refunded_shipping + ${decided.shippingValue}::bigint,
        refunded_total = refunded_total + ${given}::bigint, updated_at = now()
      where id = ${orderId}::uuid),
    entry as (${refundNoted(sql, actor, "refunds.create", "made", recorded)})${idempotencyRecord(sql, actor)}
    select 1`
}

export class RefundCalculationRepo
  extends Context.Service<RefundCalculationRepo>()("stoa/domain/payments/RefundCalculationRepo", {
    make: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const stock = yield* OrderStock
      const projections = yield* orderProjections

      /**
       * Locks the order, lets `decide` calculate the refund, and writes ledger, lines, stock and change log. Concurrent
       * requests run in sequence: each sees earlier refunds. 404 for an unknown order; 422 where a projection refuses.
       */
      const write = Effect.fn("RefundCalculationRepo.write")(
        function*(
          orderId: OrderId,
          reason: string,
          decide: (order: RefundableOrder) => Result.Result<CalculatedRefund, RefundRefused>,
          origin: RefundOrigin = {}
        ) {
          const actor = yield* CurrentActor
          yield* lockMoney(sql, actor.organizationId, orderId)
          const order = yield* readRefundable(sql, actor.organizationId, orderId, origin.returnId)
          if (order === undefined) return yield* new OrderNotFound()
          const decided = yield* Effect.fromResult(decide(order))
          const isAll = decided.amount > 0 && decided.amount === restOf(order)
          yield* projections.refunding({ orderId, lines: decided.lines, isAll })
          const unsent = decided.lines.flatMap(({ sellable, unsent: quantity }) =>
            quantity > 0 ? [{ sellable, quantity }] : []
          )
          const sent = decided.lines.flatMap(({ quantity, restock, sellable, unsent }) =>
            restock && quantity > unsent ? [{ sellable, quantity: quantity - unsent }] : []
          )
          const released = yield* stock.releaseUnits(orderId, unsent, sent)
          const back = yield* stock.restoreHold(orderId, sent)
          const refundId = newId<RefundId>()
          const lines = restocked(decided.lines, back)
          yield* insert(sql, actor, { refundId, orderId, origin, reason, decided, lines, released })
          yield* updateProjections(projections, orderId)
          return { refundId, settled: decided.amount === 0, decided }
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      return { write }
    })
  })
{
  static readonly layer = Layer.effect(RefundCalculationRepo, RefundCalculationRepo.make)
}
