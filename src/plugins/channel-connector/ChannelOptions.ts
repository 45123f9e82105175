import { Context, Effect, Layer, Schema, Semaphore } from "effect"
import { apiError, group, option, type Outbound, outbound } from "stoa/plugin"
import type { ChannelAdapter } from "./ChannelAdapter.ts"

export const routes = group("Channels", "/channels")
export const [read, manage] = ["channels:read", "channels:manage"] as const

/** Tries of a job that calls a store. */
export const retries = {
  attempts: 8,
  backoff: { type: "exponential", delay: 5_000, jitter: 0.2, ceiling: 600_000 }
} as const

const Milliseconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 * 86_400_000 }))

/** What a deployment decides of its channels. */
export const ChannelSettings = Schema.Struct({
  adapters: option<ReadonlyArray<ChannelAdapter>>({
    default: [],
    description: "Adapters of the providers that stores can be connected of"
  }),
  publicUrl: option(Schema.String.check(Schema.isPattern(/^https?:\/\/[^/]+$/)), {
    description: "Where stores and browsers reach this deployment; without it no webhooks are registered"
  }),
  origins: option(Schema.Array(Schema.String), {
    default: [],
    description: "Origins of stores that may be internal, such as `http://shop.internal:8080`; others are public ones"
  }),
  postConnectRedirect: option(Schema.String, {
    default: "/",
    description: "Where the browser goes after a merchant has connected a store"
  }),
  linkBySku: option(Schema.Boolean, {
    default: false,
    description: "A product of a store that is not known yet is the one here that has all its SKUs, if they are unique"
  }),
  inventoryTimeoutMs: option(Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 9_000 })), {
    default: 3_000,
    description: "Milliseconds in which all stores of a checkout have to say what they have"
  }),
  driftAlertThreshold: option(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })), {
    default: 25,
    description: "More differences than these that a reconciliation finds are an alert"
  }),
  reconcileJitterWindowMs: option(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400_000 })), {
    default: 3_600_000,
    description: "Milliseconds over which the reconciliations of all stores are spread"
  }),
  refundAutoMax: option(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)), {
    description: "Minor units up to which refunds of a store are executed without staff; without it what the order paid"
  }),
  newStoreDays: option(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 365 })), {
    default: 7,
    description: "Days after its connection in which staff decides about every refund of a store"
  }),
  exportSla: option(Schema.Struct({ definitiveMs: Milliseconds, transientMs: Milliseconds }), {
    default: { definitiveMs: 4 * 3_600_000, transientMs: 24 * 3_600_000 },
    description: "Milliseconds after which an order that no store takes is refunded, by the kind of its failure"
  }),
  keepDays: option(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 365 })), {
    default: 30,
    description: "Days after which received webhooks are deleted"
  })
})
export type ChannelSettings = typeof ChannelSettings.Type

/** 404 of a provider that no adapter is for. */
export class ConnectorNotFound extends apiError(
  "ConnectorNotFound",
  { status: 404, code: "CONNECTOR_NOT_FOUND" },
  (provider: string) => `No adapter for "${provider}" is installed.`
) {}

/** Calls of a process to one store. */
export const callsAtOnce = 4

/** Gives each store a client that makes so many calls at once: others wait, and those to other stores do not. */
const limitedClients = (http: Outbound) => {
  const clients = new Map<string, Outbound>()
  return (storeId: string): Outbound => {
    const known = clients.get(storeId)
    if (known !== undefined) return known
    const calls = Semaphore.makeUnsafe(callsAtOnce)
    const made: Outbound = {
      request: (request) => calls.withPermit(http.request(request)),
      json: (schema, request) => calls.withPermit(http.json(schema, request)),
      stream: (request) => Effect.andThen(calls.takeScoped(1), http.stream(request))
    }
    clients.set(storeId, made)
    return made
  }
}

/** Settings, adapters, and the client for calls to stores. */
export class Channels extends Context.Service<Channels, {
  readonly settings: ChannelSettings
  readonly http: Outbound
  /** The client for calls to one store, of which a process makes four at once. */
  readonly httpOf: (storeId: string) => Outbound
  readonly adapterOf: (provider: string) => Effect.Effect<ChannelAdapter, ConnectorNotFound>
}>()("stoa/plugins/channel-connector/Channels") {
  static readonly layerOf = (settings: ChannelSettings) =>
    Layer.effect(
      Channels,
      Effect.map(
        outbound({ name: "The store", origins: settings.origins, maxBytes: 10_000_000 }),
        (http) => ({
          settings,
          http,
          httpOf: limitedClients(http),
          adapterOf: (provider) => {
            const found = settings.adapters.find(({ id }) => id === provider)
            return found === undefined ? Effect.fail(new ConnectorNotFound(provider)) : Effect.succeed(found)
          }
        })
      )
    )
}
