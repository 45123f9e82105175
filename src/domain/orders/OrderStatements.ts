import { Effect, Struct } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { OrderId } from "../platform/ids/Id.ts"
import { nextCursorOf, pageParts } from "../platform/paging/CursorRepo.ts"
import type { PageOf, PageRequest } from "../platform/paging/Paging.ts"
import { orderedJsonOf } from "../platform/records/Table.ts"
import { type Order, orderLines, orderTaxes, type StoredOrder } from "./Order.ts"
import { orders, storedOrder } from "./OrderTable.ts"
import { type PaymentColumns, paymentsOf, storedPayments, withTenders } from "./Tender.ts"

const shown = [...Struct.keys(storedOrder), "importedAt"] as const
const columns = `${
  orders.columns("o", shown)
}, nullif(o.is_draft, false) as "isDraft", o.payment_provider as "paymentProvider",
    o.payment_due_at is not null as "awaitsShopper", ${storedPayments} as "storedPayments", coalesce((select json_agg(${
  orderLines.json("l", orderedJsonOf)
}
    order by l.position) from order_lines l where l.order_id = o.id), '[]') as "lineItems"`

interface OrderRow extends Omit<Order, "amountDue" | "importedAt" | "isDraft" | "taxes" | "tenders">, PaymentColumns {
  readonly isDraft: true | null
  readonly importedAt: Date | null
}

const toOrder = (row: OrderRow): Order => {
  const { awaitsShopper, importedAt, isDraft, paymentProvider, storedPayments, ...order } = row
  return {
    ...withTenders(order, row),
    taxes: orderTaxes(order.lineItems),
    ...(isDraft === null ? {} : { isDraft }),
    ...(importedAt === null ? {} : { importedAt })
  }
}

/** Reads orders with their lines, each in one statement. */
export const orderStatements = (sql: SqlClient.SqlClient) => ({
  order: (organization: string, id: OrderId, lock: boolean) =>
    Effect.map(
      sql<OrderRow>`select ${sql.literal(columns)} from orders o
        where o.id = ${id}::uuid and o.organization_id = ${organization}
        ${sql.literal(lock ? "for update of o" : "")}`,
      ([row]) => row === undefined ? undefined : toOrder(row)
    ),

  stored: (organization: string, named: Statement.Fragment) =>
    Effect.map(
      sql<OrderRow & Omit<StoredOrder, "order">>`select ${sql.literal(columns)},
          c.user_id as "ownerUserId", o.cart_id as "cartId", o.cart_secret_hash as "cartSecretHash",
          o.tax_provider as "taxProvider"
        from orders o
        left join customers_read c on c.id = o.customer_id and c.organization_id = o.organization_id
        where o.organization_id = ${organization} and ${named}`,
      ([row]): StoredOrder | undefined => {
        if (row === undefined) return undefined
        const { cartId, cartSecretHash, ownerUserId, taxProvider, ...order } = row
        return {
          order: toOrder(order),
          ownerUserId,
          cartId,
          cartSecretHash,
          taxProvider,
          payments: paymentsOf(order, order)
        }
      }
    ),

  page: Effect.fnUntraced(function*(where: Statement.Fragment, total: Statement.Fragment, page: PageRequest) {
    const count = sql`${total} as total`
    const { after, cursor, slice } = pageParts(sql, page, { time: "placed_at", id: "id" })
    const rows = yield* sql<OrderRow & { readonly total: bigint; readonly cursor: string }>`select
        ${sql.literal(columns)}, ${count}, o.cursor
      from (select * ${cursor} from orders where ${sql.and([where, ...after])}
        order by placed_at desc, id desc ${slice}) o
      order by o.placed_at desc, o.id desc`
    const isAfterAll = rows.length === 0 && (page.page > 1 || page.cursor !== undefined)
    const [first] = isAfterAll ? yield* sql<{ readonly total: bigint }>`select ${count}` : rows
    const items = rows.map(({ cursor: _, total: __, ...row }) => toOrder(row))
    return {
      ...page,
      items,
      total: Number(first?.total ?? 0),
      nextCursor: nextCursorOf(rows, page)
    } satisfies PageOf<Order>
  })
})
