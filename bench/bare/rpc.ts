import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Rpc, RpcGroup, RpcSerialization, RpcServer } from "effect/rpc"
import { createServer } from "node:http"
import { Uuid } from "../../src/domain/platform/ids/Id.ts"

/*
 * The limit of calls: Effect's RPC server over a WebSocket with one call that does nothing. No key, no permission, no limit
 * of requests, no metrics, no spans.
 */
const calls = RpcGroup.make(
  Rpc.make("inventory.check", {
    payload: { entityIds: Schema.Array(Uuid).check(Schema.isMaxLength(100)) },
    success: Schema.Record(Schema.String, Schema.Int)
  })
)

const server = RpcServer.layerHttp({ group: calls, path: "/rpc", disableTracing: true }).pipe(
  Layer.provide(calls.toLayer({ "inventory.check": () => Effect.succeed({}) })),
  Layer.provide(RpcSerialization.layerNdjson),
  Layer.merge(HttpRouter.add("GET", "/", HttpServerResponse.text("here")))
)

NodeRuntime.runMain(
  Layer.launch(
    HttpRouter.serve(server, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(
        NodeHttpServer.layer(() => createServer(), { port: Number(process.env["PORT"]), host: "127.0.0.1" })
      )
    )
  )
)
