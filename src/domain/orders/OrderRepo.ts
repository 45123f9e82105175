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
}

/** Reads of orders. Every read is one statement for the orders and one for all their lines, whatever their number. */
export class OrderRepo extends Context.Service<OrderRepo, {
  /** By id or by number, with its lines, in one statement. Undefined when the organization has no such order. */
  readonly find: (idOrNumber: string) => Effect.Effect<StoredOrder | undefined, never, CurrentActor>
  /** A page of orders with their lines, newest first: three statements. */
  readonly list: (filter: OrderFilter, page: PageRequest) => Effect.Effect<PageOf<Order>, never, CurrentActor>
  /** How many orders of a customer profile were not cancelled. */
  readonly countOf: (customerId: string) => Effect.Effect<number, never, CurrentActor>
}>()("stoa/domain/orders/OrderRepo") {}

const isStatus = (text: string): boolean => OrderStatus.literals.some((status) => status === text)

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
          coalesce((select jsonb_agg(to_jsonb(l) order by l.position) from order_lines l where l.order_id = o.id),
            '[]') as lines
        from orders o
        left join customers c on c.id = o.customer_id and c.organization_id = o.organization_id
        where o.organization_id = ${organization} and ${named}`
      const row = rows[0]
      return row === undefined ? undefined : {
        order: toOrder(row, row.lines),
        ownerUserId: row.owner_user_id,
        cartId: row.cart_id,
        cartSecretHash: row.cart_secret_hash,
        paymentProvider: row.payment_provider
      }
    }, Effect.orDie)

    const linesOf = Effect.fn("OrderRepo.linesOf")(function*(orderIds: ReadonlyArray<string>) {
      if (orderIds.length === 0) return new Map<string, ReadonlyArray<OrderLineRow>>()
      const rows = yield* sql<{ readonly order_id: string; readonly lines: ReadonlyArray<OrderLineRow> }>`
        select order_id, jsonb_agg(to_jsonb(l) order by l.position) as lines
        from order_lines l where l.order_id = any(${orderIds}::uuid[]) group by order_id`
      return new Map(rows.map((row) => [row.order_id, row.lines]))
    })

    const list = Effect.fn("OrderRepo.list")(function*({ customerId, status }: OrderFilter, page: PageRequest) {
      const organization = yield* currentOrganization
      if (status !== undefined && !isStatus(status)) return { ...page, items: [], total: 0 }
      const where = sql.and([
        sql`organization_id = ${organization}`,
        ...(status === undefined ? [] : [sql`status = ${status}`]),
        ...(customerId === undefined ? [] : [sql`customer_id = ${customerId}::uuid`])
      ])
      const counted = yield* sql<{ readonly total: bigint }>`select count(*) as total from orders where ${where}`
      const rows = yield* sql<OrderRow>`select * from orders where ${where}
        order by placed_at desc, id desc limit ${page.limit} offset ${offsetOf(page)}`
      const lines = yield* linesOf(rows.map((row) => row.id))
      const items = rows.map((row) => toOrder(row, lines.get(row.id) ?? []))
      return { ...page, items, total: Number(counted[0]?.total ?? 0) }
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
