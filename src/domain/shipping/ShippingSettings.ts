import { Context, Layer } from "effect"
import { defaultTimeoutMs, type RateAdapter } from "./RateAdapter.ts"
import type { FlatShipping, WeightShipping } from "./ShippingRules.ts"

/** The deployment's shipping configuration, in addition to the organization's zones (contract §3.4). */
export interface ShippingSettingsValues {
  /** The price if no zone and no external service applies. */
  readonly configured: FlatShipping | WeightShipping
  /** For an address no zone serves: refuse the order, or charge the configured price. */
  readonly unserved: "refuse" | "configured"
  /** An external service that prices shipping instead of the zones. */
  readonly adapter: RateAdapter | undefined
  /** How long it is waited for, in milliseconds. */
  readonly adapterTimeoutMs: number
  /** What happens when it does not answer: the zones decide, or the order is refused. */
  readonly adapterFallback: "zones" | "refuse"
}

/** Defaults without configuration: shipping is free. */
export const defaultShipping: ShippingSettingsValues = {
  configured: { type: "flat", flatRate: 0 },
  unserved: "refuse",
  adapter: undefined,
  adapterTimeoutMs: defaultTimeoutMs,
  adapterFallback: "zones"
}

/** The settings of shipping of this deployment. */
export class ShippingSettings
  extends Context.Service<ShippingSettings, ShippingSettingsValues>()("stoa/domain/shipping/ShippingSettings")
{
  static readonly layerOf = (settings: Partial<ShippingSettingsValues>): Layer.Layer<ShippingSettings> =>
    Layer.succeed(ShippingSettings, { ...defaultShipping, ...settings })
}
