import { Effect, Struct } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type BuyerProfile, buyerProfile, buyerShown } from "../customers/BuyerProfile.ts"
import type { OrderId, PaymentId } from "../platform/ids/Id.ts"
import { nextCursorOf, pageParts } from "../platform/paging/CursorRepo.ts"
import type { PageOf, PageRequest } from "../platform/paging/Paging.ts"
import { columnsOf } from "../platform/records/Table.ts"
import { type Order, StoredLine, type StoredOrder } from "./Order.ts"
import { orders, storedOrder } from "./OrderTable.ts"
import { shownOrder, type UnshownOrder, type WaitingUnits, withWaiting } from "./ShownOrder.ts"
import { type PaymentColumns, paymentsOf, storedPayments } from "./Tender.ts"

// Only a line that is sent in part needs the sum of its fulfillments.
const covered = `case when l.fulfillment_status = 'partial' then (select sum(fl.quantity)::int4
  from fulfillments_read f join fulfillment_lines_read fl on fl.fulfillment_id = f.id
  where f.order_id = l.order_id and f.organization_id = l.organization_id and f.status <> 'cancelled'
    and fl.order_line_id = l.id) else 0 end`
// Only a line that was sent can have come back.
const returned = `case when l.fulfillment_status = 'unfulfilled' then 0 else coalesce((select sum(x.received_quantity)
  from order_return_lines_read x where x.order_line_id = l.id and x.status = 'received'), 0)::int4 end`
/** Units of an order's line `l` that are still to be handed over. */
export const unsentUnits = `case when l.fulfillment_status = 'fulfilled' then 0
  else greatest(0, l.quantity - l.refunded_quantity - coalesce((select sum(fl.quantity)::int4
    from fulfillments_read f join fulfillment_lines_read fl on fl.fulfillment_id = f.id
    where f.order_id = l.order_id and f.status <> 'cancelled' and fl.order_line_id = l.id), 0)) end`

/** The units that an order `o` waits for. */
export const waitingUnits = `(select jsonb_object_agg(b.sellable_id, b.quantity) from backorders_read b
    where b.organization_id = o.organization_id and b.holder = o.id::text and b.quantity > 0)`
const shown = [...Struct.keys(storedOrder), "importedAt"] as const
const columns = `${orders.columns("o", shown)}, nullif(o.is_draft, false) as "isDraft", o.email, ${
  buyerProfile("o")
} as profile, o.payment_provider as "paymentProvider",
    o.payment_due_at is not null as "awaitsShopper", o.payment_due_at as "paymentDueAt", o.payment_id as "paymentId",
    o.payment_claim_id as "paymentClaimId", ${storedPayments} as "storedPayments", ${waitingUnits} as waiting, coalesce((select json_agg(y) from (select ${
  columnsOf({ ...StoredLine.fields, covered: null, returned: null }, "l", { covered, returned })
} from order_lines l where l.order_id = o.id order by l.position) y), '[]') as "lineItems"`

interface OrderRow extends Omit<UnshownOrder, "customer" | "importedAt" | "isDraft">, PaymentColumns {
  readonly profile: BuyerProfile | null
  readonly isDraft: true | null
  readonly waiting: WaitingUnits
  readonly importedAt: Date | null
  readonly paymentId: PaymentId | null
  readonly paymentClaimId: PaymentId | null
}

interface BesideOrder extends Omit<StoredOrder, "order" | "payments" | "paymentClaimId" | "paymentId"> {
  readonly cursor: string
  readonly total: bigint
}

// A rest copies slowly.
const toOrder = (row: OrderRow & Partial<BesideOrder>): Order => {
  const {
    awaitsShopper,
    cartId,
    cartSecretHash,
    cursor,
    email,
    importedAt,
    isDraft,
    ownerUserId,
    paymentClaimId,
    paymentDueAt,
    paymentId,
    paymentProvider,
    profile,
    storedPayments,
    taxProvider,
    total,
    waiting,
    ...order
  } = row
  return shownOrder({
    ...order,
    ...buyerShown(email, profile),
    lineItems: waiting === null ? order.lineItems : withWaiting(order.lineItems, waiting),
    ...(isDraft === null ? {} : { isDraft }),
    ...(importedAt === null ? {} : { importedAt })
  }, row)
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
      sql<OrderRow & Omit<BesideOrder, "cursor" | "total">>`select ${sql.literal(columns)},
          c.user_id as "ownerUserId", o.cart_id as "cartId", o.cart_secret_hash as "cartSecretHash",
          o.tax_provider as "taxProvider"
        from orders o
        left join customers_read c on c.id = o.customer_id and c.organization_id = o.organization_id
        where o.organization_id = ${organization} and ${named}`,
      ([row]): StoredOrder | undefined =>
        row && {
          order: toOrder(row),
          payments: paymentsOf(row, row),
          ...Struct.pick(row, ["cartId", "cartSecretHash", "ownerUserId", "taxProvider", "paymentId", "paymentClaimId"])
        }
    ),

  page: Effect.fnUntraced(function*(where: Statement.Fragment, total: Statement.Fragment, page: PageRequest) {
    const count = sql`${total} as total`
    const { after, cursor, slice } = pageParts(sql, page, { time: "placed_at", id: "id" })
    const rows = yield* sql<OrderRow & Pick<BesideOrder, "cursor" | "total">>`select
        ${sql.literal(columns)}, ${count}, o.cursor
      from (select * ${cursor} from orders where ${sql.and([where, ...after])}
        order by placed_at desc, id desc ${slice}) o
      order by o.placed_at desc, o.id desc`
    const isAfterAll = rows.length === 0 && (page.page > 1 || page.cursor !== undefined)
    const [first] = isAfterAll ? yield* sql<{ readonly total: bigint }>`select ${count}` : rows
    return {
      ...page,
      items: rows.map(toOrder),
      total: Number(first?.total ?? 0),
      nextCursor: nextCursorOf(rows, page)
    } satisfies PageOf<Order>
  })
})
