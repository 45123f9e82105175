import { Effect, type Schema } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { Database } from "../../../domain/platform/database/DatabaseRepo.ts"
import { decoderOf, plainRows } from "../../../domain/platform/records/Rows.ts"
import type { Usable } from "./PluginDatabase.ts"

/** Decodes the rows of statements by a schema. It is expensive to make: once, at the top of a module. */
export const rowsOf = <A>(row: Schema.Codec<A, unknown>) => {
  const decode = decoderOf(row)
  return (
    statement: Statement.Statement<Readonly<Record<string, unknown>>>
  ): Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> => Effect.map(statement, (rows) => decode(plainRows(rows)))
}

/**
 * Statements of a plugin's own, about rows of the actor's organization; a failure of the database is a defect. `name` is
 * their span:
 *
 *   const openOrders = statement("Orders.open", function*(sql, organizationId, customerId: string) {
 *     return yield* ids(sql`select id from my_orders where organization_id = ${organizationId}
 *       and customer_id = ${customerId}::uuid`)
 *   })
 *
 *   yield* db.use(openOrders)(customerId)
 */
export const statement = <Args extends ReadonlyArray<unknown>, A>(
  name: string,
  send: (
    sql: Database,
    organizationId: string,
    ...args: Args
  ) => Generator<Effect.Effect<unknown, Error, CurrentActor>, A, never>
): Usable<(...args: Args) => Effect.Effect<A, never, CurrentActor>> => {
  const sent = Effect.fn(name)((sql: Database, args: Args) =>
    Effect.flatMap(
      CurrentActor,
      ({ organizationId }) => Effect.orDie(Effect.gen(() => send(sql, organizationId, ...args)))
    )
  )
  return { on: ({ sql }) => (...args) => sent(sql, args) }
}
