import { Context, Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { holds } from "../inventory/StockTables.ts"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import type { Conflict, NotFound, ValidationFailed } from "../platform/errors/ApiErrors.ts"
import type { OrderId } from "../platform/ids/Id.ts"
import { usageRefusal } from "./CreateOrderRepo.ts"
import { createManualOrderStatement, type NewManualOrder, settleStatement } from "./CreateOrderStatements.ts"
import type { SoldGoods } from "./SoldGoods.ts"

export type NewSoldOrder = NewManualOrder & Required<Pick<NewManualOrder, "payments">>

export interface SoldOrderSteps<A, E, R> {
  readonly takeGoods: Effect.Effect<boolean, Conflict | NotFound | ValidationFailed, CurrentActor>
  readonly finish: Effect.Effect<A, E, R>
}

const digestOf = (sql: SqlClient.SqlClient, sold: SoldGoods) =>
  sql`encode(sha256(convert_to(${JSON.stringify(sold)}::jsonb::text, 'UTF8')), 'hex')`

export class SoldOrderRepo extends Context.Service<SoldOrderRepo>()("stoa/domain/checkout/SoldOrderRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const isSame = Effect.fn("SoldOrderRepo.isSame")(function*(id: OrderId, sold: SoldGoods) {
      const [row] = yield* sql`select request_hash is not distinct from ${digestOf(sql, sold)} as same from orders
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return row === undefined ? undefined : row["same"] === true
    }, Effect.orDie)

    const lockOrder = (id: OrderId, organization: string) =>
      sql`select 1 from orders where id = ${id}::uuid and organization_id = ${organization} for update`

    /**
     * Takes the goods and creates their paid order in one transaction. Undefined when there is an order of this id. A
     * concurrent call for the same id waits. Locks stock before promotions, as edits and cancellations do.
     */
    const create = Effect.fn("SoldOrderRepo.create")(
      function*<A, E, R>(
        { order, payments, ...newOrder }: NewSoldOrder,
        sold: SoldGoods,
        { finish, takeGoods }: SoldOrderSteps<A, E, R>
      ) {
        const actor = yield* CurrentActor
        const { organizationId: organization } = actor
        const { id } = order
        // No stock waits for it: the hold stands for the order alone, and of two calls only one inserts it.
        const [claimed] = yield* sql`insert into holds ${
          holds.insert(sql, {
            organizationId: sql`${organization}`,
            holder: sql`${id}`,
            state: "'held'"
          })
        } on conflict (organization_id, holder) do nothing returning true`
        if (claimed === undefined) return undefined
        // As a refund of that order does: its row before the stock.
        if (sold.returns !== undefined) yield* lockOrder(sold.returns.orderId, organization)
        const metadata = (yield* takeGoods) ? { ...order.metadata, oversold: true } : order.metadata
        yield* createManualOrderStatement(sql, actor, { ...newOrder, payments, order: { ...order, metadata } })
        const captured = payments.reduce((sum, { amount }) => sum + amount, 0)
        const parts = payments.map(({ amount, position }) => ({ position, captured: amount }))
        const intent = payments.at(-1)?.intentId ?? ""
        yield* settleStatement(sql, [{ id, organization, intent, captured, parts, actor }], "")
        yield* sql`update orders set request_hash = ${digestOf(sql, sold)}
          where id = ${id}::uuid and organization_id = ${organization}`
        return yield* finish
      },
      sql.withTransaction,
      Effect.catchIf(SqlError.isSqlError, usageRefusal)
    )

    return { create, isSame }
  })
}) {
  static readonly layer = Layer.effect(SoldOrderRepo, SoldOrderRepo.make)
}
