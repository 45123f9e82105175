import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OrderNotFound } from "../orders/Order.ts"
import { type CapturedPart, exchangeMethod } from "../orders/Tender.ts"
import { CurrentActor } from "../platform/access/Actor.ts"
import { conflict, invalid } from "../platform/errors/ErrorKinds.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { OrderId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { decoding } from "../platform/records/Rows.ts"

const ClaimedCapture = Schema.Struct({ amount: Amount, refusals: Schema.Int })
export type ClaimedCapture = typeof ClaimedCapture.Type

const DueCapture = Schema.Struct({
  ...ClaimedCapture.fields,
  orderId: OrderId,
  organizationId: Schema.String,
  ended: Schema.Boolean
})
export type DueCapture = typeof DueCapture.Type

const OrderRow = Schema.Struct({
  status: Schema.String,
  grandTotal: Amount,
  authorizedTotal: Amount,
  captured: Schema.Boolean,
  authorized: Schema.Boolean,
  waits: Schema.Boolean,
  capturedParts: Amount
})

const capturedParts = "coalesce((select sum(t.captured) from order_tenders t where t.order_id = o.id), 0)::bigint"

/** Goods that came back may pay less than the total: the difference waits for its payment. */
const authorizedTotal = `case when o.payment_provider = '${exchangeMethod}'
  then (select sum(t.amount)::bigint from order_tenders t where t.order_id = o.id) else o.grand_total end`

export class AlreadyCaptured extends conflict("AlreadyCaptured", "The payment of this order was captured already.") {}
export class CaptureAfterEnd extends conflict("CaptureAfterEnd", (status: string) => `The order is ${status}.`) {}
export class NothingAuthorized
  extends conflict("NothingAuthorized", "The order has no payment that could be captured.")
{}
export class PaymentUnconfirmed extends conflict("PaymentUnconfirmed", "The shopper has yet to confirm the payment.") {}
export class CaptureTooLarge extends invalid(
  "CaptureTooLarge",
  "amount",
  (total: number) => `must be at most ${total}, which was authorized.`
) {}
export class CaptureTooSmall extends invalid(
  "CaptureTooSmall",
  "amount",
  (captured: number) => `must be at least ${captured}, which an earlier attempt has captured.`
) {}
export class OtherCaptureRunning
  extends conflict("OtherCaptureRunning", "The order is being captured with another amount.")
{}

const refusalOf = (row: typeof OrderRow.Type | undefined, amount: number | undefined) => {
  if (row === undefined) return new OrderNotFound()
  if (row.captured) return new AlreadyCaptured()
  if (row.status === "cancelled" || row.status === "refunded") return new CaptureAfterEnd(row.status)
  if (!row.authorized) return new NothingAuthorized()
  if (row.waits) return new PaymentUnconfirmed()
  if (amount !== undefined && amount < row.capturedParts) return new CaptureTooSmall(row.capturedParts)
  return (amount ?? row.grandTotal) > row.authorizedTotal
    ? new CaptureTooLarge(row.authorizedTotal)
    : new OtherCaptureRunning()
}

export class CaptureRepo extends Context.Service<CaptureRepo>()("stoa/domain/payments/CaptureRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /**
     * Claims the single capture of an order: `amount` minor units, or the total. Repeating it returns the same claim,
     * so a capture survives a crash. 404; 422 above the total or below what an earlier attempt has captured; 409 if the
     * order is captured, ended, not authorized, waiting for its shopper, or being captured with another amount.
     */
    const claim = Effect.fn("CaptureRepo.claim")(function*(orderId: OrderId, amount: number | undefined) {
      const actor = yield* CurrentActor
      const wanted = sql`coalesce(${amount ?? null}::bigint, o.grand_total)`
      const [claimed] = yield* Effect.orDie(
        decoding(sql, ClaimedCapture)`with claimed as (
          update orders o set capture_amount = ${wanted}, capture_due_at = now() + interval '1 minute',
            updated_at = now()
          where o.id = ${orderId}::uuid and o.organization_id = ${actor.organizationId} and o.amount_captured is null
            and o.status not in ('cancelled', 'refunded') and o.payment_intent_id is not null
            and o.payment_provider is not null and o.payment_due_at is null
            and o.payment_claim_id is null and ${wanted} between greatest(1, ${sql.literal(capturedParts)}) and ${
          sql.literal(authorizedTotal)
        }
            and (o.capture_amount is null or o.capture_amount = ${wanted})
          returning o.capture_amount as amount, o.capture_refusals as refusals)${
          idempotencyRecord(sql, actor, "claimed")
        }
          select * from claimed`
      )
      if (claimed !== undefined) return claimed
      const [row] = yield* Effect.orDie(
        decoding(sql, OrderRow)`select status, grand_total as "grandTotal", ${
          sql.literal(authorizedTotal)
        } as "authorizedTotal", amount_captured is not null as captured,
            payment_due_at is not null as waits, ${sql.literal(capturedParts)} as "capturedParts",
            payment_intent_id is not null and payment_provider is not null and grand_total > 0 as authorized
          from orders o where id = ${orderId}::uuid and organization_id = ${actor.organizationId}`
      )
      return yield* refusalOf(row, amount)
    })

    const release = Effect.fn("CaptureRepo.release")(
      function*(orderId: OrderId, refusals: number, captured: ReadonlyArray<CapturedPart>) {
        const actor = yield* CurrentActor
        yield* sql`with released as (update orders set capture_amount = null, capture_due_at = null,
            capture_refusals = capture_refusals + 1, updated_at = now()
          where id = ${orderId}::uuid and organization_id = ${actor.organizationId} and capture_refusals = ${refusals}
            and amount_captured is null returning id)
        update order_tenders t set captured = p.captured
        from released, jsonb_to_recordset(${JSON.stringify(captured)}::jsonb) as p(position int, captured bigint)
        where t.order_id = released.id and t.position = p.position and p.captured > 0`
      },
      Effect.orDie
    )

    /**
     * Takes claims of all organizations that are a minute old: their process may have died before calling the provider.
     * Each is postponed by ten minutes: an unresponsive provider does not block the others.
     */
    const takeDue = Effect.fn("CaptureRepo.takeDue")(function*(limit: number) {
      return yield* decoding(sql, DueCapture)`update orders
        set capture_due_at = case when amount_captured is null and status not in ('cancelled', 'refunded')
          then now() + interval '10 minutes' end
        where id = any(array(select id from orders where capture_due_at <= now() order by capture_due_at
          limit ${limit} for update skip locked))
        returning id as "orderId", organization_id as "organizationId", capture_amount as amount,
          capture_refusals as refusals, capture_due_at is null as ended`
    }, Effect.orDie)

    return { claim, release, takeDue }
  })
}) {
  static readonly layer = Layer.effect(CaptureRepo, CaptureRepo.make)
}
