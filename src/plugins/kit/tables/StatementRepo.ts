import { Effect } from "effect"
import { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { Database } from "../../../domain/platform/database/DatabaseRepo.ts"

/**
 * Statements of a plugin's own, about rows of the actor's organization; a failure of the database is a defect. `name` is
 * their span:
 *
 *   const openOrders = statement("Orders.open", function*(sql, organizationId, customerId: string) {
 *     return yield* ids(sql)`select id from my_orders where organization_id = ${organizationId}
 *       and customer_id = ${customerId}::uuid`
 *   })
 *
 *   yield* openOrders(db, customerId)
 */
export const statement = <Args extends ReadonlyArray<unknown>, A>(
  name: string,
  send: (
    sql: Database,
    organizationId: string,
    ...args: Args
  ) => Generator<Effect.Effect<unknown, Error, CurrentActor>, A, never>
) =>
  Effect.fn(name)(({ sql }: { readonly sql: Database }, ...args: Args) =>
    Effect.flatMap(
      CurrentActor,
      ({ organizationId }) => Effect.orDie(Effect.gen(() => send(sql, organizationId, ...args)))
    )
  )
