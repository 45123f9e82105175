import { Effect, Schema } from "effect"
import { CheckoutFailed } from "../errors/ApiErrors.ts"
import { askOutside, OutsideFailed } from "../modules/OutsideService.ts"
import { type TaxAdapter, TaxAnswer, type TaxRequest } from "./TaxAdapter.ts"
import { byRates, type Tax } from "./TaxRules.ts"
import type { TaxOptions } from "./TaxSettings.ts"

const decode = Schema.decodeUnknownEffect(TaxAnswer)

const unusable = new OutsideFailed({ cause: "its answer does not fit the order" })

/** Validates an external answer against the request: for example, tax included in a price cannot exceed it. */
const taxOf = Effect.fnUntraced(function*({ lines, shippingTotal, taxIncluded }: TaxRequest, answer: unknown) {
  const { lineTaxes, shippingTax = 0 } = yield* Effect.mapError(decode(answer), () => unusable)
  const contained = lines.every(({ amount }, index) => (lineTaxes[index] ?? 0) <= amount) &&
    shippingTax <= shippingTotal
  if (lineTaxes.length !== lines.length || (taxIncluded && !contained)) return yield* unusable
  const tax: Tax = { lineTaxes, taxTotal: lineTaxes.reduce((left, right) => left + right, shippingTax) }
  return tax
})

/** The flat rate that replaces an answer, for goods and shipping alike. */
const flat = (rateBps: number, request: TaxRequest): Tax =>
  byRates([{ country: "", state: null, rateBps, appliesToShipping: true }], request, { included: request.taxIncluded })

/**
 * Calls the external service with a time limit. If it fails, times out or returns an invalid answer, the configured
 * flat rate applies; without one the checkout is refused, because the shop would have to pay uncollected tax.
 */
export const outsideTax = (
  adapter: TaxAdapter,
  { fallbackRateBps, timeoutMs }: Pick<TaxOptions, "fallbackRateBps" | "timeoutMs">,
  request: TaxRequest
): Effect.Effect<Tax, CheckoutFailed> =>
  askOutside((signal) => adapter.calculate(request, signal), timeoutMs).pipe(
    Effect.flatMap((answer) => taxOf(request, answer)),
    Effect.catchTag("OutsideFailed", ({ message }) =>
      Effect.andThen(
        Effect.logWarning(`the tax service '${adapter.id}' gave no tax: ${message}`),
        fallbackRateBps === undefined
          ? Effect.fail(CheckoutFailed.of("The tax could not be calculated. Try again later."))
          : Effect.succeed(flat(fallbackRateBps, request))
      )),
    Effect.withSpan("outsideTax", { attributes: { adapter: adapter.id } })
  )
