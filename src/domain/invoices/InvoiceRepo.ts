import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { OrderId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import { type Buyer, InvoiceContent } from "./Invoice.ts"

const Invoice = Schema.Struct({
  orderId: OrderId,
  organizationId: Schema.String,
  number: Schema.Int,
  content: InvoiceContent,
  issuedAt: Time
})

export const invoices = new Table("invoices", Invoice, { unset: ["issuedAt"] })

const Issued = Invoice.mapFields(Struct.pick(["number", "issuedAt", "content"]))

const columns = invoices.columns("i", Struct.keys(Issued.fields))

const Facts = Schema.Struct({
  name: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  refunds: Schema.Array(Schema.Struct({ at: Time, amount: Schema.Int })),
  number: Schema.NullOr(Issued.fields.number),
  issuedAt: Schema.NullOr(Issued.fields.issuedAt),
  content: Schema.NullOr(Issued.fields.content)
})

const encode = Schema.encodeSync(Schema.toCodecJson(InvoiceContent))

export class InvoiceRepo extends Context.Service<InvoiceRepo>()("stoa/domain/invoices/InvoiceRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const factsOf = Effect.fn("InvoiceRepo.factsOf")(function*(orderId: OrderId) {
      const [row] = yield* decoding(sql, Facts)`select
          nullif(trim(coalesce(c.first_name, '') || ' ' || coalesce(c.last_name, '')), '') as name,
          coalesce(nullif(o.email, ''), c.email) as email,
          coalesce((select jsonb_agg(jsonb_build_object('at', r.updated_at, 'amount', r.amount)
              order by r.updated_at, r.id)
            from refunds_read r where r.order_id = o.id and r.organization_id = o.organization_id
              and r.status = 'completed' and r.amount > 0), '[]') as refunds,
          ${sql.literal(columns)}
        from orders_read o
        left join customers_read c on c.id = o.customer_id and c.organization_id = o.organization_id
        left join invoices i on i.order_id = o.id and i.organization_id = o.organization_id
        where o.id = ${orderId}::uuid and o.organization_id = ${yield* currentOrganization}`
      const { content = null, email = null, issuedAt = null, name = null, number = null, refunds = [] } = row ?? {}
      const buyer: Buyer = { name, email }
      const issued = number === null || issuedAt === null || content === null
        ? undefined
        : { number, issuedAt, content }
      return { buyer, refunds, issued }
    }, Effect.orDie)

    /**
     * Issues the invoice of an order once: a second call returns the first invoice. The counter's row is locked until
     * the commit: numbers have no gaps.
     */
    const issue = Effect.fn("InvoiceRepo.issue")(
      function*(orderId: OrderId, content: InvoiceContent) {
        const actor = yield* CurrentActor
        const organization = actor.organizationId
        yield* sql`insert into invoice_counters as c (organization_id, last_number) values (${organization}, 0)
          on conflict (organization_id) do update set last_number = c.last_number`
        const [made] = yield* decoding(sql, Issued)`with made as (
            insert into invoices ${
          invoices.insert(sql, {
            orderId: sql`${orderId}::uuid`,
            organizationId: "organization_id",
            number: "last_number + 1",
            content: sql`${JSON.stringify(encode(content))}::jsonb`
          })
        } from invoice_counters where organization_id = ${organization}
            on conflict (order_id) do nothing returning *),
          moved as (
            update invoice_counters set last_number = last_number + 1
            where organization_id = ${organization} and exists (select 1 from made))
          select ${sql.literal(columns)} from made i`
        if (made !== undefined) {
          const { issuedAt, number } = made
          const payload = { orderId, number, issuedAt, grandTotal: content.grandTotal }
          yield* changeLogInsert(sql, actor, [
            { type: "invoices.create", entityType: "invoice", entityId: orderId, payload }
          ])
          return made
        }
        const [earlier] = yield* decoding(sql, Issued)`select ${sql.literal(columns)} from invoices i
          where order_id = ${orderId}::uuid and organization_id = ${organization}`
        return earlier ?? (yield* Effect.die(new Error(`The invoice of ${orderId} vanished.`)))
      },
      sql.withTransaction,
      Effect.orDie
    )

    return { factsOf, issue }
  })
}) {
  static readonly layer = Layer.effect(InvoiceRepo, InvoiceRepo.make)
}
