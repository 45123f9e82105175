import { Context, Effect, Layer, Schema } from "effect"
import type { OrderId, OrderLineId } from "../platform/ids/Id.ts"
import type { Asker, Given } from "../platform/modules/OutsideService.ts"
import { Amount } from "../platform/money/Money.ts"
import type { Destination } from "../shipping/ShippingZone.ts"
import type { Taxable } from "./TaxRules.ts"

/** A tax request for an order that is not stored yet; amounts in minor units of `currency`. */
export interface TaxRequest extends Taxable {
  readonly organizationId: string
  /** Prices include tax: return the included part. */
  readonly taxIncluded: boolean
  /** Origin of the goods (`tax.defaultFromAddress`). */
  readonly from: Destination | null
  /** Who buys, or asks for the price. */
  readonly actor: Asker
}

/** Tax in minor units: of each line, in their order, and of shipping. */
export const TaxAnswer = Schema.Struct({
  lineTaxes: Schema.Array(Amount),
  shippingTax: Schema.optional(Amount)
})
export type TaxAnswer = typeof TaxAnswer.Type

/** An order that was placed with tax of the adapter, or with the fallback in its place. Amounts in minor units. */
export interface TaxedOrder {
  readonly orderId: OrderId
  readonly organizationId: string
  readonly orderNumber: string
  readonly currency: string
  readonly placedAt: Date
  readonly address: Readonly<Record<string, unknown>> | null
  readonly lines: ReadonlyArray<{
    readonly lineItemId: OrderLineId
    readonly title: string
    readonly sku: string | null
    readonly quantity: number
    /** After discount. */
    readonly amount: number
    /** With the line's share of the tax of shipping. */
    readonly taxAmount: number
  }>
  readonly shippingTotal: number
  readonly taxTotal: number
  readonly taxIncluded: boolean
  /** The same for every try. */
  readonly idempotencyKey: string
}

/** An order that was cancelled, or refunded in full. */
export interface VoidedOrder {
  readonly orderId: OrderId
  readonly organizationId: string
  readonly idempotencyKey: string
}

/**
 * An external tax service (contract §3.5, 3). It is called only if the organization's rules do not cover an order;
 * never in a transaction, and before any stock is held. `signal` is aborted at the time limit.
 */
export interface TaxAdapter {
  /** Kept with the orders it taxed. */
  readonly id: string
  readonly calculate: (request: TaxRequest, signal: AbortSignal) => Given<TaxAnswer>
  /** Reports each order it taxed, after its creation. Repeated until it succeeds, so it must recognize the key. */
  readonly report?: (order: TaxedOrder, signal: AbortSignal) => Given<unknown>
  /** Reports cancelled and refunded orders; an order that was never reported, or is already void, is not a failure. */
  readonly void?: (order: VoidedOrder, signal: AbortSignal) => Given<unknown>
}

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

/** The adapters that plugins bring. The first one serves where the deployment configures none. */
export class TaxAdapters extends Context.Service<TaxAdapters>()("stoa/domain/tax/TaxAdapters", {
  make: Effect.sync(() => {
    const brought: Array<TaxAdapter> = []
    return {
      register: (adapters: ReadonlyArray<TaxAdapter>) => Effect.sync(() => void brought.push(...adapters)),
      first: (): TaxAdapter | undefined => brought[0]
    }
  })
}) {
  static readonly layer = Layer.effect(TaxAdapters, TaxAdapters.make)
}

/** The settings of this deployment's taxes. */
export class TaxSettings extends Context.Service<TaxSettings, TaxOptions>()("stoa/domain/tax/TaxSettings") {
  static readonly layerOf = (options: Partial<TaxOptions> = {}): Layer.Layer<TaxSettings> =>
    Layer.succeed(TaxSettings, { ...defaultTaxOptions, ...options })

  /** The same, with the adapter of a plugin in place of none: plugins bring theirs later, so it is read when it is needed. */
  static readonly layerWith = (options: TaxOptions): Layer.Layer<TaxSettings, never, TaxAdapters> =>
    Layer.effect(
      TaxSettings,
      Effect.map(TaxAdapters, ({ first }) => ({
        ...options,
        get adapter() {
          return options.adapter ?? first()
        }
      }))
    )
}
