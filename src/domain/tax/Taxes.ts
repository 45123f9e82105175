import { Context, Effect, Layer } from "effect"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { CheckoutFailed } from "../errors/ApiErrors.ts"
import { outsideTax } from "./OutsideTax.ts"
import { TaxRuleCache } from "./TaxRuleCache.ts"
import { type Tax, type Taxable, taxByRules, untaxed } from "./TaxRules.ts"
import { TaxSettings } from "./TaxSettings.ts"

/** The tax of an order and its source. Amounts in minor units. */
export interface OrderTax extends Tax {
  /** The prices contain it, so it is a part of the total and not added to it. */
  readonly included: boolean
  /** The adapter that needs a report of the order; null if the organization's rules gave the tax. */
  readonly provider: string | null
}

/** Decides how an order is taxed, for all callers (contract §3.5, docs/tax-and-shipping.md). */
export class Taxes extends Context.Service<Taxes, {
  /**
   * Tax of an order by its organization's classes, else by the rates of its address, else by the deployment's adapter,
   * else none. The rules are cached, so most checkouts need no statement for them. Fails if the adapter gives no tax
   * and there is no fallback. Do not call it in a transaction or with stock held: an adapter can take seconds.
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
