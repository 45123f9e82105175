import { Effect, type Scope } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { forward } from "./Forwarding.ts"
import { listening } from "./Listening.ts"

/** The way to a database on which nothing gets through for a while: what is under way waits, and arrives later. */
export interface StallingWay {
  /** What the service has to be given to come this way. */
  readonly url: string
  /** Lets nothing through for so long. */
  readonly stall: (milliseconds: number) => Effect.Effect<void>
}

/** Opens one; it is closed with the scope. */
export const stallingWay = (databaseUrl: string): Effect.Effect<StallingWay, never, Scope.Scope> =>
  Effect.gen(function*() {
    const url = new URL(databaseUrl)
    const target = { host: url.hostname, port: Number(url.port) }
    const open = new Set<Socket>()
    let stalled = false
    const server = createServer((client) => {
      const database = connect(target)
      forward(client, database, open)
      if (stalled) { for (const socket of [client, database]) socket.pause() }
    })
    url.host = `127.0.0.1:${yield* listening(server)}`
    return {
      url: url.href,
      stall: (milliseconds) =>
        Effect.promise(async () => {
          stalled = true
          for (const socket of open) socket.pause()
          await pause(milliseconds)
          stalled = false
          for (const socket of open) socket.resume()
        })
    }
  })
