import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { v5 } from "uuid"
import { orderProjections, updateProjections } from "../orders/OrderProjections.ts"
import { refundNoted } from "../orders/RefundEntryStatements.ts"
import { refunds } from "../orders/RefundTable.ts"
import { type Actor, CurrentActor } from "../platform/access/Actor.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { OrderId, RefundId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { decoding } from "../platform/records/Rows.ts"
import { lockMoney } from "./RefundCalculationRepo.ts"

const Credit = Schema.Struct({
  orderId: OrderId,
  currency: Schema.String,
  amount: Amount,
  /** The part was given back before. */
  isGiven: Schema.Boolean
})
export type Credit = typeof Credit.Type

/** Moves a part of a credit from the refund that made it to a new refund, which the payments of its order give back. */
const release = (sql: SqlClient.SqlClient, actor: Actor, creditId: RefundId, refundId: RefundId, amount: number) =>
  sql`with credit as (
      update refunds set amount = amount - ${amount}::bigint, given = given - ${amount}::bigint, updated_at = now()
      where id = ${creditId}::uuid and organization_id = ${actor.organizationId} returning *),
    total as (
      update orders o set refunded_total = o.refunded_total - ${amount}::bigint, updated_at = now()
      from credit where o.id = credit.order_id),
    made as (
      insert into refunds ${
    refunds.insert(sql, {
      id: sql`${refundId}::uuid`,
      organizationId: "organization_id",
      orderId: "order_id",
      amount: sql`${amount}::bigint`,
      reason: "'exchange_given_back'",
      status: "'pending'",
      performedBy: sql`${actor.userId ?? actor.keyId ?? null}::text`
    })
  } from credit returning *),
    less as (${
    changeLogRows(sql, actor, {
      type: "refunds.undo",
      entityType: "refund",
      entityId: "x.id::text",
      payload: "jsonb_build_object('id', x.id, 'orderId', x.order_id, 'amount', x.amount)",
      before: sql`jsonb_build_object('id', x.id, 'orderId', x.order_id, 'amount', x.amount + ${amount}::bigint)`,
      from: "credit x"
    })
  }),
    entry as (${refundNoted(sql, actor, "refunds.create", "made")})
    select 1`

/**
 * Credits of exchanges (contract-commerce §12). A credit is the refund of a return, given outside as payment of the
 * replacement order.
 */
export class ExchangeCreditRepo
  extends Context.Service<ExchangeCreditRepo>()("stoa/domain/payments/ExchangeCreditRepo", {
    make: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const projections = yield* orderProjections

      const find = (creditId: RefundId, refundId: RefundId, organization: string) =>
        Effect.map(
          decoding(sql, Credit)`select r.order_id as "orderId", o.currency, r.amount,
              exists (select 1 from refunds x where x.id = ${refundId}::uuid and x.order_id = r.order_id) as "isGiven"
            from refunds r join orders_read o on o.id = r.order_id
            where r.id = ${creditId}::uuid and r.organization_id = ${organization} and r.given_outside is not null`,
          ([credit]) => credit
        )

      /**
       * Gives the part back that `released` names; repeating a key gives nothing. Returns the credit before it and the
       * id of the refund of the part. Undefined: there is no such credit.
       */
      const giveBack = Effect.fn("ExchangeCreditRepo.giveBack")(
        function*(creditId: RefundId, key: string, released: (credit: number) => number) {
          const actor = yield* CurrentActor
          const refundId = RefundId.make(v5(`${creditId}:${key}`, v5.URL))
          const known = yield* find(creditId, refundId, actor.organizationId)
          if (known === undefined) return undefined
          yield* lockMoney(sql, actor.organizationId, known.orderId)
          const credit = (yield* find(creditId, refundId, actor.organizationId)) ?? known
          const amount = credit.isGiven ? 0 : released(credit.amount)
          const isReleased = amount > 0 && amount <= credit.amount
          if (isReleased) {
            yield* release(sql, actor, creditId, refundId, amount)
            yield* updateProjections(projections, credit.orderId)
          }
          return { ...credit, refundId, isReleased }
        },
        sql.withTransaction,
        Effect.orDie
      )

      return { giveBack }
    })
  })
{
  static readonly layer = Layer.effect(ExchangeCreditRepo, ExchangeCreditRepo.make)
}
