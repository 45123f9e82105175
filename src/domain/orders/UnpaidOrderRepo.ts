import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import { type CustomerId, OrderId, type PaymentId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Time } from "../platform/text/Time.ts"

const UnpaidOrder = Schema.Struct({ orderId: OrderId, organizationId: Schema.String })
export type UnpaidOrder = typeof UnpaidOrder.Type

const UnconfirmedOrder = Schema.Struct({ ...UnpaidOrder.fields, paid: Schema.Boolean })

const Deadline = Schema.Struct({ dueAt: Time })

/** Pending orders that wait for their payment or its confirmation (contract §3.7, §4.4). */
export class UnpaidOrderRepo extends Context.Service<UnpaidOrderRepo>()("stoa/domain/orders/UnpaidOrderRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    /** Repeating it does not extend the deadline. Null, and no deadline, for a paid order. */
    const awaitPayment = Effect.fn("UnpaidOrderRepo.awaitPayment")(
      function*(orderId: OrderId, seconds: number) {
        const organization = yield* currentOrganization
        const [row] = yield* decoding(sql, Deadline)`update orders
          set payment_due_at = coalesce(payment_due_at, now() + make_interval(secs => ${seconds}))
          where id = ${orderId}::uuid and organization_id = ${organization} and status = 'pending'
            and amount_captured is null
          returning payment_due_at as "dueAt"`
        return row?.dueAt ?? null
      },
      Effect.orDie
    )

    /**
     * Counts waiting orders of the customer. Exact in the transaction that creates one: of two at once the second one
     * waits for the first and counts it.
     */
    const countWaiting = Effect.fn("UnpaidOrderRepo.countWaiting")(function*(customerId: CustomerId) {
      const organization = yield* currentOrganization
      // Weaker than the lock that a new order's reference takes, so that two of them do not wait for each other in a
      // circle.
      yield* sql`select 1 from customers_read where id = ${customerId}::uuid and organization_id = ${organization}
        for no key update`
      const [row] = yield* sql`select count(*) as n from orders
        where organization_id = ${organization} and customer_id = ${customerId}::uuid and status = 'pending'
          and amount_captured is null and payment_due_at is not null`
      return Number(row?.["n"])
    }, Effect.orDie)

    const confirmed = Effect.fn("UnpaidOrderRepo.confirmed")(
      function*(orderId: OrderId, organizationId: string, paymentId: PaymentId | null = null) {
        yield* sql`update orders set payment_due_at = null
          where id = ${orderId}::uuid and organization_id = ${organizationId} and payment_due_at is not null
            and payment_claim_id is null and payment_id is not distinct from ${paymentId}::uuid`
      },
      Effect.orDie
    )

    /**
     * Claims overdue orders of all organizations, most overdue first. Each is postponed by ten minutes: an order that
     * cannot be cancelled does not block the others.
     */
    const takeDue = Effect.fn("UnpaidOrderRepo.takeDue")(function*(limit: number) {
      return yield* decoding(sql, UnconfirmedOrder)`update orders
        set payment_due_at = case when amount_captured is null then now() + interval '10 minutes' end
        where id = any(array(select id from orders where status = 'pending' and payment_due_at <= now()
          order by payment_due_at limit ${limit} for update skip locked))
        returning id as "orderId", organization_id as "organizationId", amount_captured is not null as paid`
    }, Effect.orDie)

    /**
     * Old pending orders of all organizations, without paid, draft and imported ones and those with a deadline. One
     * organization at a time, to use the index by status: every checkout would write an index of unpaid orders.
     */
    const older = Effect.fn("UnpaidOrderRepo.older")(
      (hours: number, after: string, limit: number) =>
        decoding(sql, UnpaidOrder)`select o.id as "orderId", o.organization_id as "organizationId"
        from organizations_read g cross join lateral (select id, organization_id from orders
          where organization_id = g.id and status = 'pending' and amount_captured is null and not is_draft
            and imported_at is null
            and payment_due_at is null and placed_at < now() - make_interval(hours => ${hours})
            and id > ${after}::uuid) o
        order by o.id limit ${limit}`,
      Effect.orDie
    )

    return { awaitPayment, countWaiting, confirmed, takeDue, older }
  })
}) {
  static readonly layer = Layer.effect(UnpaidOrderRepo, UnpaidOrderRepo.make)
}
