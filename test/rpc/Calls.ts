import { Context, Effect, Layer } from "effect"
import { Headers } from "effect/http"
import { RpcClient, RpcMiddleware, RpcSerialization } from "effect/rpc"
import { Socket } from "effect/socket"
import { StoaRpc } from "../../src/client/rpc/StoaRpc.ts"
import type { Actor } from "../../src/domain/platform/access/Actor.ts"
import { RpcAccess, StoaRpcs } from "../../src/http/rpc/StoaRpcs.ts"
import { api, TestApp } from "../support/TestApp.ts"

/** Address of the sockets of the running service. */
export const socketUrl = Effect.map(TestApp, ({ url }) => `${url.replace(/^http/, "ws")}/rpc`)

/** A client with these headers on every call, over a new socket that lasts as long as the scope. */
export const clientWith = (headers: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const protocol = RpcClient.layerProtocolSocket({ retryTransientErrors: true }).pipe(
      Layer.provide(Socket.layerWebSocket(yield* socketUrl)),
      Layer.provide([Socket.layerWebSocketConstructorGlobal, RpcSerialization.layerNdjson])
    )
    const credentials = RpcMiddleware.layerClient(RpcAccess, ({ next, request }) =>
      next({ ...request, headers: Headers.setAll(request.headers, headers) }))
    const built = yield* Layer.build(Layer.fresh(Layer.merge(protocol, credentials)))
    return yield* Effect.provideContext(RpcClient.make(StoaRpcs), built)
  })

/** A client that acts as this actor. */
export const clientAs = (actor: Partial<Actor>) => clientWith({ "x-test-actor": JSON.stringify(actor) })

/** The client as a service imports it, with an API key. */
export const clientOf = (apiKey: string) =>
  Effect.gen(function*() {
    const { url } = yield* TestApp
    return Context.get(yield* Layer.build(Layer.fresh(StoaRpc.layerSocket({ url, apiKey }))), StoaRpc)
  })

/** The metrics of the service. */
export const callMetrics = Effect.map(
  api("GET", "/api/metrics", { headers: { "x-api-key": "a-key-for-metrics-alone" } }),
  ({ body }) => String(body)
)
