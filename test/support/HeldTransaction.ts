import { Effect } from "effect"
import type { PluginTestApp } from "stoa/plugin/testing"

/**
 * Runs work in a transaction of the service that holds its locks until others wait for them. The service ends one that
 * sends nothing for five seconds, which is not long on a busy machine.
 */
export const inHeldTransaction = <A, E, R>(
  { tables: { sql, transaction } }: Pick<PluginTestApp, "tables">,
  work: Effect.Effect<A, E, R>
) => transaction(Effect.andThen(Effect.orDie(sql`set local idle_in_transaction_session_timeout = 0`), work))
