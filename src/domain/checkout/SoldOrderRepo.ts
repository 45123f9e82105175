import { Context, Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { OrderId } from "../ids/Id.ts"
import { usageRefusal } from "./CreateOrderRepo.ts"
import { createManualOrderStatement, type NewManualOrder, settleStatement } from "./CreateOrderStatements.ts"

/** A paid order of goods that have left. */
export type NewSoldOrder = NewManualOrder & Required<Pick<NewManualOrder, "payments">>

/** Writes orders of goods that have left already (contract, plugins §17.10-11). */
export class SoldOrderRepo extends Context.Service<SoldOrderRepo>()("stoa/domain/checkout/SoldOrderRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /**
     * Creates an order whose goods have left and that is paid by its `payments`, and runs `also` in the same transaction.
     * Undefined when there is an order of this id: nothing is written then. A concurrent call for the same id waits.
     */
    const create = Effect.fn("SoldOrderRepo.create")(
      function*<A, E, R>(
        newOrder: NewSoldOrder,
        also: Effect.Effect<A, E, R>
      ) {
        const actor = yield* CurrentActor
        const { organizationId: organization } = actor
        const { order: { id }, payments } = newOrder
        // No stock waits for it: the hold stands for the order alone, and of two calls only one inserts it.
        yield* sql`insert into holds (organization_id, holder, state) values (${organization}, ${id}, 'held')
          on conflict (organization_id, holder) do nothing`
        const [row] = yield* createManualOrderStatement(sql, actor, newOrder)
        if (row?.created !== true) return undefined
        const captured = payments.reduce((sum, { amount }) => sum + amount, 0)
        const parts = payments.map(({ amount, position }) => ({ position, captured: amount }))
        yield* settleStatement(sql, [{
          id,
          organization,
          intent: payments.at(-1)?.intentId ?? "",
          captured,
          parts,
          actor
        }], "")
        return yield* also
      },
      sql.withTransaction,
      Effect.catchIf(SqlError.isSqlError, usageRefusal)
    )

    /** Marks an order whose goods left without being in stock. */
    const markOversold = Effect.fn("SoldOrderRepo.markOversold")(function*(id: OrderId) {
      yield* sql`update orders set metadata = metadata || '{"oversold": true}' where id = ${id}::uuid
        and organization_id = ${yield* currentOrganization}`
    }, Effect.orDie)

    return { create, markOversold }
  })
}) {
  static readonly layer = Layer.effect(SoldOrderRepo, SoldOrderRepo.make)
}
