import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { Conflict, NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"

/** A claimed capture: minor units, and how often the provider has refused one of this order. */
export interface ClaimedCapture {
  readonly amount: number
  readonly refusals: number
}

/** A requested capture without a result. `ended`: a result has arrived since, so there is nothing to do. */
export interface DueCapture extends ClaimedCapture {
  readonly orderId: string
  readonly organizationId: string
  readonly ended: boolean
}

interface OrderRow {
  readonly status: string
  readonly grandTotal: number
  readonly captured: boolean
  readonly authorized: boolean
  readonly waits: boolean
}

const refusalOf = (row: OrderRow | undefined, amount: number | undefined) => {
  if (row === undefined) return NotFound.of("Order not found.")
  if (row.captured) return Conflict.of("The payment of this order was captured already.")
  if (row.status === "cancelled" || row.status === "refunded") return Conflict.of(`The order is ${row.status}.`)
  if (!row.authorized) return Conflict.of("The order has no payment that could be captured.")
  if (row.waits) return Conflict.of("The shopper has yet to confirm the payment.")
  if ((amount ?? 0) > row.grandTotal) {
    return ValidationFailed.of("amount", `is more than the ${row.grandTotal} that were authorized`)
  }
  return Conflict.of("The order is being captured with another amount.")
}

/** Captures by an operator of what a checkout has only authorized (contract §4.4). */
export class CaptureRepo extends Context.Service<CaptureRepo>()("stoa/domain/payments/CaptureRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /**
     * Claims the single capture of an order: `amount` minor units, or the total if absent. Repeating it with the same
     * amount returns the same claim, so a capture survives a crash. 404; 422 above the order's total; 409 if the order is
     * captured, ended, not authorized, waiting for its shopper, or being captured with another amount.
     */
    const claim = Effect.fn("CaptureRepo.claim")(function*(orderId: string, amount: number | undefined) {
      const actor = yield* CurrentActor
      const wanted = sql`coalesce(${amount ?? null}::bigint, o.grand_total)`
      const [claimed] = yield* Effect.orDie(
        sql<ClaimedCapture>`with claimed as (
          update orders o set capture_amount = ${wanted}, capture_due_at = now() + interval '1 minute',
            updated_at = now()
          where o.id = ${orderId}::uuid and o.organization_id = ${actor.organizationId} and o.amount_captured is null
            and o.status not in ('cancelled', 'refunded') and o.payment_intent_id is not null
            and o.payment_provider is not null and o.payment_due_at is null and ${wanted} between 1 and o.grand_total
            and (o.capture_amount is null or o.capture_amount = ${wanted})
          returning o.capture_amount::float8 as amount, o.capture_refusals as refusals)${
          idempotencyRecord(sql, actor, "claimed")
        }
          select * from claimed`
      )
      if (claimed !== undefined) return claimed
      const [row] = yield* Effect.orDie(
        sql<OrderRow>`select status, grand_total::float8 as "grandTotal", amount_captured is not null as captured,
            payment_due_at is not null as waits, payment_intent_id is not null and payment_provider is not null and grand_total > 0 as authorized
          from orders where id = ${orderId}::uuid and organization_id = ${actor.organizationId}`
      )
      return yield* refusalOf(row, amount)
    })

    /** The provider refused: releases the claim, so the order can be captured again under another key. */
    const release = Effect.fn("CaptureRepo.release")(function*(orderId: string, refusals: number) {
      const actor = yield* CurrentActor
      yield* sql`update orders set capture_amount = null, capture_due_at = null,
          capture_refusals = capture_refusals + 1, updated_at = now()
        where id = ${orderId}::uuid and organization_id = ${actor.organizationId} and capture_refusals = ${refusals}
          and amount_captured is null`
    }, Effect.orDie)

    /**
     * Takes claims of all organizations that are a minute old, longest due first: the process that made one may have died
     * before calling the provider. Each is postponed by ten minutes, so an unresponsive provider does not block the
     * others. Ended claims are not returned again.
     */
    const takeDue = Effect.fn("CaptureRepo.takeDue")(function*(limit: number) {
      return yield* sql<DueCapture>`update orders
        set capture_due_at = case when amount_captured is null and status not in ('cancelled', 'refunded')
          then now() + interval '10 minutes' end
        where id = any(array(select id from orders where capture_due_at <= now() order by capture_due_at
          limit ${limit} for update skip locked))
        returning id as "orderId", organization_id as "organizationId", capture_amount::float8 as amount,
          capture_refusals as refusals, capture_due_at is null as ended`
    }, Effect.orDie)

    return { claim, release, takeDue }
  })
}) {}

/** `CaptureRepo` over the database of the process. */
export const captureRepoLayer = Layer.effect(CaptureRepo, CaptureRepo.make)
