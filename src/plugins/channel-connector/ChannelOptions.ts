import { Context, Effect, Layer, Schema } from "effect"
import { apiError, group, option, type Outbound, outbound } from "stoa/plugin"
import type { ChannelAdapter } from "./ChannelAdapter.ts"

export const routes = group("Channels", "/channels")
export const [read, manage] = ["channels:read", "channels:manage"] as const

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

/** Settings, adapters, and the client for calls to stores. */
export class Channels extends Context.Service<Channels, {
  readonly settings: ChannelSettings
  readonly http: Outbound
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
          adapterOf: (provider) => {
            const found = settings.adapters.find(({ id }) => id === provider)
            return found === undefined ? Effect.fail(new ConnectorNotFound(provider)) : Effect.succeed(found)
          }
        })
      )
    )
}
