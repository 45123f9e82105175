import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { isUuid } from "../ids/Id.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import { isOrderNumber, type Order, type StoredOrder } from "./Order.ts"
import { type OrderLineRow, type OrderRow, toOrder } from "./OrderRows.ts"
import { OrderStatus } from "./OrderStatus.ts"

/** Which orders a list shows. An unknown status shows none (contract §4). */
export interface OrderFilter {
  readonly status?: string | undefined
  /** Only those of this customer profile. */
  readonly customerId?: string | undefined
  /** Only those of the profile of this login. */
  readonly userId?: string | undefined
}

/** Reads of orders. Every read is one statement, however many orders and lines it finds. */
export class OrderRepo extends Context.Service<OrderRepo, {
  /** By id or by number, with its lines, in one statement. Undefined when the organization has no such order. */
  readonly find: (idOrNumber: string) => Effect.Effect<StoredOrder | undefined, never, CurrentActor>
  /** A page of orders with their lines, newest first. */
  readonly list: (filter: OrderFilter, page: PageRequest) => Effect.Effect<PageOf<Order>, never, CurrentActor>
  /** How many orders of a customer profile were not cancelled. */
  readonly countOf: (customerId: string) => Effect.Effect<number, never, CurrentActor>
}>()("stoa/domain/orders/OrderRepo") {}

const isStatus = (text: string): boolean => OrderStatus.literals.some((status) => status === text)

/** The lines of the order of a row `o`, in their order. */
const linesOfOrder = (sql: SqlClient.SqlClient) =>
  sql`coalesce((select jsonb_agg(to_jsonb(l) order by l.position) from order_lines l where l.order_id = o.id),
    '[]') as lines`

/** `OrderRepo` over the database of the process. */
export const orderRepoLayer = Layer.effect(
  OrderRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const find = Effect.fn("OrderRepo.find")(function*(idOrNumber: string) {
      const organization = yield* currentOrganization
      const byId = isUuid(idOrNumber)
      if (!byId && !isOrderNumber(idOrNumber)) return undefined
      const named = byId ? sql`o.id = ${idOrNumber}::uuid` : sql`o.order_number = ${idOrNumber}`
      const rows = yield* sql<
        OrderRow & { readonly lines: ReadonlyArray<OrderLineRow>; readonly owner_user_id: string | null }
      >`select o.*, c.user_id as owner_user_id,
          ${linesOfOrder(sql)}
        from orders o
        left join customers c on c.id = o.customer_id and c.organization_id = o.organization_id
        where o.organization_id = ${organization} and ${named}`
      const row = rows[0]
      return row === undefined ? undefined : {
        order: toOrder(row, row.lines),
        ownerUserId: row.owner_user_id,
        cartId: row.cart_id,
        cartSecretHash: row.cart_secret_hash,
        paymentProvider: row.payment_provider,
        taxProvider: row.tax_provider
      }
    }, Effect.orDie)

    const list = Effect.fn("OrderRepo.list")(function*({ customerId, status, userId }: OrderFilter, page: PageRequest) {
      const organization = yield* currentOrganization
      if (status !== undefined && !isStatus(status)) return { ...page, items: [], total: 0 }
      const where = sql.and([
        sql`organization_id = ${organization}`,
        ...(status === undefined ? [] : [sql`status = ${status}`]),
        ...(customerId === undefined ? [] : [sql`customer_id = ${customerId}::uuid`]),
        ...(userId === undefined ? [] : [sql`customer_id = (select c.id from customers c
          where c.organization_id = ${organization} and c.user_id = ${userId} and c.erased_at is null)`])
      ])
      const count = sql`(select count(*) from orders where ${where}) as total`
      const rows = yield* sql<OrderRow & { readonly lines: ReadonlyArray<OrderLineRow>; readonly total: bigint }>`
        select o.*, ${count}, ${linesOfOrder(sql)}
        from (select * from orders where ${where}
          order by placed_at desc, id desc limit ${page.limit} offset ${offsetOf(page)}) o
        order by o.placed_at desc, o.id desc`
      const items = rows.map((row) => toOrder(row, row.lines))
      // A page after the last one has no row with the total.
      const [first] = rows.length === 0 && page.page > 1
        ? yield* sql<{ readonly total: bigint }>`select ${count}`
        : rows
      return { ...page, items, total: Number(first?.total ?? 0) }
    }, Effect.orDie)

    const countOf = Effect.fn("OrderRepo.countOf")(function*(customerId: string) {
      const organization = yield* currentOrganization
      const rows = yield* sql<{ readonly total: bigint }>`select count(*) as total from orders
        where organization_id = ${organization} and customer_id = ${customerId}::uuid and status <> 'cancelled'`
      return Number(rows[0]?.total ?? 0)
    }, Effect.orDie)

    return OrderRepo.of({ find, list, countOf })
  })
)
