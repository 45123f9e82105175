import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { orderMails } from "../orders/OrderTable.ts"
import { currentOrganization } from "../platform/access/Actor.ts"
import type { OrderId, OrderMessageId } from "../platform/ids/Id.ts"
import { ownPage } from "../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"

export type StoredMail = typeof orderMails.schema.Type

export interface MessageFilter {
  readonly orderId?: OrderId | undefined
  readonly status?: StoredMail["outcome"] | undefined
}

const make = (sql: SqlClient.SqlClient) => {
  const list = Effect.fn("OrderMessageRepo.list")(
    ({ orderId, status }: MessageFilter, page: PageRequest) =>
      ownPage(
        sql,
        orderMails,
        "at desc, id desc",
        page,
        [
          ...(orderId === undefined ? [] : [sql`order_id = ${orderId}::uuid`]),
          ...(status === undefined ? [] : [sql`outcome = ${status}`])
        ],
        orderId === undefined ? status === undefined ? "all" : [status] : undefined
      ),
    Effect.orDie
  )

  const find = Effect.fn("OrderMessageRepo.find")(function*(orderId: OrderId, id: OrderMessageId) {
    const [found] = yield* orderMails.rows(sql)`select ${sql.literal(orderMails.columns())} from order_mails
      where id = ${id}::uuid and order_id = ${orderId}::uuid and organization_id = ${yield* currentOrganization}`
    return found
  }, Effect.orDie)

  /** Reads whether the order exists, and its present address. */
  const buyerOf = Effect.fn("OrderMessageRepo.buyerOf")(function*(orderId: OrderId) {
    const [row] = yield* decoding(sql, Schema.Struct({ email: Schema.NullOr(Schema.String) }))`select
        coalesce(nullif(o.email, ''), p.email) as email
      from orders_read o
      left join customers_read p on p.id = o.customer_id and p.organization_id = o.organization_id
      where o.id = ${orderId}::uuid and o.organization_id = ${yield* currentOrganization}`
    return row
  }, Effect.orDie)
  return { buyerOf, find, list }
}

export class OrderMessageRepo extends Context.Service<OrderMessageRepo>()("stoa/domain/mail/OrderMessageRepo", {
  make: Effect.map(SqlClient.SqlClient, make)
}) {
  static readonly layer = Layer.effect(OrderMessageRepo, OrderMessageRepo.make)
}
