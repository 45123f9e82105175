import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import { Conflict, NotFound } from "../errors/ApiErrors.ts"
import { refundNoted } from "../events/RefundEntryRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { newId } from "../ids/Id.ts"
import { RefundedStock } from "../inventory/RefundedStock.ts"
import type { StockAllocation } from "../inventory/StockRules.ts"
import { orderProjections, updateProjections } from "../orders/OrderProjections.ts"
import type { OrderStatus } from "../orders/OrderStatus.ts"
import { lockMoney } from "./RefundableRepo.ts"

/**
 * Why a refund failed. `refused`: by the provider, who then has no record of it; otherwise the provider never answered.
 */
export interface RefundFailure {
  readonly message: string
  readonly refused: boolean
}

interface EndedRow {
  readonly order_id: string
  readonly status: OrderStatus
  readonly released_stock: ReadonlyArray<StockAllocation>
}

/** CTEs that release what the refunds of the CTE `ended` accounted for. */
const accountedNoMore = (sql: SqlClient.SqlClient) =>
  sql`counted as (
      update order_lines l set refunded_quantity = l.refunded_quantity - r.quantity,
        refunded_value = l.refunded_value - r.value
      from ended join refund_lines r on r.refund_id = ended.id where l.id = r.order_line_id),
    shipping as (
      update orders o set refunded_shipping = o.refunded_shipping - ended.shipping_value, updated_at = now()
      from ended where o.id = ended.order_id)`

const asItWas = (sql: SqlClient.SqlClient) =>
  sql`select ended.order_id, o.status, ended.released_stock from ended join orders o on o.id = ended.order_id`

const failStatement = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  refundId: string,
  { message, refused }: RefundFailure
) =>
  sql<EndedRow>`with ended as (
      update refunds set status = 'failed', failure = ${message}, updated_at = now(),
        refusals = refusals + ${refused ? 1 : 0}, sent_at = case when ${refused} then null else sent_at end
      where id = ${refundId}::uuid and organization_id = ${actor.organizationId} and status = 'pending' returning *),
    ${accountedNoMore(sql)},
    recorded as (
      insert into compensation_failures (id, organization_id, kind, order_id, refund_id, provider, payment_intent_id,
        amount, message)
      select ${newId()}::uuid, ended.organization_id,
        case when ended.amount = 0 then 'void_failed' else 'refund_failed' end, ended.order_id, ended.id,
        o.payment_provider, o.payment_intent_id, ended.amount, ${message}
      from ended join orders o on o.id = ended.order_id),
    entry as (${refundNoted(sql, actor, "refunds.fail", "ended")})
    ${asItWas(sql)}`

const undoStatement = (sql: SqlClient.SqlClient, actor: Actor, orderId: string, refundId: string) =>
  sql<EndedRow>`with ended as (
      update refunds set status = 'undone', undone_at = now(), undone_by = ${actor.userId ?? actor.keyId ?? null}::text,
        updated_at = now()
      where id = ${refundId}::uuid and order_id = ${orderId}::uuid and organization_id = ${actor.organizationId}
        and status = 'pending' and sent_at is null
      returning *),
    ${accountedNoMore(sql)},
    entry as (${refundNoted(sql, actor, "refunds.undo", "ended")})${idempotencyRecord(sql, actor, "ended")}
    ${asItWas(sql)}`

/** Why a refund cannot be undone. */
const stays = (status: string | undefined): NotFound | Conflict => {
  if (status === undefined) return NotFound.of("Refund not found.")
  return Conflict.of(
    status === "pending"
      ? "The provider has been asked for this refund: it cannot be undone any more."
      : `The refund is ${status}: only one that the provider has not heard of can be undone.`
  )
}

/**
 * Ends refunds that failed or were undone: their units, worth and shipping can be refunded again, and released units
 * are allocated again while available. Units that returned to stock stay there.
 */
export class RefundReversalRepo
  extends Context.Service<RefundReversalRepo>()("stoa/domain/payments/RefundReversalRepo", {
    make: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const stock = yield* RefundedStock
      const projections = yield* orderProjections

      const ended = Effect.fnUntraced(function*(rows: ReadonlyArray<EndedRow>) {
        for (const { order_id: orderId, released_stock: released, status } of rows) {
          if (!["cancelled", "refunded", "fulfilled"].includes(status)) yield* stock.holdAgain(orderId, released)
          yield* updateProjections(projections, orderId)
        }
        return rows.length > 0
      })

      /** Marks the refund as failed for good, so an operator has to settle it. False if it was settled before. */
      const fail = Effect.fn("RefundReversalRepo.fail")(
        function*(refundId: string, failure: RefundFailure) {
          const actor = yield* CurrentActor
          // Lock the order's row before its refunds, the order of all writers of its money.
          const [of] = yield* sql<{ readonly order_id: string }>`select order_id from refunds
          where id = ${refundId}::uuid and organization_id = ${actor.organizationId}`
          if (of !== undefined) yield* lockMoney(sql, actor.organizationId, of.order_id)
          return yield* ended(yield* failStatement(sql, actor, refundId, failure))
        },
        sql.withTransaction,
        Effect.orDie
      )

      /** Undoes a refund of this order that was not sent to the provider. 404 unknown; 409 settled or sent. */
      const undo = Effect.fn("RefundReversalRepo.undo")(
        function*(orderId: string, refundId: string) {
          const actor = yield* CurrentActor
          yield* lockMoney(sql, actor.organizationId, orderId)
          if (yield* ended(yield* undoStatement(sql, actor, orderId, refundId))) return
          const [found] = yield* sql<
            { readonly status: string }
          >`select status from refunds where id = ${refundId}::uuid
          and order_id = ${orderId}::uuid and organization_id = ${actor.organizationId}`
          return yield* stays(found?.status)
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", (error) => Effect.die(error))
      )

      return { fail, undo }
    })
  })
{}

/** `RefundReversalRepo` over the database of the process. */
export const refundReversalRepoLayer = Layer.effect(RefundReversalRepo, RefundReversalRepo.make)
