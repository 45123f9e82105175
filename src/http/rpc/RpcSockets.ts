import { Context, Deferred, Effect, Layer, Schedule, type Scope } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { NetAddress } from "effect/net"
import type { Socket, SocketServer } from "effect/socket"
import { envelope } from "../server/Failure.ts"
import { addressSubject } from "../server/RateLimiting.ts"
import { dismissOverdue, type Open, opening, type SocketLimits, usualLimits } from "./OpenSocket.ts"
import { RpcConnection } from "./RpcConnection.ts"
import { countConnections } from "./RpcMetrics.ts"

type Handler = (socket: Socket.Socket) => Effect.Effect<unknown>

/**
 * The WebSockets at `/rpc`: how many there may be, how long a silent or unknown one stays, and that all of them end when
 * the process does. Calls on them are the RPC server's, which is given each socket through `server`.
 */
export class RpcSockets extends Context.Service<RpcSockets, {
  /** Where the RPC server takes its sockets from. */
  readonly server: SocketServer.SocketServer["Service"]
  /** Answers the request that wants to become a socket, and lasts as long as that does. */
  readonly serve: (
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>
  /** Admits no more, gives what is under way a moment, and closes all: for the end of the process. */
  readonly end: Effect.Effect<void>
}>()("stoa/http/rpc/RpcSockets") {
  static readonly layerOf = (limits: Partial<SocketLimits> = {}) =>
    Layer.effect(RpcSockets, make({ ...usualLimits, ...limits }))
}

/** Waits until it is so, or for so many milliseconds. */
const within = (ms: number, isSo: () => boolean) =>
  Effect.suspend(() => isSo() ? Effect.void : Effect.sleep("10 millis")).pipe(
    Effect.repeat({ until: isSo }),
    Effect.timeoutOption(ms)
  )

const make = Effect.fnUntraced(function*(limits: SocketLimits) {
  const handler = yield* Deferred.make<Handler>()
  const sockets = new Set<Open>()
  /** Served to their end, with a connection below that may still be there, and since when. */
  const left = new Map<Open, number>()
  let ended = false

  const unknownOf = (subject: string): number =>
    [...sockets].filter((one) => !one.connection.known && one.subject === subject).length

  const refused = (request: HttpServerRequest.HttpServerRequest, subject: string) => {
    if (request.headers["upgrade"]?.toLowerCase() !== "websocket") return envelope(426, { upgrade: "websocket" })
    if (unknownOf(subject) >= limits.unknownPerAddress) return envelope(429, { "retry-after": "10" })
    return ended || sockets.size >= limits.connections ? envelope(503, { "retry-after": "1" }) : undefined
  }

  yield* Effect.forkScoped(Effect.repeat(dismissOverdue(sockets, left, limits), Schedule.spaced("1 second")))

  yield* countConnections(0)

  const opened = Effect.fnUntraced(function*(
    request: HttpServerRequest.HttpServerRequest,
    subject: string,
    socket: Socket.Socket
  ) {
    const { open, own } = yield* opening(request, subject, socket, limits)
    yield* Effect.acquireRelease(
      Effect.sync(() => sockets.add(open)),
      () =>
        Effect.suspend(() => {
          sockets.delete(open)
          left.set(open, performance.now())
          return countConnections(sockets.size)
        })
    )
    yield* countConnections(sockets.size)
    yield* Effect.provideService((yield* Deferred.await(handler))(own), RpcConnection, open.connection)
    return HttpServerResponse.empty()
  })

  const serve = (request: HttpServerRequest.HttpServerRequest) =>
    Effect.suspend(() => {
      const subject = addressSubject(request)
      const refusal = refused(request, subject)
      if (refusal !== undefined) return Effect.succeed(refusal)
      return Effect.matchEffect(request.upgrade, {
        onFailure: () => Effect.succeed(envelope(400)),
        onSuccess: (socket) => opened(request, subject, socket)
      })
    })

  const end = Effect.gen(function*() {
    ended = true
    for (const { connection } of sockets) connection.draining = true
    yield* within(limits.drainMs, () => [...sockets].every(({ connection }) => connection.calls === 0))
    yield* Effect.forEach([...sockets], ({ close }) => close(1001, "the process ends"), { discard: true })
    yield* within(limits.farewellMs, () => sockets.size === 0 && [...left.keys()].every(({ isGone }) => isGone()))
    for (const { destroy } of [...sockets, ...left.keys()]) destroy()
  })

  const server: SocketServer.SocketServer["Service"] = {
    address: NetAddress.unixPathAddress("/rpc"),
    run: <R, E, _>(serveSocket: (socket: Socket.Socket) => Effect.Effect<_, E, R>) =>
      Effect.flatMap(
        Effect.context<R>(),
        (context) =>
          Effect.andThen(
            Deferred.succeed(handler, (socket) =>
              Effect.ignoreCause(Effect.provideContext(serveSocket(socket), context))),
            Effect.never
          )
      )
  }

  return RpcSockets.of({ server, serve, end })
})
