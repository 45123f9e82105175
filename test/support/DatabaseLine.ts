import { Effect, type Scope } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { forward } from "./Forwarding.ts"
import { listening } from "./Listening.ts"

/** The way to a database, which a test can cut and mend. The database itself stays as it is. */
export interface DatabaseLine {
  /** What a client has to be given to come this way. */
  readonly url: string
  /** Ends all connections at once and refuses new ones. */
  readonly cut: Effect.Effect<void>
  readonly mend: Effect.Effect<void>
  /** How many connections were refused. */
  readonly refused: () => number
}

/** Opens one; it is closed with the scope. */
export const lineTo = (databaseUrl: string): Effect.Effect<DatabaseLine, never, Scope.Scope> =>
  Effect.gen(function*() {
    const url = new URL(databaseUrl)
    const target = { host: url.hostname, port: Number(url.port) }
    const open = new Set<Socket>()
    let [whole, refused] = [true, 0]
    const server = createServer((client) => {
      if (!whole) {
        refused++
        client.destroy()
        return
      }
      const database = connect(target)
      forward(client, database, open)
    })
    const cutAll = () => {
      whole = false
      for (const socket of open) socket.destroy()
    }
    url.host = `127.0.0.1:${yield* listening(server)}`
    return {
      url: url.href,
      cut: Effect.sync(cutAll),
      mend: Effect.sync(() => {
        whole = true
      }),
      refused: () => refused
    }
  })
