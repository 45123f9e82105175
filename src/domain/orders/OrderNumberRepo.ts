import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"

/** Counters for order numbers: a row per organization and year (contract §4). */
export class OrderNumberRepo extends Context.Service<OrderNumberRepo>()("stoa/domain/orders/OrderNumberRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /**
     * Reserves the next `count` numbers of a year, after all imported ones, and returns the last. Commits at once: a
     * surrounding transaction that rolls back would hand the numbers out twice, so a call inside one is a defect.
     */
    const take = Effect.fn("OrderNumberRepo.take")(function*(year: number, count: number) {
      const organization = yield* currentOrganization
      if (Option.isSome(yield* Effect.serviceOption(sql.transactionService))) {
        return yield* Effect.die(
          new Error("Order numbers are taken before the transaction of the order, never inside it.")
        )
      }
      const rows = yield* sql<{ readonly last_number: bigint }>`
        insert into order_counters as c (organization_id, year, last_number) values (${organization}, ${year}, ${count})
        on conflict (organization_id, year) do update
          set last_number = greatest(c.last_number, c.imported_to) + excluded.last_number,
            skipped = case when c.imported_to > c.last_number
              then c.skipped + int8multirange(int8range(c.last_number, c.imported_to, '(]')) else c.skipped end
        returning last_number`
      return Number(rows[0]?.last_number)
    }, Effect.orDie)
    return { take }
  })
}) {}

/** `OrderNumberRepo` over the database of the process. */
export const orderNumberRepoLayer = Layer.effect(OrderNumberRepo, OrderNumberRepo.make)
