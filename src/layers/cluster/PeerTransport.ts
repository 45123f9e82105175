import * as NodeSocket from "@effect/platform-node/NodeSocket"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { ClusterError, type EntityAddress, Runners, ShardId, Sharding, ShardingConfig } from "effect/cluster"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { Socket, SocketServer } from "effect/socket"
import { hkdfSync } from "node:crypto"
import { isIP } from "node:net"
import type { ConnectionOptions } from "node:tls"
import { AuthSecret } from "../auth/AuthSecret.ts"
import { MessageArrivals } from "./MessageArrivals.ts"

/**
 * Refuses messages whose shard is not their entity's: they would run a second actor in a process that does not own it.
 */
export const ownShardsOnly: Layer.Layer<Sharding.Sharding, never, Sharding.Sharding | MessageArrivals> = Layer.effect(
  Sharding.Sharding,
  Effect.map(Effect.all([Sharding.Sharding, MessageArrivals]), ([sharding, arrivals]) => {
    const belongs = ({ entityId, shardId }: EntityAddress.EntityAddress) =>
      ShardId.toString(sharding.getShardId(entityId, shardId.group)) === ShardId.toString(shardId)
    const refused = (address: EntityAddress.EntityAddress) =>
      Effect.andThen(
        Effect.logWarning("Refused a message whose shard is not its actor's.", { entityType: address.entityType }),
        Effect.fail(new ClusterError.EntityNotAssignedToRunner({ address }))
      )
    return Sharding.Sharding.of({
      ...sharding,
      send: (message) => belongs(message.envelope.address) ? sharding.send(message) : refused(message.envelope.address),
      notify: (message, options) => {
        arrivals.note()
        return belongs(message.envelope.address)
          ? sharding.notify(message, options)
          : refused(message.envelope.address)
      }
    })
  })
)

interface PeerKey {
  readonly identity: string
  readonly psk: Uint8Array
}

const derived = (secret: string, purpose: string, bytes: number) =>
  Buffer.from(hkdfSync("sha256", secret, "", `stoa peers: ${purpose}`, bytes))

export const peerKeyOf = (secret: string): PeerKey => ({
  identity: derived(secret, "identity", 16).toString("hex"),
  psk: derived(secret, "key", 32)
})

const peerKey = Effect.map(AuthSecret, (secret) => peerKeyOf(Redacted.value(secret)))

/**
 * Both ends prove the key first; each connection has a separate key. No certificates: nothing else vouches for a peer.
 */
export const onlyPeers = {
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305"
} as const satisfies ConnectionOptions

const handshakeTimeoutMs = 5_000

const oncePerHalfMinute = Effect.gen(function*() {
  const clock = yield* Clock.Clock
  let next = 0
  return (line: string) =>
    Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      if (now < next) return Effect.void
      next = now + 30_000
      return Effect.logWarning(line)
    })
})

const sameSecret = "Every process of a deployment needs the same STOA_AUTH_SECRET."

export const peerServer: Layer.Layer<
  SocketServer.SocketServer,
  SocketServer.SocketServerError,
  ShardingConfig.ShardingConfig | AuthSecret
> = Layer.unwrap(Effect.gen(function*() {
  const { runnerListenAddress } = yield* ShardingConfig.ShardingConfig
  const { identity, psk } = yield* peerKey
  const warn = yield* oncePerHalfMinute
  const run = Effect.runForkWith(yield* Effect.context<never>())
  if (Option.isNone(runnerListenAddress)) return yield* Effect.die(new Error("A runner needs an address to listen on."))
  const { host, port } = runnerListenAddress.value
  let closed = false
  const listening = NodeSocketServer.makeTls({
    ...onlyPeers,
    host,
    port,
    handshakeTimeout: handshakeTimeoutMs,
    pskCallback: (socket, offered) => {
      // A connection accepted before the server closed, and proved afterwards, has no reader: its peer would wait ten
      // seconds, and this process for it.
      socket.once("secure", () => {
        if (closed) socket.destroy()
      })
      if (offered === identity) return psk
      run(warn(`Refused a process at ${socket.remoteAddress} that has another secret. ${sameSecret}`))
      return null
    }
  })
  const close = Effect.sync(() => {
    closed = true
  })
  return Layer.effect(SocketServer.SocketServer, Effect.tap(listening, Effect.addFinalizer(() => close)))
}))

const isRefusal = ({ reason }: Socket.SocketError): boolean =>
  reason._tag === "SocketOpenError" && reason.cause instanceof Error && "code" in reason.cause &&
  reason.cause.code === "ERR_SSL_TLSV1_ALERT_UNKNOWN_PSK_IDENTITY"

export const peerClient: Layer.Layer<
  Runners.RpcClientProtocol,
  never,
  RpcSerialization.RpcSerialization | AuthSecret
> = Layer.effect(
  Runners.RpcClientProtocol,
  Effect.gen(function*() {
    const serialization = yield* RpcSerialization.RpcSerialization
    const key = yield* peerKey
    const warn = yield* oncePerHalfMinute
    const connect = Effect.fnUntraced(function*(host: string, port: number) {
      const { reader, writer } = yield* NodeSocket.makeTls({
        ...onlyPeers,
        host,
        port,
        openTimeout: "2 seconds",
        ...isIP(host) === 0 ? { servername: host } : {},
        pskCallback: () => key,
        checkServerIdentity: () => undefined
      })
      const refused = warn(`The process at ${host}:${port} refused this one: it has another secret. ${sameSecret}`)
      return Socket.make({
        reader: Effect.tapError(reader, (error) => isRefusal(error) ? refused : Effect.void),
        writer
      })
    })
    return {
      codecFor: serialization.codecFor,
      make: ({ host, port }) =>
        Effect.flatMap(connect(host, port), (socket) =>
          RpcClient.makeProtocolSocket().pipe(
            Effect.provideService(Socket.Socket, socket),
            Effect.provideService(RpcSerialization.RpcSerialization, serialization)
          ))
    }
  })
)

/**
 * Effect's JSON lines, but a connection ends at the first unreadable bytes. Effect's continues, and ends a connection
 * for one error only, which stands for all. The binary default loses answers of actors in other processes (Effect
 * 4.1.0).
 */
export const strictLines: Layer.Layer<RpcSerialization.RpcSerialization> = Layer.succeed(
  RpcSerialization.RpcSerialization,
  {
    ...RpcSerialization.ndjson,
    makeUnsafe: () => {
      const lines = RpcSerialization.ndjson.makeUnsafe()
      return {
        encode: lines.encode,
        decode: (data) => {
          try {
            return lines.decode(data)
          } catch {
            throw new RpcSerialization.MaxBufferSizeExceeded({ maxBufferSize: 0 })
          }
        }
      }
    }
  }
)
