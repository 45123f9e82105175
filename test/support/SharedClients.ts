import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

type Client = ManagedRuntime.ManagedRuntime<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError>

/** The clients of the databases that this process has made, by their address. */
const clients = new Map<string, Client>()

/** From now on until `closeClient` this process asks the database by one client. It connects when it is first asked. */
export const shareClient = (url: string): Effect.Effect<void> =>
  Effect.sync(() =>
    void clients.set(url, ManagedRuntime.make(PgClient.layer({ url: Redacted.make(url), maxConnections: 10 })))
  )

/** Ends the shared connections to the database. */
export const closeClient = (url: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const client = clients.get(url)
    clients.delete(url)
    return client?.disposeEffect ?? Effect.void
  })

/**
 * A client for a few statements on a database of a test: the one of all tests of this process, where this process made the
 * database. To connect for each look costs both sides more than most of the statements, and tests that wait for a state look
 * often. What a statement sets in its session is met by the next one: it sets it for its transaction alone.
 */
export const sharedClient = (url: string): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.unwrap(Effect.sync(() => {
    const client = clients.get(url)
    return client === undefined
      ? PgClient.layer({ url: Redacted.make(url), maxConnections: 2 })
      : Layer.effectContext(client.contextEffect)
  }))
