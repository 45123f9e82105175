import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Redacted, Scope } from "effect"
import { RunnerAddress, ShardingConfig } from "effect/cluster"
import { connect as connectTls } from "node:tls"
import { AuthSecret } from "../../src/layers/auth/AuthSecret.ts"
import { onlyPeers, peerKeyOf, peerServer } from "../../src/layers/cluster/PeerTransport.ts"
import { freePort } from "../support/FreePort.ts"

const secret = "the secret that processes of one deployment share"

it.live("the port for other processes ends a connection that proves its key after the port was closed", () =>
  Effect.gen(function*() {
    const port = yield* Effect.promise(freePort)
    const server = yield* Scope.make()
    yield* peerServer.pipe(
      Layer.provide(Layer.succeed(AuthSecret, Redacted.make(secret))),
      Layer.provide(ShardingConfig.layer({ runnerListenAddress: Option.some(RunnerAddress.make("127.0.0.1", port)) })),
      Layer.buildWithScope(server)
    )
    let closing: Promise<void> | undefined
    const peer = yield* Effect.acquireRelease(
      Effect.sync(() =>
        connectTls({
          ...onlyPeers,
          host: "127.0.0.1",
          port,
          // The server has accepted the connection and waits for the proof.
          pskCallback: () => {
            closing = Effect.runPromise(Scope.close(server, Exit.void))
            return peerKeyOf(secret)
          },
          checkServerIdentity: () => undefined
        })
      ),
      (socket) => Effect.sync(() => socket.destroy())
    )
    peer.on("error", () => undefined).resume()
    yield* Effect.promise(() => new Promise((resolve) => peer.once("close", resolve)))
    assert.isDefined(closing)
    yield* Effect.promise(async () => closing)
  }))
