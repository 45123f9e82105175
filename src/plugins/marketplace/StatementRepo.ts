import { Effect } from "effect"
import { CurrentActor, type Database } from "stoa/plugin"

/** Statements about rows of the actor's organization; a failure of the database is a defect. `name` is their span. */
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
