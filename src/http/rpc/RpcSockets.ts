import { Context, Effect, Layer, Metric, Option, Schedule, type Scope, type Types } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { Socket } from "effect/socket"
import { IncomingMessage } from "node:http"
import type { Socket as NodeSocket } from "node:net"
import { envelope } from "../server/Failure.ts"
import { addressSubject } from "../server/RateLimiting.ts"
import { CurrentRequest, type RequestFacts } from "../server/RequestId.ts"

export const defaultSocketLimits = {
  /** More get a 503. */
  connections: 1_000,
  /** Sockets of one address without a key yet. */
  unknownPerAddress: 16,
  /** Concurrent calls of one socket, without streams. */
  callsPerConnection: 256,
  /** Bytes unsent to a slow reader; above it the client is not read. */
  unsentBytes: 1_048_576,
  /** Milliseconds until a socket without a key is closed. */
  unknownMs: 10_000,
  /** Milliseconds until a silent socket is closed. Clients ping every five seconds. */
  idleMs: 60_000,
  /** Milliseconds for the other side to agree to the end. */
  farewellMs: 1_000,
  /** Milliseconds for calls in progress at shutdown. */
  drainMs: 3_000
}

export type SocketLimits = Readonly<typeof defaultSocketLimits>

export interface Connection {
  readonly kind: "socket" | "http"
  readonly remoteAddress: HttpServerRequest.HttpServerRequest["remoteAddress"]
  readonly facts: RequestFacts
  calls: number
  streams: number
  authenticated: boolean
  draining: boolean
}

export const newConnection = (
  of: Pick<Connection, "kind" | "remoteAddress" | "facts">
): Connection => ({ ...of, calls: 0, streams: 0, authenticated: false, draining: false })

export const RpcConnection = Context.Reference<Connection>("stoa/http/rpc/RpcConnection", {
  defaultValue: () => newConnection({ kind: "http", remoteAddress: Option.none(), facts: {} })
})

/** Runs before each page of a stream: pages count as requests. */
export const PagePace = Context.Reference<Effect.Effect<void>>("stoa/http/rpc/PagePace", {
  defaultValue: () => Effect.void
})

const openSockets = Metric.gauge("stoa_rpc_connections", { description: "Open WebSockets at /rpc" })

interface OpenSocket {
  readonly connection: Connection
  readonly subject: string
  readonly writer: Socket.Writer
  readonly wire: NodeSocket
  readonly since: number
  heardAt: number
  closedAt: number | undefined
}

export type HttpEffect<R = never> = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, R>

/** Admits WebSockets at `/rpc` within limits, and ends them with the process. */
export class RpcSockets extends Context.Service<RpcSockets, {
  readonly serve: (rpc: HttpEffect) => HttpEffect<HttpServerRequest.HttpServerRequest | Scope.Scope>
  readonly end: Effect.Effect<void>
}>()("stoa/http/rpc/RpcSockets") {
  static readonly layerOf = (limits: Partial<SocketLimits> = {}) =>
    Layer.effect(RpcSockets, make({ ...defaultSocketLimits, ...limits }))
}

const close = (open: OpenSocket, code: number, reason: string) => {
  open.closedAt ??= performance.now()
  return Effect.ignore(Effect.timeout(open.writer.write(new Socket.CloseEvent(code, reason)), 500))
}

const restrained = (
  request: HttpServerRequest.HttpServerRequest,
  socket: Socket.Socket,
  open: OpenSocket,
  { callsPerConnection, unsentBytes }: SocketLimits
) => {
  const ready: Effect.Effect<void> = Effect.suspend(() =>
    open.connection.calls < callsPerConnection && open.wire.writableLength <= unsentBytes
      ? Effect.void
      : Effect.andThen(Effect.sleep("5 millis"), ready)
  )
  const reader = Effect.map(socket.reader, ({ pull, upgrade }) => ({
    upgrade,
    pull: Effect.map(Effect.andThen(ready, pull), (frames) => {
      open.heardAt = performance.now()
      return frames
    })
  }))
  const upgrade = Effect.succeed(Socket.make({ writer: socket.writer, reader }))
  return new Proxy(request, { get: (target, key) => key === "upgrade" ? upgrade : Reflect.get(target, key) })
}

const within = (ms: number, isSo: () => boolean) =>
  Effect.timeoutOption(Effect.repeat(Effect.sync(isSo), { until: Boolean, schedule: Schedule.spaced("10 millis") }), ms)

const make = Effect.fnUntraced(function*(limits: SocketLimits) {
  const sockets = new Set<OpenSocket>()
  let ended = false

  const refusal = ({ headers }: HttpServerRequest.HttpServerRequest, subject: string) => {
    if (headers["upgrade"]?.toLowerCase() !== "websocket") return envelope(426, { upgrade: "websocket" })
    const unknown = [...sockets].filter((one) => !one.connection.authenticated && one.subject === subject)
    if (unknown.length >= limits.unknownPerAddress) return envelope(429, { "retry-after": "10" })
    return ended || sockets.size >= limits.connections ? envelope(503, { "retry-after": "1" }) : undefined
  }

  /** Closes silent sockets and those without a key; destroys them if the other side does not agree. */
  const expire = (open: OpenSocket) =>
    Effect.suspend(() => {
      const now = performance.now()
      if (open.closedAt !== undefined) {
        if (now - open.closedAt < limits.farewellMs) return Effect.void
        // A connection lost during its upgrade has no `close` event.
        return Effect.sync(() => sockets.delete(open) && open.wire.destroy())
      }
      if (!open.connection.authenticated && now - open.since > limits.unknownMs) {
        return close(open, 1008, "no key was shown")
      }
      return now - open.heardAt > limits.idleMs ? close(open, 1008, "nothing was sent") : Effect.void
    })
  const expireAll = Effect.suspend(() => Effect.forEach([...sockets], expire, { concurrency: "unbounded" }))
  yield* Effect.forkScoped(Effect.repeat(expireAll, Schedule.spaced("1 second")))
  yield* Metric.update(openSockets, 0)

  const serve = (rpc: HttpEffect) =>
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const subject = addressSubject(request)
      const refused = refusal(request, subject)
      if (refused !== undefined || !(request.source instanceof IncomingMessage)) return refused ?? envelope(400)
      const wire = request.source.socket
      const socket = yield* Effect.option(request.upgrade)
      if (Option.isNone(socket)) return envelope(400)
      const facts = (yield* CurrentRequest) ?? {}
      const connection = newConnection({ kind: "socket", remoteAddress: request.remoteAddress, facts })
      const since = performance.now()
      const writer = yield* socket.value.writer
      const open: OpenSocket = { connection, subject, writer, wire, since, heardAt: since, closedAt: undefined }
      sockets.add(open)
      wire.once("close", () => sockets.delete(open))
      yield* Metric.modify(openSockets, 1)
      const release = Effect.suspend(() => {
        open.closedAt ??= performance.now()
        return Metric.modify(openSockets, -1)
      })
      yield* Effect.ignoreCause(rpc).pipe(
        Effect.provideService(RpcConnection, connection),
        Effect.provideService(HttpServerRequest.HttpServerRequest, restrained(request, socket.value, open, limits)),
        Effect.ensuring(release)
      )
      return HttpServerResponse.empty()
    })

  const end = Effect.gen(function*() {
    ended = true
    for (const { connection } of sockets) connection.draining = true
    yield* within(limits.drainMs, () => [...sockets].every(({ connection }) => connection.calls === 0))
    yield* Effect.forEach([...sockets], (open) => close(open, 1001, "the process ends"), { concurrency: "unbounded" })
    yield* within(limits.farewellMs, () => sockets.size === 0)
    for (const { wire } of sockets) wire.destroy()
  })

  return RpcSockets.of({ serve, end })
})
