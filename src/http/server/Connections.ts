import { Effect } from "effect"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Farewell } from "./RequestId.ts"

/** Requests that a connection may have unanswered. Browsers and proxies have one; clients that send on have a few. */
const maxWaiting = 32

/** How long a connection of a stopping process has to be idle before it is closed: a request may be on its way. */
const idleMs = 500

const longestBacklogMs = 1_000

const longestEndMs = 6_000

/** Requests of proxies and collectors, which a process gets until it ends. */
const probes = /^\/(api\/)?(health(\/\w+)?|ready|metrics)(\?|$)/

/** Those whose answer tells a proxy that the process stops. */
const telling = /^\/(api\/)?(health(\/ready)?|ready)(\?|$)/

/** A connection: its requests without an answer, and since when and since which byte it has none. */
interface Open {
  waiting: number
  idleSince: number
  read: number
}

const isIdle = (socket: Socket, { read, waiting }: Open): boolean => waiting === 0 && socket.bytesRead === read

/** Waits for a turn of the loop, which accepts one connection and reads what has arrived on the others. */
const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

/** Closes connections that are idle for `timeoutMs`, and all of them after `longestEndMs`. */
const endConnections = Effect.fnUntraced(function*(open: ReadonlyMap<Socket, Open>, timeoutMs: number) {
  const until = performance.now() + longestEndMs
  for (;;) {
    // What has arrived is read first: a connection with a request is not idle.
    yield* turn
    const now = performance.now()
    for (const [socket, one] of open) {
      if (now > until || (isIdle(socket, one) && now - one.idleSince >= timeoutMs)) socket.destroy()
    }
    if (open.size === 0) return
    yield* Effect.sleep("20 millis")
  }
})

/**
 * Follows the connections of a server, and closes it without resetting any. Node.js closes the listener with the
 * connections that wait to be accepted, of which it accepts one in each turn of its loop, and idle connections with what
 * has just arrived on them. This server accepts and reads first.
 *
 * It also ends a connection with more than `maxWaiting` unanswered requests: their answers would be made all at once,
 * however large, and all other clients would wait.
 */
export const followConnections = (server: Server, farewell: Farewell): Server => {
  const open = new Map<Socket, Open>()
  let accepted = 0

  const note = (url: string): void => {
    const tells = farewell.looksReady === farewell.begun && telling.test(url)
    if (farewell.begun && (tells || !probes.test(url))) farewell.heardAt = performance.now()
    if (tells) farewell.looksReady = !farewell.begun
  }

  const count = ({ socket, url = "" }: IncomingMessage, response: ServerResponse): void => {
    note(url)
    const one = open.get(socket)
    if (one === undefined) return
    one.waiting++
    response.once("close", () => {
      one.waiting--
      one.read = socket.bytesRead
      one.idleSince = performance.now()
    })
    if (one.waiting > maxWaiting) socket.destroy()
  }

  const close = server.close.bind(server)
  const end = Effect.fnUntraced(function*(callback?: (error?: Error) => void) {
    const until = performance.now() + longestBacklogMs
    for (let [before, quiet] = [accepted, 0]; quiet < 2 && performance.now() < until; before = accepted) {
      yield* turn
      quiet = accepted === before ? quiet + 1 : 0
    }
    close(callback)
    yield* endConnections(open, farewell.begun ? idleMs : 0)
  })

  server.closeIdleConnections = () => {}
  server.close = (callback) => {
    Effect.runFork(end(callback))
    return server
  }
  return server
    .on("connection", (socket) => {
      accepted++
      open.set(socket, { waiting: 0, idleSince: performance.now(), read: 0 })
      socket.once("close", () => open.delete(socket))
    })
    .on("request", count)
    .on("checkContinue", count)
    // From here on it belongs to its WebSocket.
    .on("upgrade", ({ socket }) => open.delete(socket))
}
