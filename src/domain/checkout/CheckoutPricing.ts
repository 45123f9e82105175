import { Array, Context, Effect, Layer, Result, Struct } from "effect"
import { Line } from "../carts/Line.ts"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { CheckoutFailed } from "../platform/errors/ApiErrors.ts"
import { type CustomerId, newId, type OrderLineId } from "../platform/ids/Id.ts"
import { taxableAmount, taxClassBy } from "../pricing/PriceSteps.ts"
import { type OrderTotals, orderTotals, type TotalsDiscount, type TotalsInput } from "../pricing/Totals.ts"
import type { AppliedPromotions } from "../promotions/AppliedPromotions.ts"
import { customerLimit } from "../promotions/PromotionRules.ts"
import { choiceOf, nothingToShip, type ShippingPrice, ShippingPrices } from "../shipping/ShippingPrices.ts"
import type { Shipment, ShippingOption } from "../shipping/ShippingRules.ts"
import { lineTaxShares } from "../tax/TaxAmounts.ts"
import { type DecidedTax, Taxes } from "../tax/Taxes.ts"
import { TaxExemptions } from "../tax/TaxExemptions.ts"
import { type Taxable, untaxed } from "../tax/TaxRules.ts"
import { type AlreadyTaxed, nothingTaxed, payableParts, withoutTaxed } from "./AlreadyTaxed.ts"
import type { Warning } from "./CartTotals.ts"
import { type Discounted, discounting } from "./CheckoutDiscounts.ts"
import { decidedShipping, type DecideTerms, noTerms, withTerms } from "./CheckoutExtension.ts"
import type { Basket, BasketLine, PricedCart, PricingCandidates, PricingRequest } from "./PricedCart.ts"
import { addedStepsOf, agreedTotal, type Buyer, type PricedLine } from "./PricedLines.ts"

const exempting = Effect.map(TaxExemptions, (exemptions) => (cart: Basket, request: PricingRequest, buyer: Buyer) => {
  const { billingAddress = null, shippingAddress = null } = request
  return cart.taxExemption === undefined
    ? exemptions.of({ customerId: buyer.customerId, shippingAddress, billingAddress })
    : Effect.succeed(cart.taxExemption)
})

/** Shows offered rates at what choosing them adds to the total: without the tax in their price, for exempt buyers. */
const offering = Effect.map(Effect.all([Taxes, exempting]), ([taxes, exemptionOf]) =>
  Effect.fnUntraced(function*(
    cart: Basket,
    request: PricingRequest,
    { applied, buyer, lines }: Discounted,
    offered: ReadonlyArray<ShippingOption>
  ) {
    if (offered.length === 0 || (yield* exemptionOf(cart, request, buyer)) === null) return offered
    const before = yield* totalled(totalsInput(cart.currency, lines, applied, nothingToShip))
    const taxables = offered.map((option) => ({
      ...taxableOf(before, request, option),
      shippingTotal: option.amount
    }))
    return Array.zipWith(
      offered,
      yield* taxes.taxesOf(taxables, true),
      (option, due) => ({ ...option, amount: option.amount - shippingTaxOf(due) })
    )
  }))

/** Totals of discounted lines; shipping and tax may ask outside services. */
const totalling = Effect.map(Effect.all([Taxes, exempting]), ([taxes, exemptionOf]) =>
  Effect.fnUntraced(function*(
    cart: Basket,
    request: PricingRequest,
    { applied, buyer, found, lines, shipment }: Discounted,
    decide: DecideTerms,
    shippedBy: (shipment: Shipment) => Effect.Effect<ShippingPrice, CheckoutFailed, CurrentActor>,
    alreadyTaxedIn: AlreadyTaxed
  ) {
    const terms = yield* decide({
      customerId: buyer.customerId,
      lines: lines.map((line) =>
        Struct.pick(line, ["entityId", "entityType", "variantId", "metadata", "quantity", "unitPrice"])
      ),
      subtotal: lines.reduce((sum, line) => sum + agreedTotal(line), 0),
      discountTotal: applied.discountTotal
    })
    const shipped = decidedShipping(terms) ?? (yield* shippedBy(shipment))
    const input = totalsInput(cart.currency, lines, applied, shipped)
    // Tax needs the totals after discounts, so they are computed twice: 0.1 ms for 50 lines.
    const before = yield* totalled(input)
    const payable = payableParts(before)
    const { customerId } = buyer
    const most = payable.reduce((sum, part) => sum + part, 0)
    const alreadyTaxed = alreadyTaxedIn === nothingTaxed ? 0 : yield* alreadyTaxedIn({ customerId, most })
    const taxable = withoutTaxed(taxableOf(before, request, shipped), payable, alreadyTaxed)
    const taxExemption = yield* exemptionOf(cart, request, buyer)
    const due = yield* taxes.taxOf(taxable, taxExemption !== null)
    const { included: taxIncluded } = due
    const tax = taxExemption === null ? due : { ...untaxed(taxable), included: taxIncluded, provider: null }
    const { lineTaxes, taxTotal } = tax
    const untaxedInput = taxExemption === null ? input : { ...input, ...withoutTax(before, due) }
    const totals = yield* totalled({ ...untaxedInput, lineTaxes, taxTotal, taxIncluded })
    const pricedCart = assemble(cart, request, buyer, totals, applied, found, shipped, tax)
    return withTerms({
      ...pricedCart,
      ...(taxExemption === null ? {} : { taxExemption }),
      ...(alreadyTaxed === 0 ? {} : { alreadyTaxed })
    }, terms)
  }))

/**
 * Prices lines for checkouts, quotes, manual orders and order edits (contract §3.2, steps 2 to 6), in a constant number
 * of statements.
 */
export class CheckoutPricing extends Context.Service<CheckoutPricing>()("stoa/domain/checkout/CheckoutPricing", {
  make: Effect.gen(function*() {
    const [shipping, discounted, totalsOf] = yield* Effect.all([ShippingPrices, discounting, totalling])
    const offeredTo = yield* offering

    const price = Effect.fn("CheckoutPricing.price")(
      function*(
        cart: Basket,
        request: PricingRequest,
        own: CustomerId | null,
        decide: DecideTerms = noTerms,
        alreadyTaxed = nothingTaxed
      ) {
        const found = yield* discounted(cart, request, own)
        return yield* totalsOf(cart, request, found, decide, shipping.priceOf, alreadyTaxed)
      }
    )

    /**
     * Prices what can be sold of a cart, as `price` does, for its totals. What a checkout would refuse is a warning here:
     * lines that cannot be sold are left out, and shipping that is not offered costs nothing.
     */
    const preview = Effect.fn("CheckoutPricing.preview")(
      function*(
        cart: Basket,
        request: PricingRequest,
        own: CustomerId | null,
        decide: DecideTerms,
        alreadyTaxed = nothingTaxed
      ) {
        const warnings: Array<Warning> = []
        const warn = (code: Warning["code"], line: BasketLine | null, { error: { message } }: CheckoutFailed) =>
          Effect.sync(() => void warnings.push({ code, lineId: line?.shown?.id ?? null, message }))
        const found = yield* discounted(cart, request, own, (line, reason) => warn("line_unavailable", line, reason))
        const offered = yield* Effect.catch(
          shipping.optionsOf(found.shipment),
          (reason) => Effect.as(warn("shipping_unavailable", null, reason), [])
        )
        const shippedBy = (shipment: Shipment) =>
          Effect.catch(
            choiceOf(offered, shipment),
            (reason) => Effect.as(warn("shipping_unavailable", null, reason), nothingToShip)
          )
        const pricedCart = yield* totalsOf(cart, request, found, decide, shippedBy, alreadyTaxed)
        const { taxExemption = null } = pricedCart
        return {
          pricedCart,
          cartLineIds: found.lines.map(({ shown }) => shown?.id),
          offered: yield* offeredTo({ ...cart, taxExemption }, request, found, offered),
          warnings
        }
      }
    )

    return {
      price,
      preview,
      /** The rates that a buyer can choose, the default first. 422 for an unserved address. */
      offered: Effect.fn("CheckoutPricing.offered")(
        function*(cart: Basket, request: PricingRequest, own: CustomerId | null) {
          const found = yield* discounted(cart, request, own)
          return yield* offeredTo(cart, request, found, yield* shipping.optionsOf(found.shipment))
        }
      )
    }
  })
}) {
  static readonly layer = Layer.effect(CheckoutPricing, CheckoutPricing.make)
}

const totalsInput = (
  currency: string,
  lines: ReadonlyArray<PricedLine>,
  applied: AppliedPromotions,
  { total }: ShippingPrice
): TotalsInput<LineWithKey> => ({
  currency,
  lines: lines.map((line) => ({ ...line, key: line.agreed?.lineId ?? newId() })),
  discounts: discountsOf(lines, applied),
  shippingTotal: total
})

const taxableOf = (
  { currency, lines, shippingTotal }: OrderTotals<LineWithKey>,
  { shippingAddress = null }: PricingRequest,
  { taxClassId: shippingClassId = null }: Pick<ShippingPrice, "taxClassId">
): Taxable => ({
  currency,
  address: shippingAddress,
  lines: lines.map((line) => ({
    // Other stored value is taxed when it pays for goods, as these are.
    amount: line.storedValue && !line.singlePurpose
      ? 0
      : taxableAmount({ ...line, priceSteps: line.addedSteps ?? [] }),
    quantity: line.quantity,
    ...taxClassOf(line)
  })),
  shippingTotal,
  shippingClassId
})

/** A class that a step names is known by its name alone. */
const taxClassOf = ({ addedSteps = [], taxClass, taxClassId }: PricedLine) => {
  const named = taxClassBy(addedSteps)
  return named === undefined ? { taxClass, taxClassId } : { taxClass: named, taxClassId: null }
}

type LineWithKey = PricedLine & { readonly key: OrderLineId }

const discountsOf = (
  lines: ReadonlyArray<PricedLine>,
  { applied }: AppliedPromotions
): ReadonlyArray<TotalsDiscount> => [
  ...lines.flatMap(({ agreed }, index) =>
    agreed === undefined || agreed.discount === 0 ? [] : [{ amount: agreed.discount, eligibleLines: [index] }]
  ),
  ...applied.map((one) => ({ amount: one.discountAmount, eligibleLines: one.eligibleLines }))
]

/** Takes the tax that prices contain off each line, as a discount, and off shipping. */
const withoutTax = (
  { lines, shippingTotal }: OrderTotals<LineWithKey>,
  due: DecidedTax
): Pick<TotalsInput<LineWithKey>, "discounts" | "shippingTotal"> => ({
  discounts: lines.map(({ discountAmount }, index) => ({
    amount: discountAmount + (due.included ? due.lineTaxes[index] ?? 0 : 0),
    eligibleLines: [index]
  })),
  shippingTotal: due.included ? shippingTotal - shippingTaxOf(due) : shippingTotal
})

const shippingTaxOf = ({ lineTaxes, taxTotal }: DecidedTax): number =>
  lineTaxes.reduce((left, tax) => left - tax, taxTotal)

/** Totals out of range fail the checkout; they are no defect. */
const totalled = (input: TotalsInput<LineWithKey>): Effect.Effect<OrderTotals<LineWithKey>, CheckoutFailed> =>
  Effect.fromResult(Result.mapError(orderTotals(input), ({ message }) => CheckoutFailed.of(message)))

const assemble = (
  cart: Basket,
  request: PricingRequest,
  buyer: Buyer,
  order: OrderTotals<LineWithKey>,
  applied: AppliedPromotions,
  { promotions }: PricingCandidates,
  shipped: ShippingPrice,
  tax: DecidedTax
): PricedCart => {
  const { provider } = tax
  const taxes = lineTaxShares(tax, order.lines.map(({ taxAmount }) => taxAmount))
  const limits = new Map(promotions.map(({ promotion }) => [promotion.id, customerLimit(promotion)]))
  return {
    currency: cart.currency,
    customerId: buyer.customerId,
    customerGroupIds: buyer.groups,
    profile: buyer.profile,
    email: cart.email,
    cartSecretHash: cart.secretHash,
    lines: order.lines.map((line, index) => ({
      id: line.key,
      ...Struct.pick(line, Struct.keys(Line.fields)),
      ...Struct.pick(line, ["unitPrice", "totalPrice", "discountAmount", "taxAmount", "basePriceId"]),
      taxes: taxes[index] ?? [],
      ...(line.counted ? {} : { counted: false }),
      ...(line.counted && line.backorders > 0 ? { backorders: line.backorders } : {}),
      ...(line.storedValue ? { storedValue: true } : {}),
      ...(line.ships ? {} : { ships: false }),
      ...(line.payableWithStoredValue === line.storedValue
        ? { payableWithStoredValue: line.payableWithStoredValue }
        : {}),
      ...(line.priceSteps === undefined ? {} : { priceSteps: line.priceSteps }),
      ...addedStepsOf(line.addedSteps),
      ...(line.agreed?.isCustomPrice === true ? { isCustomPrice: true } : {}),
      ...(line.agreed === undefined || line.agreed.discount === 0 ? {} : { manualDiscount: line.agreed.discount })
    })),
    promotions: applied.applied.map(({ eligibleLines: _, ...one }) => ({
      ...one,
      perCustomer: limits.get(one.promotionId) ?? null
    })),
    rejectedCodes: applied.rejectedCodes.map(({ code, reason }) => ({ code, reason })),
    ...Struct.pick(order, ["subtotal", "discountTotal", "taxTotal", "taxIncluded", "shippingTotal", "grandTotal"]),
    ...(provider === null ? {} : { taxProvider: provider }),
    shippingMethod: shipped.method,
    shippingRateId: shipped.rateId,
    metadata: request.metadata ?? {}
  }
}
