import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { RpcSerialization, RpcServer } from "effect/rpc"
import { SocketServer } from "effect/socket"
import { envelope } from "../server/Failure.ts"
import { CurrentRequest } from "../server/RequestId.ts"
import { Connection, RpcConnection } from "./RpcConnection.ts"
import { isBatch, lines, whole } from "./RpcFrames.ts"
import { RpcSockets } from "./RpcSockets.ts"
import { StoaRpcs } from "./StoaRpcs.ts"

/** What the routes of `/rpc` know of the deployment. */
export interface RpcOptions {
  /** Nobody receives traces: none are made. */
  readonly untraced: boolean
}

/** Methods of `/rpc`, for the edge's 405. */
export const rpcEndpoints = [{ method: "GET", path: "/rpc" }, { method: "POST", path: "/rpc" }]

const readBody = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const serverOptions = ({ untraced }: RpcOptions) => ({
  disableTracing: untraced,
  // A call that breaks is answered as broken; the others on its connection go on.
  disableFatalDefects: true,
  spanPrefix: "rpc"
})

/** One message or up to 100 of them as JSON; the answers come together when all calls have ended. */
const overHttp = (options: RpcOptions) =>
  HttpRouter.use(Effect.fnUntraced(function*(router) {
    const answer = yield* Effect.provideService(
      RpcServer.toHttpEffect(StoaRpcs, serverOptions(options)),
      RpcSerialization.RpcSerialization,
      whole
    )
    yield* router.add(
      "POST",
      "/rpc",
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const body = yield* Effect.catch(request.text, Effect.die)
        const read = readBody(body)
        if (read._tag === "None" || !isBatch(read.value)) return envelope(400)
        const facts = (yield* CurrentRequest) ?? {}
        const { headers, remoteAddress } = request
        return yield* Effect.provideService(
          answer,
          RpcConnection,
          new Connection("http", { headers, remoteAddress, facts })
        )
      })
    )
  }))

/** A WebSocket with one message a line. */
const overSockets = (options: RpcOptions) =>
  HttpRouter.use(Effect.fnUntraced(function*(router) {
    const { serve, server } = yield* RpcSockets
    const protocol = yield* RpcServer.makeProtocolSocketServer.pipe(
      Effect.provideService(SocketServer.SocketServer, server),
      Effect.provideService(RpcSerialization.RpcSerialization, lines)
    )
    yield* Effect.forkScoped(
      Effect.provideService(RpcServer.make(StoaRpcs, serverOptions(options)), RpcServer.Protocol, protocol)
    )
    yield* router.add("GET", "/rpc", Effect.flatMap(HttpServerRequest.HttpServerRequest, serve))
  }))

/** `/rpc` on the port of the API (docs/rpc.md). */
export const rpcRoutes = (options: RpcOptions) => Layer.merge(overSockets(options), overHttp(options))
