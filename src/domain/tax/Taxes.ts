import { Context, Effect, Layer } from "effect"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { CheckoutFailed } from "../errors/ApiErrors.ts"
import { outsideTax } from "./OutsideTax.ts"
import { TaxRuleCache } from "./TaxRuleCache.ts"
import { type Tax, type Taxable, taxByRules, untaxed } from "./TaxRules.ts"
import { TaxSettings } from "./TaxSettings.ts"

/** The tax of an order and where it comes from. Amounts in minor units. */
export interface OrderTax extends Tax {
  /** The prices contain it, so it is a part of the total and not added to it. */
  readonly included: boolean
  /** The adapter that has to hear of the order; null when the organization's own rules said the tax. */
  readonly provider: string | null
}

/** The one place that says how an order is taxed (contract §3.5, docs/tax-and-shipping.md). */
export class Taxes extends Context.Service<Taxes, {
  /**
   * Tax of an order by its organization's classes, else by the rates of its address, else by the adapter of the
   * deployment, else none. What an organization's rules are is remembered, so that most checkouts send no statement for
   * it. Fails when the adapter gave no tax and there is no fallback. Not to be called in a transaction or with stock
   * held: an adapter may take seconds.
   */
  readonly taxOf: (taxable: Taxable) => Effect.Effect<OrderTax, CheckoutFailed, CurrentActor>
}>()("stoa/domain/tax/Taxes") {
  static readonly layer = Layer.effect(
    Taxes,
    Effect.gen(function*() {
      const rules = yield* TaxRuleCache
      const settings = yield* TaxSettings
      const { adapter, from, shippingByDefaultClass } = settings

      const taxOf = Effect.fn("Taxes.taxOf")(function*(taxable: Taxable) {
        const organizationId = yield* currentOrganization
        const included = settings.pricesIncludeTax(organizationId)
        const own = taxByRules(yield* rules.value, taxable, { included, shippingByDefaultClass })
        if (own !== undefined) return { ...own, included, provider: null }
        const costs = taxable.shippingTotal > 0 || taxable.lines.some(({ amount }) => amount > 0)
        if (adapter === undefined || !costs) return { ...untaxed(taxable), included, provider: null }
        const request = { ...taxable, organizationId, taxIncluded: included, from }
        return { ...yield* outsideTax(adapter, settings, request), included, provider: adapter.id }
      })

      return Taxes.of({ taxOf })
    })
  )
}
