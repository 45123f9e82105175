import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import { Conflict, NotFound } from "../errors/ApiErrors.ts"
import { refundNoted } from "../events/RefundEntryRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { RefundedStock } from "../inventory/RefundedStock.ts"
import type { StockAllocation } from "../inventory/StockRules.ts"
import { lockMoney, readRefundable } from "./RefundableRepo.ts"
import { capOf, type RefundableOrder } from "./RefundShares.ts"

interface Failed {
  readonly status: string
  readonly orderId: string | null
  readonly refundId: string | null
  readonly amount: number
  readonly shipping: number
  readonly lines: ReadonlyArray<{ readonly id: string; readonly quantity: number; readonly value: number }>
}

const readFailed = (sql: SqlClient.SqlClient, actor: Actor, failureId: string) =>
  sql<Failed>`select f.status, f.order_id as "orderId", f.refund_id as "refundId",
      coalesce(r.amount, 0)::float8 as amount, coalesce(r.shipping_value, 0)::float8 as shipping,
      coalesce((select jsonb_agg(jsonb_build_object('id', l.order_line_id, 'quantity', l.quantity, 'value', l.value))
        from refund_lines l where l.refund_id = r.id), '[]') as lines
    from compensation_failures f left join refunds r on r.id = f.refund_id
    where f.id = ${failureId}::uuid and f.organization_id = ${actor.organizationId}`

/** Whether what the refund accounts for is still there to be refunded. */
const fits = (order: RefundableOrder, { amount, lines, shipping }: Failed): boolean => {
  const known = new Map(order.lines.map((line) => [line.id, line]))
  return amount <= capOf(order) && shipping <= order.shippingTotal - order.refundedShipping &&
    lines.every(({ id, quantity, value }) => {
      const line = known.get(id)
      return line !== undefined && quantity <= line.quantity - line.refundedQuantity &&
        value <= line.totalPrice - line.discountAmount + line.taxAmount - line.refundedValue
    })
}

/** Units that the refund releases from the order's hold again. */
const unsentOf = (order: RefundableOrder, { lines }: Failed) =>
  order.lines.flatMap(({ id, sellable, unsent }) => {
    const quantity = Math.min(unsent, lines.find((line) => line.id === id)?.quantity ?? 0)
    return quantity === 0 ? [] : [{ sellable, quantity }]
  })

const begin = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  failureId: string,
  refundId: string,
  released: ReadonlyArray<StockAllocation>
) =>
  sql<{ readonly restarts: number }>`with closed as (
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
      from begun join refund_lines r on r.refund_id = begun.id where l.id = r.order_line_id),
    shipping as (
      update orders o set refunded_shipping = o.refunded_shipping + begun.shipping_value, updated_at = now()
      from begun where o.id = begun.order_id),
    entry as (${refundNoted(sql, actor, "refunds.retry", "begun")})${idempotencyRecord(sql, actor, "begun")}
    select restarts from begun`

/** Restarts failed refunds. */
export class RefundRetryRepo extends Context.Service<RefundRetryRepo>()("stoa/domain/payments/RefundRetryRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const stock = yield* RefundedStock

    /**
     * Makes the refund of an open failure pending again, with everything it accounts for, and closes the failure in the
     * same transaction; the number of statements does not depend on the lines. 404 unknown; 409 if the failure is closed,
     * has no refund, or its units or money have been refunded otherwise since.
     */
    const retry = Effect.fn("RefundRetryRepo.retry")(
      function*(failureId: string) {
        const actor = yield* CurrentActor
        const [seen] = yield* readFailed(sql, actor, failureId)
        if (seen === undefined) return yield* NotFound.of("Compensation failure not found.")
        const { orderId, refundId } = seen
        if (orderId === null || refundId === null) {
          return yield* Conflict.of(
            "This step cannot be started again here. See to it at the provider, then resolve it."
          )
        }
        yield* lockMoney(sql, actor.organizationId, orderId)
        const [failed] = yield* readFailed(sql, actor, failureId)
        const order = yield* readRefundable(sql, actor.organizationId, orderId)
        if (failed === undefined || order === undefined || failed.status !== "open") {
          return yield* Conflict.of("Somebody has seen to this failure already.")
        }
        if (!fits(order, failed)) {
          return yield* Conflict.of("Its units or its money have been given back otherwise. Resolve it.")
        }
        const released = yield* stock.release(orderId, unsentOf(order, failed))
        const [begun] = yield* begin(sql, actor, failureId, refundId, released)
        if (begun === undefined) return yield* Conflict.of("The refund is not failed any more.")
        return { refundId, organizationId: actor.organizationId, restarts: begun.restarts }
      },
      sql.withTransaction,
      Effect.catchTag("SqlError", (error) => Effect.die(error))
    )

    return { retry }
  })
}) {}

/** `RefundRetryRepo` over the database of the process. */
export const refundRetryRepoLayer = Layer.effect(RefundRetryRepo, RefundRetryRepo.make)
