import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import type { RefundId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { refundTenders } from "./RefundTables.ts"

export const pendingParts = `coalesce((select sum(p.amount) from refund_tenders p join refunds x on x.id = p.refund_id
    where x.order_id = t.order_id and x.status = 'pending' and p.position = t.position and p.completed_at is null),
  0)::bigint`

/** Splits refunds over the payments that share an order, and records which part was given back. */
export class RefundPartRepo extends Context.Service<RefundPartRepo>()("stoa/domain/payments/RefundPartRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const lockOrder = (refundId: RefundId, organization: string) =>
      sql`select 1 from orders where id = (select order_id from refunds
        where id = ${refundId}::uuid and organization_id = ${organization}) for update`

    /**
     * Decides which payments a refund goes back to (contract, plugins §17.6): other payments before stored value, of
     * each kind the last first. Later calls change nothing. Returns the assigned minor units.
     */
    const split = Effect.fn("RefundPartRepo.split")(
      function*(refundId: RefundId) {
        const organization = yield* currentOrganization
        yield* lockOrder(refundId, organization)
        yield* sql`insert into refund_tenders ${
          refundTenders.insert(sql, {
            organizationId: sql`${organization}`,
            refundId: "id",
            position: "position",
            amount: "least(free, amount - before)"
          })
        } from (
            select r.id, r.amount, t.position, t.free,
              sum(t.free) over (order by t.is_stored_value, t.position desc) - t.free as before
            from refunds r join lateral (select t.position, t.is_stored_value,
                coalesce(t.captured, 0) - t.refunded - ${sql.literal(pendingParts)} as free
              from order_tenders t where t.order_id = r.order_id) t on true
            where r.id = ${refundId}::uuid and r.organization_id = ${organization} and r.status = 'pending'
              and not exists (select 1 from refund_tenders p where p.refund_id = r.id)) parts
          where free > 0 and before < amount`
        const [row] = yield* decoding(sql, Schema.Struct({ total: Schema.Int }))`select
          coalesce(sum(amount), 0)::float8 as total from refund_tenders where refund_id = ${refundId}::uuid`
        return row?.total ?? 0
      },
      sql.withTransaction,
      Effect.orDie
    )

    /** Records a part that its provider has given back; repeating it changes nothing. */
    const give = Effect.fn("RefundPartRepo.give")(
      function*(refundId: RefundId, position: number, reference: string | null) {
        const organization = yield* currentOrganization
        yield* lockOrder(refundId, organization)
        yield* sql`with part as (
            update refund_tenders set completed_at = now(), reference = ${reference}
            where refund_id = ${refundId}::uuid and organization_id = ${organization} and position = ${position}
              and completed_at is null returning amount, refund_id, position),
          refund as (update refunds r set given = r.given + part.amount, updated_at = now() from part
            where r.id = part.refund_id returning r.order_id),
          tender as (update order_tenders t set refunded = t.refunded + part.amount from part, refund
            where t.order_id = refund.order_id and t.position = part.position)
          update orders o set refunded_total = o.refunded_total + part.amount, updated_at = now() from part, refund
          where o.id = refund.order_id`
      },
      sql.withTransaction,
      Effect.orDie
    )

    return { split, give }
  })
}) {
  static readonly layer = Layer.effect(RefundPartRepo, RefundPartRepo.make)
}
