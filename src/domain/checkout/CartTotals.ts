import { Schema } from "effect"
import { ListPrice } from "../carts/Line.ts"
import { TaxExemption } from "../customers/TaxExemption.ts"
import { OrderTax, orderTaxes } from "../orders/Order.ts"
import { Tender } from "../orders/Tender.ts"
import { countryCode } from "../platform/addresses/CountryFormats.ts"
import { lacksState, type PostalAddress } from "../platform/addresses/PostalAddress.ts"
import { CartLineId } from "../platform/ids/Id.ts"
import { Currency, MinorUnits } from "../platform/money/Money.ts"
import { Requirement, type Settings } from "../platform/settings/StoreSettings.ts"
import { payable } from "../pricing/Totals.ts"
import { type ShippingOption, shownOption } from "../shipping/ShippingRules.ts"
import { Quote, ShippingQuote } from "./Checkout.ts"
import { appliedIn, type PricedCart, totalsOf } from "./PricedCart.ts"

const Minor = MinorUnits

export const Warning = Schema.Struct({
  code: Schema.Literals(["line_unavailable", "shipping_unavailable", "gift_card_refused", "not_priced"]).annotate({
    description:
      "line_unavailable: the item of `lineId` cannot be bought. shipping_unavailable: no rate fits the address. " +
      "gift_card_refused: a card cannot pay. not_priced: the cart has no totals, for the reason in `message`."
  }),
  lineId: Schema.NullOr(CartLineId),
  message: Schema.String
}).annotate({
  identifier: "CartWarning",
  description: "A thing that a checkout would refuse. The totals are without it."
})
export type Warning = typeof Warning.Type

/** Totals that a checkout would charge now (contract-commerce §3). Minor units. */
export const CartTotals = Schema.Struct({
  currency: Currency,
  lines: Schema.Array(Schema.Struct({
    id: CartLineId,
    unitPrice: Minor,
    listPrice: ListPrice,
    subtotal: Minor,
    discount: Minor,
    tax: Minor,
    total: Minor.annotate({ description: "After the discount, with the tax." })
  })),
  subtotal: Minor,
  discountTotal: Minor,
  shippingTotal: Minor,
  taxTotal: Minor,
  taxIncluded: Schema.Boolean.annotate({ description: "The prices contain the tax; the total does not add it." }),
  taxes: Schema.Array(OrderTax).annotate({ description: "Taxes of the lines by name and rate." }),
  taxExemption: Schema.NullOr(TaxExemption).annotate({
    description: "Reason why the buyer pays no tax; null: they do."
  }),
  grandTotal: Minor,
  tenders: Schema.Array(Schema.Struct({
    method: Tender.fields.method,
    label: Tender.fields.label,
    amount: Minor
  })).annotate({
    description: "Payments that the gift cards of the cart would make."
  }),
  amountDue: Minor.annotate({ description: "Amount that is left for the payment method." }),
  appliedPromotions: Quote.fields.appliedPromotions,
  rejectedPromotionCodes: Quote.fields.rejectedPromotionCodes,
  shippingRates: ShippingQuote.fields.rates.annotate({ description: "The first is charged unless another is chosen." }),
  estimated: Schema.Boolean.annotate({
    description: "There is no shipping address: tax and shipping are those of the store's own place."
  }),
  missing: Schema.Array(Requirement).annotate({ description: "Facts about the buyer that a checkout still needs." }),
  warnings: Schema.Array(Warning).annotate({ description: "Things that a checkout would refuse." })
}).annotate({ identifier: "CartTotals", description: "Amounts that a checkout would charge now." })
export type CartTotals = typeof CartTotals.Type

export const QuotedCart = Schema.Struct({ totals: CartTotals }).annotate({ identifier: "QuotedCart" })

/** 409: the total differs from `expectedTotal`; nothing was done. */
export class PriceChanged extends Schema.Error<PriceChanged>("PriceChanged")({
  error: Schema.Struct({
    code: Schema.Literal("PRICE_CHANGED").annotate({ description: "Kind of the error, for programs." }),
    message: Schema.String,
    details: Schema.Struct({
      reason: Schema.Literal("price_changed").annotate({ description: "Cause of the error, for programs." }),
      totals: CartTotals
    }).annotate({ description: "Cause, and the new totals." })
  }).annotate({ description: "Reason why the request was refused." })
}, { httpApiStatus: 409 }) {
  readonly _tag = "PriceChanged"
  static of = (totals: CartTotals) =>
    new PriceChanged({
      error: {
        code: "PRICE_CHANGED",
        message: "The total has changed. Show the new one, and send it as expectedTotal.",
        details: { reason: "price_changed", totals }
      }
    })
}

/** Facts about the buyer. */
export interface Known {
  readonly email: string | null
  readonly shippingAddress: PostalAddress | null | undefined
  readonly billingAddress: PostalAddress | null | undefined
}

const hasText = (text: string | null | undefined) => (text ?? "").trim() !== ""

/** What an address lacks, as the name of its field. */
export const lackOf = (address: PostalAddress, strictAddresses: boolean): "country" | "state" | undefined =>
  countryCode(address.country) === undefined ? "country" : strictAddresses && lacksState(address) ? "state" : undefined

/** Requirements that the buyer has not met. A customer has an e-mail address, a phone number stands in either
 * address; only goods that ship need a shipping address. An incomplete address is missing. */
export const missingOf = (
  { requires, strictAddresses }: Pick<Settings, "requires" | "strictAddresses">,
  { customerId, lines }: Pick<PricedCart, "customerId" | "lines">,
  { billingAddress, email, shippingAddress }: Known
): ReadonlyArray<Requirement> => {
  const isCarried = lines.some((line) => line.ships !== false)
  const isKnown = {
    email: customerId !== null || hasText(email),
    shippingAddress: !isCarried || (shippingAddress ?? null) !== null,
    billingAddress: (billingAddress ?? null) !== null,
    phone: hasText(shippingAddress?.phone) || hasText(billingAddress?.phone)
  }
  const isIncomplete = (address: Known["shippingAddress"]) =>
    address !== null && address !== undefined && lackOf(address, strictAddresses) !== undefined
  const incomplete: ReadonlyArray<Requirement> = [
    ...(isIncomplete(shippingAddress) ? ["shippingAddress" as const] : []),
    ...(isIncomplete(billingAddress) ? ["billingAddress" as const] : [])
  ]
  return [...new Set([...requires.filter((one) => !isKnown[one]), ...incomplete])]
}

export interface TotalsParts extends Pick<CartTotals, "estimated" | "missing" | "tenders" | "warnings"> {
  readonly pricedCart: PricedCart
  readonly cartLineIds: ReadonlyArray<CartLineId | undefined>
  readonly offered: ReadonlyArray<ShippingOption>
}

export const cartTotals = ({ cartLineIds, offered, pricedCart, ...rest }: TotalsParts): CartTotals => {
  const totals = totalsOf(pricedCart)
  const lines = pricedCart.lines.flatMap(({ discountAmount, listPrice, taxAmount, totalPrice, unitPrice }, index) => {
    const id = cartLineIds[index]
    const amounts = { subtotal: totalPrice, discount: discountAmount, tax: taxAmount }
    return id === undefined
      ? []
      : [{
        id,
        unitPrice,
        listPrice,
        ...amounts,
        total: payable({ ...amounts, total: totalPrice, taxIncluded: totals.taxIncluded })
      }]
  })
  return {
    currency: pricedCart.currency,
    lines,
    ...totals,
    taxes: orderTaxes(pricedCart.lines),
    taxExemption: pricedCart.taxExemption ?? null,
    ...rest,
    amountDue: rest.tenders.reduce((due, { amount }) => due - amount, totals.grandTotal),
    appliedPromotions: appliedIn(pricedCart),
    rejectedPromotionCodes: pricedCart.rejectedCodes,
    shippingRates: offered.map(shownOption)
  }
}
