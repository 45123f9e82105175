import { Context, Effect, Layer, type Result, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import { type Conflict, NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import { refundNoted } from "../events/RefundEntryRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { newId } from "../ids/Id.ts"
import { RefundedStock } from "../inventory/RefundedStock.ts"
import type { StockAllocation } from "../inventory/StockRules.ts"
import { orderProjections, updateProjections } from "../orders/OrderProjections.ts"
import { lockMoney, readRefundable } from "./RefundableRepo.ts"
import type { CalculatedLine, CalculatedRefund } from "./RefundCalculation.ts"
import type { RefundableOrder } from "./RefundShares.ts"

interface RestockedLine extends CalculatedLine {
  readonly restocked: number
}

/** Assigns returned units to lines: in the order of the lines, those of one sellable together. */
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

interface Writing {
  readonly refundId: string
  readonly orderId: string
  readonly reason: string
  readonly decided: CalculatedRefund
  readonly lines: ReadonlyArray<RestockedLine>
  readonly released: ReadonlyArray<StockAllocation>
}

const insert = (sql: SqlClient.SqlClient, actor: Actor, writing: Writing) => {
  const { decided, lines, orderId, reason, refundId, released } = writing
  const recorded = lines.map(Struct.pick(["lineItemId", "quantity", "amount", "restocked"]))
  return sql`with input as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb)
        as i("lineItemId" uuid, quantity int, value bigint, amount bigint, restock boolean, restocked int)),
    made as (
      insert into refunds (id, organization_id, order_id, kind, amount, shipping_amount, shipping_value, reason, status,
        performed_by, released_stock)
      select ${refundId}::uuid, ${actor.organizationId}, ${orderId}::uuid,
        ${lines.some(({ restock }) => restock) ? "return" : "refund"}, ${decided.amount}::bigint,
        ${decided.shippingAmount}::bigint, ${decided.shippingValue}::bigint, ${reason},
        ${decided.amount === 0 ? "completed" : "pending"}, ${actor.userId ?? actor.keyId ?? null}::text,
        ${JSON.stringify(released)}::jsonb
      returning *),
    parts as (
      insert into refund_lines (organization_id, refund_id, order_line_id, quantity, amount, value, restock, restocked)
      select ${actor.organizationId}, ${refundId}::uuid, "lineItemId", quantity, amount, value, restock, restocked
      from input),
    counted as (
      update order_lines l set refunded_quantity = l.refunded_quantity + i.quantity,
        refunded_value = l.refunded_value + i.value
      from input i where l.id = i."lineItemId" and l.order_id = ${orderId}::uuid),
    shipping as (
      update orders set refunded_shipping = refunded_shipping + ${decided.shippingValue}::bigint, updated_at = now()
      where id = ${orderId}::uuid),
    entry as (${refundNoted(sql, actor, "refunds.create", "made", recorded)})${idempotencyRecord(sql, actor)}
    select 1`
}

/** Writes requested refunds (contract §4.3). */
export class RefundCalculationRepo
  extends Context.Service<RefundCalculationRepo>()("stoa/domain/payments/RefundCalculationRepo", {
    make: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const stock = yield* RefundedStock
      const projections = yield* orderProjections

      /**
       * Locks the order, lets `decide` calculate the refund, and writes ledger, lines, stock and change log in that
       * transaction, with a number of statements that does not depend on the lines. Concurrent requests run in sequence, so
       * each sees earlier refunds, pending or completed. 404 for an unknown order.
       */
      const write = Effect.fn("RefundCalculationRepo.write")(
        function*(
          orderId: string,
          reason: string,
          decide: (order: RefundableOrder) => Result.Result<CalculatedRefund, Conflict | ValidationFailed>
        ) {
          const actor = yield* CurrentActor
          yield* lockMoney(sql, actor.organizationId, orderId)
          const order = yield* readRefundable(sql, actor.organizationId, orderId)
          if (order === undefined) return yield* NotFound.of("Order not found.")
          const decided = yield* Effect.fromResult(decide(order))
          const unsent = decided.lines.filter((line) => line.unsent > 0)
          const released = yield* stock.release(
            orderId,
            unsent.map(({ sellable, unsent: quantity }) => ({ sellable, quantity }))
          )
          const sent = decided.lines.filter((line) => line.restock && line.quantity > line.unsent)
          const back = yield* stock.restoreHold(
            orderId,
            sent.map(({ quantity, sellable, unsent }) => ({ sellable, quantity: quantity - unsent }))
          )
          const refundId = newId()
          const lines = restocked(decided.lines, back)
          yield* insert(sql, actor, { refundId, orderId, reason, decided, lines, released })
          yield* updateProjections(projections, orderId)
          return { refundId, settled: decided.amount === 0 }
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", (error) => Effect.die(error))
      )

      return { write }
    })
  })
{}

/** `RefundCalculationRepo` over the database of the process. */
export const refundCalculationRepoLayer = Layer.effect(RefundCalculationRepo, RefundCalculationRepo.make)
