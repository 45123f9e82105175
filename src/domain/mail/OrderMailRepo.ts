import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"

/** An event about an order, and who is to hear of it by mail. */
export interface Addressed {
  readonly eventId: string
  readonly email: string
  /** Status before the event; null of one that made the order. */
  readonly previousStatus: string | null
}

/** Where the payment of an order stands: its shopper has yet to pay it, has paid it, or never will. */
export type PaymentState = "awaited" | "paid" | "given-up"

/** What mails have to know about orders besides what the events say. */
export class OrderMailRepo extends Context.Service<OrderMailRepo, {
  /**
   * The addresses for events about orders: the one that was left with the cart, else that of the customer's profile.
   * Events whose order has none are left out. One statement for any number of events, of all organizations.
   */
  readonly addressed: (
    events: ReadonlyArray<{ readonly id: string; readonly entityId: string }>
  ) => Effect.Effect<ReadonlyArray<Addressed>>
  /** Undefined without the order. */
  readonly paymentState: (orderId: string) => Effect.Effect<PaymentState | undefined, never, CurrentActor>
}>()("stoa/domain/mail/OrderMailRepo") {}

/** `OrderMailRepo` over the database of the process. */
export const orderMailRepoLayer = Layer.effect(
  OrderMailRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const addressed = Effect.fn("OrderMailRepo.addressed")(
      (events: ReadonlyArray<{ readonly id: string; readonly entityId: string }>) =>
        sql<Addressed>`select e.id as "eventId", e.before->>'status' as "previousStatus",
            coalesce(nullif(c.email, ''), p.email) as email
          from unnest(${events.map(({ id }) => id)}::uuid[], ${events.map(({ entityId }) => entityId)}::uuid[])
            as i(event, "order")
          join journal_entries e on e.id = i.event
          join orders o on o.id = i."order" and o.organization_id = e.organization_id
          left join carts c on c.id = o.cart_id and c.organization_id = o.organization_id
          left join customers p on p.id = o.customer_id and p.organization_id = o.organization_id
          where e.id = any(${events.map(({ id }) => id)}::uuid[])
            and o.id = any(${events.map(({ entityId }) => entityId)}::uuid[])
            and coalesce(nullif(c.email, ''), p.email, '') <> ''`,
      Effect.orDie
    )
    const paymentState = Effect.fn("OrderMailRepo.paymentState")(function*(orderId: string) {
      const rows = yield* sql<{ readonly state: PaymentState }>`select case
          when status = 'cancelled' then 'given-up'
          when status = 'pending' and amount_captured is null then 'awaited'
          else 'paid' end as state
        from orders where id = ${orderId}::uuid and organization_id = ${yield* currentOrganization}`
      return rows[0]?.state
    }, Effect.orDie)
    return OrderMailRepo.of({ addressed, paymentState })
  })
)
