import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { type Buyer, InvoiceContent } from "./InvoiceContent.ts"
import type { Movement } from "./InvoiceDocument.ts"

/** An issued invoice: its number and its content. */
export interface IssuedInvoice {
  readonly number: bigint
  readonly issuedAt: Date
  readonly content: InvoiceContent
}

/** What a document needs besides its order. */
export interface InvoiceFacts {
  readonly buyer: Buyer
  /** What providers confirmed to have given back. */
  readonly refunds: ReadonlyArray<Movement>
  readonly issued: IssuedInvoice | undefined
}

/** An invoice as it is stored. */
interface IssuedRow extends Omit<IssuedInvoice, "content"> {
  readonly content: unknown
}

type FactsRow =
  & Buyer
  & { readonly refunds: ReadonlyArray<{ readonly at: string; readonly amount: number }> }
  & (
    | IssuedRow
    | { readonly number: null }
  )

const ContentJson = Schema.toCodecJson(InvoiceContent)
const decode = Schema.decodeUnknownSync(ContentJson)
const encode = Schema.encodeSync(ContentJson)

const columns = `i.number, i.issued_at as "issuedAt", i.content`

const toIssued = ({ content, issuedAt, number }: IssuedRow): IssuedInvoice => ({
  number,
  issuedAt,
  content: decode(content)
})

/** Invoices and the data they are built from. */
export class InvoiceRepo extends Context.Service<InvoiceRepo>()("stoa/domain/invoices/InvoiceRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** In one statement, of an order of this organization. */
    const factsOf = Effect.fn("InvoiceRepo.factsOf")(function*(orderId: string) {
      const [row] = yield* sql<FactsRow>`select
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
      const facts: InvoiceFacts = {
        buyer: { name: row?.name ?? null, email: row?.email ?? null },
        refunds: (row?.refunds ?? []).map(({ amount, at }) => ({ at: new Date(at), amount })),
        issued: row === undefined || row.number === null ? undefined : toIssued(row)
      }
      return facts
    }, Effect.orDie)

    /**
     * Issues the invoice of an order once: a second call returns the first invoice. Numbers of an organization have no
     * gaps, because the counter's row is locked until the invoice is committed.
     */
    const issue = Effect.fn("InvoiceRepo.issue")(
      (orderId: string, content: InvoiceContent) =>
        sql.withTransaction(Effect.gen(function*() {
          const actor = yield* CurrentActor
          const organization = actor.organizationId
          // Locks the counter; what is read afterwards cannot change before this invoice is committed.
          yield* sql`insert into invoice_counters as c (organization_id, last_number) values (${organization}, 0)
          on conflict (organization_id) do update set last_number = c.last_number`
          const made = yield* sql<IssuedRow>`with made as (
            insert into invoices (order_id, organization_id, number, content)
            select ${orderId}::uuid, organization_id, last_number + 1, ${JSON.stringify(encode(content))}::jsonb
            from invoice_counters where organization_id = ${organization}
            on conflict (order_id) do nothing returning *),
          moved as (
            update invoice_counters set last_number = last_number + 1
            where organization_id = ${organization} and exists (select 1 from made))
          select ${sql.literal(columns)} from made i`
          const [row] = made.length > 0 ? made : yield* sql<IssuedRow>`select ${sql.literal(columns)} from invoices i
          where order_id = ${orderId}::uuid and organization_id = ${organization}`
          if (row === undefined) return yield* Effect.die(new Error(`The invoice of ${orderId} vanished.`))
          if (made.length > 0) {
            const { issuedAt, number } = row
            const payload = { orderId, number: Number(number), issuedAt, grandTotal: content.grandTotal }
            yield* changeLogInsert(sql, actor, [
              { type: "invoices.create", entityType: "invoice", entityId: orderId, payload }
            ])
          }
          return toIssued(row)
        })),
      Effect.orDie
    )

    return { factsOf, issue }
  })
}) {}

/** `InvoiceRepo` over the database of the process. */
export const invoiceRepoLayer = Layer.effect(InvoiceRepo, InvoiceRepo.make)
