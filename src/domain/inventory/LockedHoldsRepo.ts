import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { manualHolder } from "./Reservation.ts"
import type { StockDemand } from "./StockRules.ts"

/** Units by sellable, however often one is named. */
export const unitsBySellable = (lines: ReadonlyArray<StockDemand>): ReadonlyMap<string, number> => {
  const units = new Map<string, number>()
  for (const { quantity, sellable } of lines) {
    const id = sellable.toLowerCase()
    units.set(id, (units.get(id) ?? 0) + quantity)
  }
  return units
}

/**
 * Runs a statement about what an order holds, from its checkout or by hand, in a transaction that has locked these
 * holds: their lines are read by a statement that starts after the lock, else it would read what was before.
 */
export const lockingHolds = (sql: SqlClient.SqlClient) =>
<A, E, R>(
  orderId: string,
  body: (organization: string, holders: ReadonlyArray<string>) => Effect.Effect<A, E, R>
) =>
  sql.withTransaction(Effect.gen(function*() {
    const organization = yield* currentOrganization
    const holders = [orderId, manualHolder(orderId)]
    yield* sql`select 1 from holds where organization_id = ${organization} and holder = any(${holders}::text[])
        order by holder for update`
    return yield* body(organization, holders)
  }))
