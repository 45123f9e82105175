import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { CurrentActor } from "../platform/access/Actor.ts"
import { CheckoutFailed, outOfService } from "../platform/errors/ApiErrors.ts"
import { askerOf, askOutside, OutsideFailed } from "../platform/modules/OutsideService.ts"
import { percentOfBps } from "./Percent.ts"
import { type TaxAdapter, TaxAnswer, type TaxOptions, type TaxRequest, TaxSettings } from "./TaxAdapter.ts"
import type { Tax } from "./TaxAmounts.ts"
import { TaxRuleCache } from "./TaxRepo.ts"
import { byRate, type Taxable, taxByRules, untaxed } from "./TaxRules.ts"

const decode = Schema.decodeUnknownEffect(TaxAnswer)

const unusable = new OutsideFailed({ cause: "its answer does not fit the order" })

const taxOf = Effect.fnUntraced(function*({ lines, shippingTotal, taxIncluded }: TaxRequest, answer: unknown) {
  const { lineTaxes, shippingTax = 0 } = yield* Effect.mapError(decode(answer), () => unusable)
  const contained = lines.every(({ amount }, index) => (lineTaxes[index] ?? 0) <= amount) &&
    shippingTax <= shippingTotal
  if (lineTaxes.length !== lines.length || (taxIncluded && !contained)) return yield* unusable
  const amounts = [...lineTaxes, shippingTax]
  const prices = [...lines.map(({ amount }) => amount), shippingTotal]
  const bases = prices.map((price, index) => taxIncluded ? price - (amounts[index] ?? 0) : price)
  const rate = { rateId: null, name: "Tax", rate: null, compound: false, priority: 0 }
  const taxTotal = amounts.reduce((left, right) => left + right, 0)
  const tax: Tax = { lineTaxes, taxTotal, rates: [{ rate, bases, amounts }] }
  return tax
})

const flat = (rateBps: number, request: TaxRequest): Tax =>
  byRate(percentOfBps(rateBps), request, { included: request.taxIncluded })

/**
 * Without a valid answer the configured flat rate applies; without one the checkout is refused, because the shop would
 * have to pay uncollected tax.
 */
const outsideTax = (
  adapter: TaxAdapter,
  { fallbackRateBps, timeoutMs }: Pick<TaxOptions, "fallbackRateBps" | "timeoutMs">,
  request: TaxRequest
): Effect.Effect<Tax, CheckoutFailed, CurrentActor> =>
  askOutside((signal) => adapter.calculate(request, signal), timeoutMs).pipe(
    Effect.flatMap((answer) => taxOf(request, answer)),
    Effect.catchTag("OutsideFailed", ({ message }) =>
      Effect.andThen(
        Effect.logWarning(`the tax service '${adapter.id}' gave no tax: ${message}`),
        fallbackRateBps === undefined
          ? Effect.fail(CheckoutFailed.of("The tax could not be calculated. Try again later.", outOfService))
          : Effect.succeed(flat(fallbackRateBps, request))
      )),
    Effect.withSpan("outsideTax", { attributes: { adapter: adapter.id } })
  )

/** Amounts in minor units. */
export interface DecidedTax extends Tax {
  /** The prices contain the tax. */
  readonly included: boolean
  /** The adapter that needs a report of the order; null if the organization's rules gave the tax. */
  readonly provider: string | null
}

/** Decides how an order is taxed (contract §3.5, docs/tax-and-shipping.md). */
export class Taxes extends Context.Service<Taxes>()("stoa/domain/tax/Taxes", {
  make: Effect.gen(function*() {
    const rules = yield* TaxRuleCache
    const settings = yield* TaxSettings
    const { from, shippingByDefaultClass } = settings

    const decidedBy = (known: typeof rules.value) =>
      Effect.fnUntraced(function*(taxable: Taxable, isExempt: boolean) {
        const [actor, { adapter }] = [yield* CurrentActor, settings]
        const { organizationId } = actor
        const included = settings.pricesIncludeTax(organizationId)
        if (isExempt && !included) return { ...untaxed(taxable), included, provider: null }
        const now = DateTime.toDateUtc(yield* DateTime.now)
        const shippingClass = settings.shippingClass(organizationId)
        const own = taxByRules(yield* known, taxable, { included, now, shippingByDefaultClass, shippingClass })
        if (own !== undefined) return { ...own, included, provider: null }
        const costs = taxable.shippingTotal > 0 || taxable.lines.some(({ amount }) => amount > 0)
        if (adapter === undefined || !costs) return { ...untaxed(taxable), included, provider: null }
        const request = { ...taxable, organizationId, taxIncluded: included, from, actor: askerOf(actor) }
        return { ...yield* outsideTax(adapter, settings, request), included, provider: adapter.id }
      })

    /**
     * Tax by the rates and classes of the store, else by the adapter, else none. Fails if the adapter gives no
     * tax and there is no fallback. Do not call it in a transaction or with stock held: an adapter can take seconds.
     * For an exempt buyer it says the tax that prices contain, which they do not pay.
     */
    const taxOf = Effect.fn("Taxes.taxOf")((taxable: Taxable, isExempt = false) =>
      decidedBy(rules.value)(taxable, isExempt)
    )

    return {
      taxOf,
      /** The same for alternatives, with one look at the store's rates. */
      taxesOf: Effect.fn("Taxes.taxesOf")(function*(taxables: ReadonlyArray<Taxable>, isExempt: boolean) {
        const decided = decidedBy(yield* Effect.cached(rules.value))
        return yield* Effect.forEach(taxables, (taxable) => decided(taxable, isExempt), { concurrency: "unbounded" })
      })
    }
  })
}) {
  static readonly layer = Layer.effect(Taxes, Taxes.make)
}
