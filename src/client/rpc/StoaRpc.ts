import { Context, type Duration, Effect, Layer, Schedule, Stream } from "effect"
import { FetchHttpClient, Headers } from "effect/http"
import { RpcClient, type RpcClientError, RpcMiddleware, RpcSerialization } from "effect/rpc"
import { Socket } from "effect/socket"
import type { EmittedType, StoreEvent } from "../../domain/platform/events/Event.ts"
import { type Refusal, RpcAccess, StoaRpcs } from "../../http/rpc/StoaRpcs.ts"
import { type Connection, credentialHeaders } from "../Credentials.ts"

const whileAway = Schedule.min([Schedule.exponential("200 millis", 1.5), Schedule.spaced("5 seconds")])

const credentials = (connection: Connection) =>
  RpcMiddleware.layerClient(
    RpcAccess,
    ({ next, request }) => next({ ...request, headers: Headers.setAll(request.headers, credentialHeaders(connection)) })
  )

/**
 * The RPC calls of a Stoa (docs/clients.md): `rpc["catalog.read"]({ idOrSlug })`. A refusal is the call's typed error;
 * after an `RpcClientError` repeat a change with the same `idempotency-key`.
 */
export class StoaRpc
  extends Context.Service<StoaRpc, RpcClient.FromGroup<typeof StoaRpcs, RpcClientError.RpcClientError>>()(
    "stoa/client/rpc/StoaRpc"
  )
{
  /** One WebSocket, reopened when it breaks. A call fails with its socket; calls without a socket wait. */
  static readonly layerSocket = (connection: Connection): Layer.Layer<StoaRpc> =>
    Layer.effect(StoaRpc, RpcClient.make(StoaRpcs)).pipe(
      Layer.provide(RpcClient.layerProtocolSocket({ retryTransientErrors: true, retryPolicy: whileAway })),
      Layer.provide(Socket.layerWebSocket(`${connection.url.replace(/^http/, "ws")}/rpc`)),
      Layer.provide([Socket.layerWebSocketConstructorGlobal, RpcSerialization.layerNdjson, credentials(connection)])
    )

  /** HTTP, without streams. Calls within `batchWindow` share a request, at most 64. */
  static readonly layerHttp = (
    connection: Connection & { readonly batchWindow?: Duration.Input }
  ): Layer.Layer<StoaRpc> =>
    Layer.effect(StoaRpc, RpcClient.make(StoaRpcs)).pipe(
      Layer.provide(RpcClient.layerProtocolHttp({
        url: `${connection.url}/rpc`,
        ...(connection.batchWindow === undefined ? {} : { batch: { window: connection.batchWindow, maxSize: 64 } })
      })),
      Layer.provide([FetchHttpClient.layer, RpcSerialization.layerJson, credentials(connection)])
    )
}

export interface Followed {
  readonly after?: number
  readonly type?: EmittedType
}

const again = "500 millis"

/**
 * Every event once and in order, across reconnects. Store the `sequence` of the last processed event to survive a
 * restart. Fails if the service refuses the client.
 */
export const followEvents = ({ after = 0, type }: Followed = {}): Stream.Stream<StoreEvent, Refusal, StoaRpc> =>
  Stream.unwrap(Effect.map(StoaRpc, (rpc) => {
    let cursor = after
    return Stream.suspend(() => rpc["events.tail"]({ after: cursor, ...(type === undefined ? {} : { type }) })).pipe(
      Stream.map((event) => {
        cursor = event.sequence
        return event
      }),
      Stream.catchTags({ RpcClientError: () => Stream.empty, Unavailable: () => Stream.empty }),
      Stream.repeat(Schedule.spaced(again))
    )
  }))
