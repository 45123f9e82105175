import { Context, Data, Effect, Layer, Schema } from "effect"
import { type Asker, askOutside, type Given } from "../platform/modules/OutsideService.ts"
import { Amount } from "../platform/money/Money.ts"
import { maybe } from "../platform/text/Fields.ts"
import { keyText, Text } from "../platform/text/Storable.ts"
import type { FlatShipping, WeightShipping } from "./ShippingRules.ts"
import type { Destination } from "./ShippingZone.ts"

/** A request to price shipping; minor units of `currency`, weight in grams. */
export interface RateRequest {
  readonly organizationId: string
  readonly currency: string
  readonly address: Destination
  readonly subtotalAfterDiscount: number
  readonly weightGrams: number
  readonly actor: Asker
}

const AdapterRate = Schema.Struct({ id: Text, name: Text, amount: Amount, estimate: maybe(keyText(100)) })
type AdapterRate = typeof AdapterRate.Type

/**
 * An external service that prices shipping (contract §3.4). An empty list: it does not ship there. A throw or rejection
 * counts as no answer. `signal` aborts when the answer is no longer needed.
 */
export interface RateAdapter {
  readonly rates: (
    request: RateRequest,
    signal: AbortSignal
  ) => Given<ReadonlyArray<AdapterRate>>
}

export class RatesUnknown extends Data.TaggedError("RatesUnknown")<{ readonly cause: unknown }> {}

const read = Schema.decodeUnknownEffect(Schema.Array(AdapterRate))

const lost = (cause: unknown) => new RatesUnknown({ cause })

export const askAdapter = Effect.fn("RateAdapter.rates")(
  function*(adapter: RateAdapter, request: RateRequest, timeoutMs: number) {
    const answer = yield* Effect.mapError(askOutside((signal) => adapter.rates(request, signal), timeoutMs), lost)
    const rates = yield* Effect.mapError(read(answer), lost)
    return [...rates].sort((a, b) => a.amount - b.amount || (a.id < b.id ? -1 : 1))
  }
)

/** The deployment's shipping configuration, in addition to the organization's zones (contract §3.4). */
export interface ShippingSettingsValues {
  /** The price if no zone and no external service applies. */
  readonly configured: FlatShipping | WeightShipping
  /** For an address no zone serves: refuse the order, or charge the configured price. */
  readonly unserved: "refuse" | "configured"
  /** Prices shipping instead of the zones. */
  readonly adapter: RateAdapter | undefined
  readonly adapterTimeoutMs: number
  /** Without its answer the zones decide, or the order is refused. */
  readonly adapterFallback: "zones" | "refuse"
}

export const defaultShipping: ShippingSettingsValues = {
  configured: { type: "flat", flatRate: 0 },
  unserved: "refuse",
  adapter: undefined,
  adapterTimeoutMs: 3_000,
  adapterFallback: "zones"
}

/** Adapters of plugins. The first one serves where the deployment configures none. */
export class RateAdapters extends Context.Service<RateAdapters>()("stoa/domain/shipping/RateAdapters", {
  make: Effect.sync(() => {
    const brought: Array<RateAdapter> = []
    return {
      register: (adapters: ReadonlyArray<RateAdapter>) => Effect.sync(() => void brought.push(...adapters)),
      first: (): RateAdapter | undefined => brought[0]
    }
  })
}) {
  static readonly layer = Layer.effect(RateAdapters, RateAdapters.make)
}

export class ShippingSettings
  extends Context.Service<ShippingSettings, ShippingSettingsValues>()("stoa/domain/shipping/ShippingSettings")
{
  static readonly layerOf = (settings: Partial<ShippingSettingsValues>): Layer.Layer<ShippingSettings> =>
    Layer.succeed(ShippingSettings, { ...defaultShipping, ...settings })

  /** Plugins register later, so their adapter is read on use. */
  static readonly layerWith = (settings: ShippingSettingsValues): Layer.Layer<ShippingSettings, never, RateAdapters> =>
    Layer.effect(
      ShippingSettings,
      Effect.map(RateAdapters, ({ first }) => ({
        ...settings,
        get adapter() {
          return settings.adapter ?? first()
        }
      }))
    )
}
