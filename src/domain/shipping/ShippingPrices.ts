import { Context, Effect, Layer } from "effect"
import { CurrentActor } from "../platform/access/Actor.ts"
import { CheckoutFailed } from "../platform/errors/ApiErrors.ts"
import type { TaxClassId } from "../platform/ids/Id.ts"
import { askerOf } from "../platform/modules/OutsideService.ts"
import { askAdapter, type RateAdapter, ShippingSettings } from "./RateAdapter.ts"
import { ShippingRuleCache } from "./ShippingRepo.ts"
import { configuredPrice, fittingRates, type Shipment, type ShippingOption, type Unserved } from "./ShippingRules.ts"
import type { Destination } from "./ShippingZone.ts"

/** Minor units; the rate is null if there was none to choose. */
export interface ShippingPrice {
  readonly total: number
  readonly method: string | null
  readonly rateId: string | null
  readonly taxClassId?: TaxClassId | null
}

/**
 * Shipping prices (contract §3.4): from the external service, else the organization's zones, else the configuration. Do
 * not call it in a transaction: the service can take seconds.
 */
export class ShippingPrices extends Context.Service<ShippingPrices>()("stoa/domain/shipping/ShippingPrices", {
  make: Effect.gen(function*() {
    const cache = yield* ShippingRuleCache
    const settings = yield* ShippingSettings
    const { adapterFallback, adapterTimeoutMs, configured, unserved } = settings

    const byConfiguration = (shipment: Shipment): ReadonlyArray<ShippingOption> => [
      { id: null, name: null, amount: configuredPrice(configured, shipment) }
    ]

    const orUnserved = (found: ReadonlyArray<ShippingOption> | Unserved, shipment: Shipment, to: Destination) => {
      if (typeof found !== "string") return Effect.succeed(found)
      return unserved === "configured"
        ? Effect.succeed(byConfiguration(shipment))
        : Effect.fail(
          CheckoutFailed.of(refusals[found](to), { reason: "shipping_unavailable", field: "shippingAddress" })
        )
    }

    const ofZones = Effect.fnUntraced(function*(shipment: Shipment, to: Destination) {
      const rules = yield* cache.value
      if (rules.zones.length === 0) return byConfiguration(shipment)
      return yield* orUnserved(fittingRates(rules, shipment, to), shipment, to)
    })

    const ofService = Effect.fnUntraced(function*(service: RateAdapter, shipment: Shipment, to: Destination) {
      const { currency, subtotalAfterDiscount, weightGrams } = shipment
      const actor = yield* CurrentActor
      const { organizationId } = actor
      const of = { organizationId, currency, actor: askerOf(actor) }
      const request = { ...of, address: to, subtotalAfterDiscount, weightGrams }
      const rates = yield* askAdapter(service, request, adapterTimeoutMs).pipe(
        Effect.tapError(({ cause }) => Effect.logWarning("the service of shipping rates gave no answer", cause)),
        Effect.catchTag("RatesUnknown", () => Effect.undefined)
      )
      if (rates === undefined) {
        return adapterFallback === "refuse"
          ? yield* CheckoutFailed.of("Shipping could not be priced. Try again later.", {
            reason: "shipping_unavailable",
            retryable: true
          })
          : yield* ofZones(shipment, to)
      }
      const options = rates.map((rate) => shipment.freeByPromotion ? { ...rate, amount: 0 } : rate)
      return yield* orUnserved(options.length === 0 ? "no zone" : options, shipment, to)
    })

    /** The default first; empty if nothing needs shipping. 422 for an unserved address. */
    const optionsOf = Effect.fn("ShippingPrices.optionsOf")(function*(shipment: Shipment) {
      if (shipment.shipsNothing) return []
      if (shipment.address === null) return byConfiguration(shipment)
      const { adapter } = settings
      return adapter === undefined
        ? yield* ofZones(shipment, shipment.address)
        : yield* ofService(adapter, shipment, shipment.address)
    })

    /** The price of the chosen rate, else of the cheapest. 422 for an unserved address or an unavailable choice. */
    const priceOf = Effect.fn("ShippingPrices.priceOf")(function*(shipment: Shipment) {
      return yield* choiceOf(yield* optionsOf(shipment), shipment)
    })

    return { optionsOf, priceOf }
  })
}) {
  static readonly layer = Layer.effect(ShippingPrices, ShippingPrices.make)
}

export const nothingToShip: ShippingPrice = { total: 0, method: null, rateId: null }

/** The price of the chosen rate among the offered ones, else of the first. 422 for a choice that is not offered. */
export const choiceOf = (
  options: ReadonlyArray<ShippingOption>,
  { rateId }: Pick<Shipment, "rateId">
): Effect.Effect<ShippingPrice, CheckoutFailed> => {
  const chosen = rateId ?? null
  const option = chosen === null ? options[0] : options.find(({ id }) => id === chosen)
  if (option !== undefined) {
    const { amount: total, id: rateId, name: method, taxClassId = null } = option
    return Effect.succeed({ total, method, rateId, taxClassId })
  }
  return chosen === null ?
    Effect.succeed(nothingToShip) :
    Effect.fail(CheckoutFailed.of(refusals["no choice"](chosen), {
      reason: "shipping_unavailable",
      field: "shippingRateId"
    }))
}

const refusals = {
  "no zone": ({ country, state }: Destination) =>
    `Shipping to ${
      state === undefined || state === null || state === "" ? country : `${country}, ${state}`
    } is not offered.`,
  "no rate": ({ country }: Destination) => `No shipping rate to ${country} is for an order like this.`,
  "no choice": (rateId: string) => `Shipping rate ${rateId} is not offered for this order.`
}
