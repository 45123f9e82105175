import { Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { RpcSerialization, RpcServer } from "effect/rpc"
import { envelope } from "../server/Failure.ts"
import { CurrentRequest } from "../server/RequestId.ts"
import { newConnection, RpcConnection } from "./RpcConnection.ts"
import { holdsMessages, lines, whole } from "./RpcMessages.ts"
import { RpcSockets } from "./RpcSockets.ts"
import { StoaRpcs } from "./StoaRpcs.ts"

/** Methods of `/rpc`, for the edge's 405. */
export const rpcEndpoints = [{ method: "GET", path: "/rpc" }, { method: "POST", path: "/rpc" }]

/** `/rpc` on the port of the API (docs/clients.md): a WebSocket with one message a line, and JSON over HTTP. */
export const rpcRoutes = (options: {
  /** No traces are exported, so none are made. */
  readonly untraced: boolean
}) =>
  HttpRouter.use(Effect.fnUntraced(function*(router) {
    // With fatal defects a call that breaks would end the others on its connection.
    const server = { disableTracing: options.untraced, disableFatalDefects: true, spanPrefix: "rpc" }
    const sockets = yield* RpcSockets

    const { httpEffect: overSocket, protocol } = yield* Effect.provideService(
      RpcServer.makeProtocolWithHttpEffectWebsocket,
      RpcSerialization.RpcSerialization,
      lines
    )
    yield* Effect.forkScoped(
      Effect.provideService(RpcServer.make(StoaRpcs, server), RpcServer.Protocol, protocol)
    )
    yield* router.add("GET", "/rpc", sockets.serve(overSocket))

    const overHttp = yield* Effect.provideService(
      RpcServer.toHttpEffect(StoaRpcs, server),
      RpcSerialization.RpcSerialization,
      whole
    )
    const post = Effect.gen(function*() {
      const { remoteAddress, text } = yield* HttpServerRequest.HttpServerRequest
      // A body that cannot be read is a defect here as on every route; the edge answers it.
      if (!holdsMessages(yield* Effect.catch(text, Effect.die))) return envelope(400)
      const facts = (yield* CurrentRequest) ?? {}
      return yield* Effect.provideService(
        overHttp,
        RpcConnection,
        newConnection({ kind: "http", remoteAddress, facts })
      )
    })
    yield* router.add("POST", "/rpc", post)
  }))
