import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { type CustomerId, isUuid } from "../platform/ids/Id.ts"
import { totalOf } from "../platform/paging/ListTotalsRepo.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { emailKey, emailKeyOf } from "../platform/text/Email.ts"
import { isOrderNumber, SpentIn } from "./Order.ts"
import { orderStatements } from "./OrderStatements.ts"
import { OrderStatus } from "./OrderStatus.ts"

export interface OrderFilter {
  readonly status?: string | undefined
  readonly customerId?: CustomerId | undefined
  readonly userId?: string | undefined
}

const isStatus = Schema.is(OrderStatus)

const ownerOf = (column: string) => `jsonb_build_object('orderId', claimed.id, 'customerId', ${column})`

const ofCustomers = (sql: SqlClient.SqlClient) => {
  const key = sql.literal(emailKeyOf("email"))

  const spent = Effect.fn("OrderRepo.spent")(function*(customerId: CustomerId) {
    return yield* decoding(sql, SpentIn)`select currency, count(*) as count,
        sum(grand_total - refunded_total)::float8 as spent
      from orders where organization_id = ${yield* currentOrganization} and customer_id = ${customerId}::uuid
        and status <> 'cancelled'
      group by currency order by count desc, currency`
  }, Effect.orDie)

  const countOf = Effect.fn("OrderRepo.countOf")(function*(customerId: CustomerId) {
    const [row] = yield* sql`select count(*) as total from orders where organization_id = ${yield* currentOrganization}
      and customer_id = ${customerId}::uuid and status <> 'cancelled'`
    return Number(row?.["total"])
  }, Effect.orDie)

  const hasGuestOrders = Effect.fn("OrderRepo.hasGuestOrders")(function*(email: string) {
    const rows = yield* sql`select 1 from orders where organization_id = ${yield* currentOrganization}
      and ${key} = ${emailKey(email)} and customer_id is null and email is not null limit 1`
    return rows.length > 0
  }, Effect.orDie)

  const claim = Effect.fn("OrderRepo.claim")(function*(customerId: CustomerId, email: string) {
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
        where organization_id = ${actor.organizationId} and ${key} = ${emailKey(email)} and customer_id is null
          and email is not null
        returning id, customer_id),
      entries as (${entries})
      select id from claimed`
    return rows.length
  }, Effect.orDie)

  return { spent, countOf, hasGuestOrders, claim }
}

/** Reads orders, assigns them to customers, and counts their numbers. */
export class OrderRepo extends Context.Service<OrderRepo>()("stoa/domain/orders/OrderRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const statements = orderStatements(sql)

    const find = Effect.fn("OrderRepo.find")(function*(idOrNumber: string) {
      const organization = yield* currentOrganization
      if (isUuid(idOrNumber)) return yield* statements.stored(organization, sql`o.id = ${idOrNumber}::uuid`)
      if (!isOrderNumber(idOrNumber)) return undefined
      return yield* statements.stored(organization, sql`o.order_number = ${idOrNumber}`)
    }, Effect.orDie)

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
      const total = customerId === undefined && userId === undefined
        ? totalOf(sql, organization, "orders", status === undefined ? undefined : [status])
        : sql`(select count(*) from orders where ${where})`
      return yield* statements.page(where, total, page)
    }, Effect.orDie)

    /**
     * Reserves `count` order numbers (contract §4), after all imported ones, and returns the last. Commits at once: a
     * rollback would hand the numbers out twice, so a call inside a transaction is a defect.
     */
    const takeNumbers = Effect.fn("OrderRepo.takeNumbers")(function*(year: number, count: number) {
      const organization = yield* currentOrganization
      if (Option.isSome(yield* Effect.serviceOption(sql.transactionService))) {
        return yield* Effect.die(
          new Error("Order numbers are taken before the transaction of the order, never inside it.")
        )
      }
      const rows = yield* sql`
        insert into order_counters as c (organization_id, year, last_number) values (${organization}, ${year}, ${count})
        on conflict (organization_id, year) do update
          set last_number = greatest(c.last_number, c.imported_to) + excluded.last_number,
            skipped = case when c.imported_to > c.last_number
              then c.skipped + int8multirange(int8range(c.last_number, c.imported_to, '(]')) else c.skipped end
        returning last_number`
      return Number(rows[0]?.["last_number"])
    }, Effect.orDie)

    return { find, list, takeNumbers, ...ofCustomers(sql) }
  })
}) {
  static readonly layer = Layer.effect(OrderRepo, OrderRepo.make)
}
