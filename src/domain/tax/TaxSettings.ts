import { Context, Layer } from "effect"
import type { Destination } from "../shipping/Destination.ts"
import type { TaxAdapter } from "./TaxAdapter.ts"

/** What a deployment decides about tax (docs/tax-and-shipping.md). */
export interface TaxOptions {
  /** Whether the prices of an organization contain their tax; orders keep what held when they were placed. */
  readonly pricesIncludeTax: (organizationId: string) => boolean
  /** With tax classes: shipping is taxed like the default class, else not at all. */
  readonly shippingByDefaultClass: boolean
  /** Called if the organization's rules do not cover an order. */
  readonly adapter: TaxAdapter | undefined
  /** How long the adapter has for an answer, in milliseconds. */
  readonly timeoutMs: number
  /** Flat rate if the adapter gives no valid answer; undefined: the checkout is refused. */
  readonly fallbackRateBps: number | undefined
  /** Origin of goods, for the adapter. */
  readonly from: Destination | null
}

/** Defaults for options missing from the deployment's configuration. */
export const defaultTaxOptions: TaxOptions = {
  pricesIncludeTax: () => false,
  shippingByDefaultClass: false,
  adapter: undefined,
  timeoutMs: 3_000,
  fallbackRateBps: undefined,
  from: null
}

/** The settings of this deployment's taxes. */
export class TaxSettings extends Context.Service<TaxSettings, TaxOptions>()("stoa/domain/tax/TaxSettings") {
  static readonly layerOf = (options: Partial<TaxOptions> = {}): Layer.Layer<TaxSettings> =>
    Layer.succeed(TaxSettings, { ...defaultTaxOptions, ...options })
}
