import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { orderMails } from "../orders/OrderTable.ts"
import { currentOrganization } from "../platform/access/Actor.ts"
import type { OrderId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { decoding } from "../platform/records/Rows.ts"

const Addressed = Schema.Struct({
  type: Schema.String,
  organizationId: Schema.String,
  email: Schema.NullOr(Schema.String),
  record: Schema.Unknown,
  previousStatus: Schema.NullOr(Schema.String)
})
export type Addressed = typeof Addressed.Type

const Payment = Schema.Struct({ state: Schema.Literals(["awaited", "paid", "given-up"]) })

const AddressedReturn = Schema.Struct({
  organizationId: Schema.String,
  email: Schema.NullOr(Schema.String),
  orderNumber: Schema.String,
  currency: Schema.String,
  record: Schema.Unknown,
  refunded: Schema.NullOr(Amount),
  replacementNumber: Schema.NullOr(Schema.String)
})
export type AddressedReturn = typeof AddressedReturn.Type

const email = "coalesce(nullif(c.email, ''), nullif(o.email, ''), p.email)"

const buyer = `left join carts_read c on c.id = o.cart_id and c.organization_id = o.organization_id
          left join customers_read p on p.id = o.customer_id and p.organization_id = o.organization_id`

/** A mail about an order, as it was queued or ended. */
export type NotedMail =
  & Pick<StoredMail, "id" | "organizationId" | "orderId" | "template" | "outcome" | "content">
  & Partial<Pick<StoredMail, "failure" | "subject" | "resentFrom">>

type StoredMail = typeof orderMails.schema.Type

const toRow = ({ orderId, organizationId, resentFrom, ...mail }: NotedMail) => ({
  ...mail,
  organization_id: organizationId,
  order_id: orderId,
  resent_from: resentFrom
})

const make = (sql: SqlClient.SqlClient) => {
  const events = decoding(sql, Addressed)
  const payments = decoding(sql, Payment)

  const addressed = Effect.fn("OrderMailRepo.addressed")(
    (ids: ReadonlyArray<string>) =>
      events`select e.type, e.organization_id as "organizationId", e.payload as record,
            e.before->>'status' as "previousStatus", ${sql.literal(email)} as email
          from outbox_events_read e
          join orders_read o on o.id = e.entity_id::uuid and o.organization_id = e.organization_id
          ${sql.literal(buyer)}
          where e.id = any(${ids}::uuid[])
            and o.id = any(array(select entity_id::uuid from outbox_events_read where id = any(${ids}::uuid[])))
            and o.metadata->'mails' is distinct from 'false'
          order by e.event_sequence`,
    Effect.orDie
  )

  const addressedReturns = Effect.fn("OrderMailRepo.addressedReturns")(
    (ids: ReadonlyArray<string>) =>
      decoding(sql, AddressedReturn)`select e.organization_id as "organizationId", e.payload as record, o.currency,
            o.order_number as "orderNumber", r.amount as refunded, n.order_number as "replacementNumber",
            ${sql.literal(email)} as email
          from outbox_events_read e
          join orders_read o on o.id = (e.payload->>'orderId')::uuid and o.organization_id = e.organization_id
          left join refunds_read r on r.id = (e.payload->>'refundId')::uuid and r.organization_id = e.organization_id
          left join orders_read n on n.id = (e.payload->>'replacementOrderId')::uuid
            and n.organization_id = e.organization_id
          ${sql.literal(buyer)}
          where e.id = any(${ids}::uuid[])
            and e.payload->>'status' is distinct from e.before->>'status'
          order by e.event_sequence`,
    Effect.orDie
  )

  const paymentState = Effect.fn("OrderMailRepo.paymentState")(function*(orderId: OrderId) {
    const [row] = yield* payments`select case
          when status = 'cancelled' then 'given-up'
          when status = 'pending' and amount_captured is null then 'awaited'
          else 'paid' end as state
        from orders_read where id = ${orderId}::uuid and organization_id = ${yield* currentOrganization}`
    return row?.state
  }, Effect.orDie)

  /** Records mails of orders that are there. `failure` must not contain personal data. What was sent stays so. */
  const note = Effect.fn("OrderMailRepo.note")(function*(mails: ReadonlyArray<NotedMail>) {
    if (mails.length === 0) return
    yield* sql`insert into order_mails ${
      orderMails.insert(sql, {
        id: sql`m.id`,
        organizationId: "o.organization_id",
        orderId: "o.id",
        template: sql`m.template`,
        outcome: sql`m.outcome`,
        failure: sql`m.failure`,
        subject: sql`m.subject`,
        sentAt: sql`case m.outcome when 'sent' then now() end`,
        resentFrom: sql`m.resent_from`,
        content: sql`m.content`
      })
    } from jsonb_to_recordset(${
      JSON.stringify(mails.map(toRow))
    }::jsonb) as m (id uuid, organization_id text, order_id uuid, template text,
          outcome text, failure text, subject text, resent_from uuid, content jsonb)
        join orders_read o on o.id = m.order_id and o.organization_id = m.organization_id
        on conflict (id) do update set outcome = excluded.outcome, failure = excluded.failure, at = excluded.at,
            sent_at = excluded.sent_at, subject = coalesce(excluded.subject, order_mails.subject)
          where excluded.outcome <> 'queued' and order_mails.outcome <> 'sent'`
  }, Effect.orDie)
  return { addressed, addressedReturns, note, paymentState }
}

export class OrderMailRepo extends Context.Service<OrderMailRepo>()("stoa/domain/mail/OrderMailRepo", {
  make: Effect.map(SqlClient.SqlClient, make)
}) {
  static readonly layer = Layer.effect(OrderMailRepo, OrderMailRepo.make)
}
