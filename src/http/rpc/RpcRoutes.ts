import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { RpcSerialization, RpcServer } from "effect/rpc"
import { envelope } from "../server/Failure.ts"
import { CurrentRequest } from "../server/RequestId.ts"
import { holdsMessages, lines, whole } from "./RpcMessages.ts"
import { type HttpEffect, newConnection, RpcConnection, RpcSockets } from "./RpcSockets.ts"
import { StoaRpcs } from "./StoaRpcs.ts"

/** Methods of `/rpc`, for the edge's 405. */
export const rpcEndpoints = [{ method: "GET", path: "/rpc" }, { method: "POST", path: "/rpc" }]

const sockets = HttpRouter.middleware(Effect.map(RpcSockets, ({ serve }) => serve)).layer

const requests = HttpRouter.middleware((rpc: HttpEffect) =>
  Effect.gen(function*() {
    const { remoteAddress, text } = yield* HttpServerRequest.HttpServerRequest
    // A body that cannot be read is a defect here as on every route; the edge answers it.
    if (!holdsMessages(yield* Effect.catch(text, Effect.die))) return envelope(400)
    const facts = (yield* CurrentRequest) ?? {}
    return yield* Effect.provideService(rpc, RpcConnection, newConnection({ kind: "http", remoteAddress, facts }))
  })
).layer

/** `/rpc` on the port of the API (docs/clients.md): a WebSocket with one message a line, and JSON over HTTP. */
export const rpcRoutes = (options: {
  /** No traces are exported, so none are made. */
  readonly untraced: boolean
}) => {
  // With fatal defects a call that breaks would end the others on its connection.
  const server = { disableTracing: options.untraced, disableFatalDefects: true, spanPrefix: "rpc" }
  const serve = (protocol: "http" | "websocket") =>
    RpcServer.layerHttp({ ...server, group: StoaRpcs, path: "/rpc", protocol })
  return Layer.merge(
    Layer.provide(serve("websocket"), [sockets, Layer.succeed(RpcSerialization.RpcSerialization, lines)]),
    Layer.provide(serve("http"), [requests, Layer.succeed(RpcSerialization.RpcSerialization, whole)])
  )
}
