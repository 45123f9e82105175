import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Socket } from "effect/socket"
import { IncomingMessage } from "node:http"
import { CurrentRequest } from "../server/RequestId.ts"
import { joiningFrames } from "./JoinedFrames.ts"
import { Connection } from "./RpcConnection.ts"

/** What a process grants to sockets. */
export interface SocketLimits {
  /** Sockets in all; the next one is asked to come again. */
  readonly connections: number
  /** Sockets of one address that have not shown a key yet. */
  readonly unknownPerAddress: number
  /** Calls of one socket that are answered at once, streams apart; more are read when these have ended. */
  readonly callsPerConnection: number
  /** Bytes that wait for a reader who is slow; while it is more, nothing is read of what he sends. */
  readonly unsentBytes: number
  /** Milliseconds until a socket is closed that has not shown a key, that sends nothing, or that reads nothing. */
  readonly unknownMs: number
  readonly idleMs: number
  /** Milliseconds that the other side of a closed socket has to agree. */
  readonly farewellMs: number
  /** Milliseconds that calls have at the end of the process. */
  readonly drainMs: number
}

/** Clients send a ping every five seconds. */
export const usualLimits: SocketLimits = {
  connections: 1_000,
  unknownPerAddress: 16,
  callsPerConnection: 256,
  unsentBytes: 1_048_576,
  unknownMs: 10_000,
  idleMs: 60_000,
  farewellMs: 1_000,
  drainMs: 3_000
}

/** A socket that is open. */
export interface Open {
  readonly connection: Connection
  readonly subject: string
  readonly since: number
  heard: number
  closing: boolean
  readonly close: (code: number, reason: string) => Effect.Effect<void>
  /** Ends it without the other side's consent. */
  readonly destroy: () => void
  /** Whether the connection below it is gone. */
  readonly isGone: () => boolean
}

/** Node's own socket under the request, which knows what waits in it. */
const wireOf = ({ source }: HttpServerRequest.HttpServerRequest) =>
  source instanceof IncomingMessage ? source.socket : undefined

/** Reads on only while the client may have more calls, and reads what it is sent. */
const restrained = (
  socket: Socket.Socket,
  open: Open,
  limits: SocketLimits,
  unsent: () => number
): Socket.Socket => {
  const read: Effect.Effect<void> = Effect.suspend(() =>
    unsent() <= limits.unsentBytes ? Effect.void : Effect.andThen(Effect.sleep("20 millis"), read)
  )
  return Socket.make({
    writer: socket.writer,
    reader: Effect.map(socket.reader, ({ pull, upgrade }) => ({
      upgrade,
      pull: open.connection.fewerThan(limits.callsPerConnection).pipe(
        Effect.andThen(read),
        Effect.andThen(pull),
        Effect.map((frames) => {
          open.heard = performance.now()
          return frames
        })
      )
    }))
  })
}

/** What is known of a socket that opens, and the socket as the RPC server may use it. */
export const opening = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest,
  subject: string,
  socket: Socket.Socket,
  limits: SocketLimits
) {
  const joining = yield* joiningFrames(socket)
  const writer = yield* joining.writer
  const wire = wireOf(request)
  const now = performance.now()
  const { headers, remoteAddress } = request
  const open: Open = {
    connection: new Connection("socket", { headers, remoteAddress, facts: (yield* CurrentRequest) ?? {} }),
    subject,
    since: now,
    heard: now,
    closing: false,
    // One whose handshake has not ended would wait for it.
    close: (code, reason) => Effect.ignore(Effect.timeout(writer.write(new Socket.CloseEvent(code, reason)), 500)),
    destroy: () => void wire?.destroy(),
    isGone: () => wire?.destroyed !== false
  }
  return { open, own: restrained(joining, open, limits, () => wire?.writableLength ?? 0) }
})

/** Why a socket is to be closed; undefined for one that may stay. */
const overdue = ({ connection, heard, since }: Open, limits: SocketLimits, now: number): string | undefined => {
  if (!connection.known && now - since > limits.unknownMs) return "no key was shown"
  return now - heard > limits.idleMs ? "nothing was sent" : undefined
}

/** Whoever does not take part in the closing of his socket has it closed for him at the next look. */
const dismiss = (open: Open, reason: string) => {
  if (open.closing) return Effect.sync(open.destroy)
  open.closing = true
  return open.close(1008, reason)
}

/** Closes those that are silent or have not said who they are, and forgets those that are gone. */
export const dismissOverdue = (sockets: ReadonlySet<Open>, left: Map<Open, number>, limits: SocketLimits) =>
  Effect.suspend(() => {
    const now = performance.now()
    for (const [open, since] of left) {
      // A closed socket waits for the other side's consent, which whoever means no harm gives at once.
      if (now - since < limits.farewellMs) continue
      open.destroy()
      left.delete(open)
    }
    return Effect.forEach([...sockets], (open) => {
      const reason = overdue(open, limits, now)
      return reason === undefined ? Effect.void : dismiss(open, reason)
    }, { discard: true })
  })
