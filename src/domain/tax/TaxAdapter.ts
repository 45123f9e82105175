import { Context, Effect, Layer, Schema } from "effect"
import type { OrderId, OrderLineId } from "../platform/ids/Id.ts"
import type { Asker, Given } from "../platform/modules/OutsideService.ts"
import { Amount } from "../platform/money/Money.ts"
import type { Destination } from "../shipping/ShippingZone.ts"
import type { Taxable } from "./TaxRules.ts"
import type { VatNumberService } from "./VatNumber.ts"

/** A tax request for an order that is not stored yet; amounts in minor units of `currency`. */
export interface TaxRequest extends Taxable {
  readonly organizationId: string
  /** Prices include tax: return the included part. */
  readonly taxIncluded: boolean
  /** Origin of the goods (`tax.defaultFromAddress`). */
  readonly from: Destination | null
  readonly actor: Asker
}

export const TaxAnswer = Schema.Struct({
  lineTaxes: Schema.Array(Amount),
  shippingTax: Schema.optional(Amount)
})
export type TaxAnswer = typeof TaxAnswer.Type

/** An order that was taxed by the adapter, or by the fallback in its place. Amounts in minor units. */
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

export interface VoidedOrder {
  readonly orderId: OrderId
  readonly organizationId: string
  readonly idempotencyKey: string
}

/**
 * An external tax service (contract §3.5, 3), for orders that the organization's rules do not cover; never in a
 * transaction, and before any stock is held. `signal` aborts at the time limit.
 */
export interface TaxAdapter {
  /** Kept with the orders it taxed. */
  readonly id: string
  readonly calculate: (request: TaxRequest, signal: AbortSignal) => Given<TaxAnswer>
  /** Reports each order it taxed. Repeated until it succeeds: it must recognize the key. */
  readonly report?: (order: TaxedOrder, signal: AbortSignal) => Given<unknown>
  /** Reports cancelled and refunded orders; an order that was never reported, or is already void, is not a failure. */
  readonly void?: (order: VoidedOrder, signal: AbortSignal) => Given<unknown>
}

export interface TaxOptions {
  readonly pricesIncludeTax: (organizationId: string) => boolean
  /** Id or slug of the tax class of shipping; undefined: none. */
  readonly shippingClass: (organizationId: string) => string | undefined
  /** Without a class: shipping is taxed like the default class where no rate of the region is. */
  readonly shippingByDefaultClass: boolean
  readonly adapter: TaxAdapter | undefined
  readonly timeoutMs: number
  /** Flat rate without a valid answer; undefined: the checkout is refused. */
  readonly fallbackRateBps: number | undefined
  readonly from: Destination | null
  /** Businesses of another EU country than that of `from` pay no tax, once `vatNumbers` knows their number. */
  readonly exemptEuBusinesses: boolean
  readonly vatNumbers: VatNumberService | undefined
}

export const defaultTaxOptions: TaxOptions = {
  pricesIncludeTax: () => false,
  shippingClass: () => undefined,
  shippingByDefaultClass: false,
  adapter: undefined,
  timeoutMs: 3_000,
  fallbackRateBps: undefined,
  from: null,
  exemptEuBusinesses: false,
  vatNumbers: undefined
}

/** Adapters of plugins. The first one serves where the deployment configures none. */
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

export class TaxSettings extends Context.Service<TaxSettings, TaxOptions>()("stoa/domain/tax/TaxSettings") {
  static readonly layerOf = (options: Partial<TaxOptions> = {}): Layer.Layer<TaxSettings> =>
    Layer.succeed(TaxSettings, { ...defaultTaxOptions, ...options })

  /** Plugins register later, so their adapter is read on use. */
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
