import { Context, Effect, Layer, String, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import { isUuid } from "../ids/Id.ts"
import { offsetOf, type PageRequest } from "../paging/Paging.ts"
import { columnsOf } from "../records/Columns.ts"
import type { SpentIn } from "./CustomerTotals.ts"
import { isOrderNumber, Order, orderLines, type StoredOrder } from "./Order.ts"
import { OrderStatus } from "./OrderStatus.ts"

/** Read as numbers: the driver gives bigints for these columns. */
const amounts = Object.fromEntries(
  ["subtotal", "taxTotal", "shippingTotal", "discountTotal", "grandTotal", "amountCaptured", "refundedTotal"].map(
    (field) => [field, `o.${String.camelToSnake(field)}::float8`]
  )
)

/** SQL of the order `o` with its lines, without internal fields (provider, hash of the cart's secret). */
export const orderColumns = `${
  columnsOf(Struct.omit(Order.fields, ["isDraft", "lineItems"]), "o", amounts)
}, nullif(o.is_draft, false) as "isDraft", coalesce((select jsonb_agg(${orderLines.json("l")}
    order by l.position) from order_lines l where l.order_id = o.id), '[]') as "lineItems"`

/** An order as `orderColumns` reads it. */
export interface OrderRow extends Omit<Order, "isDraft" | "importedAt"> {
  readonly isDraft: true | null
  readonly importedAt: Date | null
}

export const toOrder = ({ importedAt, isDraft, ...order }: OrderRow): Order => ({
  ...order,
  ...(isDraft === null ? {} : { isDraft }),
  ...(importedAt === null ? {} : { importedAt })
})

/** Which orders a list shows. An unknown status shows none (contract §4). */
export interface OrderFilter {
  readonly status?: string | undefined
  /** Only those of this customer profile. */
  readonly customerId?: string | undefined
  /** Only those of the profile of this login. */
  readonly userId?: string | undefined
}

const isStatus = (text: string): boolean => OrderStatus.literals.some((status) => status === text)

const ownerOf = (column: string) => `jsonb_build_object('orderId', claimed.id, 'customerId', ${column})`

const ofCustomers = (sql: SqlClient.SqlClient) => {
  /** What a customer has spent in each currency, that of most orders first, in one statement. */
  const spent = Effect.fn("OrderRepo.spent")(function*(customerId: string) {
    return yield* sql<SpentIn>`select currency, count(*)::int as count,
        sum(grand_total - refunded_total)::float8 as spent
      from orders where organization_id = ${yield* currentOrganization} and customer_id = ${customerId}::uuid
        and status <> 'cancelled'
      group by currency order by count desc, currency`
  }, Effect.orDie)

  /** Whether guests of the organization created orders under an e-mail address that belong to no customer yet. */
  const hasGuestOrders = Effect.fn("OrderRepo.hasGuestOrders")(function*(email: string) {
    const rows = yield* sql`select 1 from orders where organization_id = ${yield* currentOrganization}
      and lower(email) = lower(${email}) and customer_id is null and email is not null limit 1`
    return rows.length > 0
  }, Effect.orDie)

  /**
   * Assigns the guest orders of an e-mail address to a customer and records each in the change log, in one statement.
   * Returns the count. Orders with an owner keep it, so repeating the call changes nothing.
   */
  const claim = Effect.fn("OrderRepo.claim")(function*(customerId: string, email: string) {
    const actor = yield* CurrentActor
    const entries = changeLogRows(sql, actor, {
      type: "orders.claim",
      entityType: "order",
      entityId: "claimed.id::text",
      payload: ownerOf("claimed.customer_id"),
      before: ownerOf("null"),
      from: "claimed"
    })
    const rows = yield* sql`with claimed as (
        update orders set customer_id = ${customerId}::uuid, updated_at = now()
        where organization_id = ${actor.organizationId} and lower(email) = lower(${email}) and customer_id is null
          and email is not null
        returning id, customer_id),
      entries as (${entries})
      select id from claimed`
    return rows.length
  }, Effect.orDie)

  return { spent, hasGuestOrders, claim }
}

/** Reads orders, each read in one statement however many orders and lines it finds, and assigns them to customers. */
export class OrderRepo extends Context.Service<OrderRepo>()("stoa/domain/orders/OrderRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /** By id or by number, with its lines, in one statement. Undefined when the organization has no such order. */
    const find = Effect.fn("OrderRepo.find")(function*(idOrNumber: string) {
      const organization = yield* currentOrganization
      const byId = isUuid(idOrNumber)
      if (!byId && !isOrderNumber(idOrNumber)) return undefined
      const named = byId ? sql`o.id = ${idOrNumber}::uuid` : sql`o.order_number = ${idOrNumber}`
      const [row] = yield* sql<OrderRow & Omit<StoredOrder, "order">>`select ${sql.literal(orderColumns)},
          c.user_id as "ownerUserId", o.cart_id as "cartId", o.cart_secret_hash as "cartSecretHash",
          o.payment_provider as "paymentProvider", o.tax_provider as "taxProvider"
        from orders o
        left join customers_read c on c.id = o.customer_id and c.organization_id = o.organization_id
        where o.organization_id = ${organization} and ${named}`
      if (row === undefined) return undefined
      const { cartId, cartSecretHash, ownerUserId, paymentProvider, taxProvider, ...order } = row
      return { order: toOrder(order), ownerUserId, cartId, cartSecretHash, paymentProvider, taxProvider }
    }, Effect.orDie)

    /** A page of orders with their lines, newest first. */
    const list = Effect.fn("OrderRepo.list")(function*({ customerId, status, userId }: OrderFilter, page: PageRequest) {
      const organization = yield* currentOrganization
      if (status !== undefined && !isStatus(status)) return { ...page, items: [], total: 0 }
      const where = sql.and([
        sql`organization_id = ${organization}`,
        ...(status === undefined ? [] : [sql`status = ${status}`]),
        ...(customerId === undefined ? [] : [sql`customer_id = ${customerId}::uuid`]),
        ...(userId === undefined ? [] : [sql`customer_id = (select c.id from customers_read c
          where c.organization_id = ${organization} and c.user_id = ${userId} and c.erased_at is null)`])
      ])
      const count = sql`(select count(*) from orders where ${where}) as total`
      const rows = yield* sql<OrderRow & { readonly total: bigint }>`select ${sql.literal(orderColumns)}, ${count}
        from (select * from orders where ${where}
          order by placed_at desc, id desc limit ${page.limit} offset ${offsetOf(page)}) o
        order by o.placed_at desc, o.id desc`
      const items = rows.map(({ total: _, ...row }) => toOrder(row))
      // A page after the last one has no row with the total.
      const [first] = rows.length === 0 && page.page > 1
        ? yield* sql<{ readonly total: bigint }>`select ${count}`
        : rows
      return { ...page, items, total: Number(first?.total ?? 0) }
    }, Effect.orDie)

    /** How many orders of a customer profile were not cancelled. */
    const countOf = Effect.fn("OrderRepo.countOf")(function*(customerId: string) {
      const organization = yield* currentOrganization
      const rows = yield* sql<{ readonly total: bigint }>`select count(*) as total from orders
        where organization_id = ${organization} and customer_id = ${customerId}::uuid and status <> 'cancelled'`
      return Number(rows[0]?.total ?? 0)
    }, Effect.orDie)

    return { find, list, countOf, ...ofCustomers(sql) }
  })
}) {}

/** `OrderRepo` over the database of the process. */
export const orderRepoLayer = Layer.effect(OrderRepo, OrderRepo.make)
