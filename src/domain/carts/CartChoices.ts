import { Schema, Struct } from "effect"
import { addressIn, KeptAddress, PostalAddress } from "../platform/addresses/PostalAddress.ts"
import { about } from "../platform/hints/Hints.ts"
import { CurrencyCode } from "../platform/money/Money.ts"
import { Email } from "../platform/text/Email.ts"
import { maybe } from "../platform/text/Fields.ts"
import { FreeText, keyText, ShopperObject, ShortText, Text } from "../platform/text/Storable.ts"

export const maxTenders = 10

export const GiftCardCode = FreeText.check(Schema.isBetweenLength(4, 64))

export const PromotionCodes = Schema.Array(ShortText).check(Schema.isMaxLength(50)).annotate({
  description: "Codes to apply, in any case.",
  examples: [["WELCOME10"]]
})

const shown = {
  shippingAddress: Schema.NullOr(KeptAddress),
  billingAddress: Schema.NullOr(KeptAddress),
  shippingRateId: Schema.NullOr(Schema.String),
  promotionCodes: Schema.Array(Schema.String).pipe(about("Codes that the buyer entered.")),
  note: Schema.NullOr(Schema.String),
  locale: Schema.NullOr(Schema.String)
}

const ShownCard = Schema.Struct({
  lastFour: Schema.String.annotate({ description: "The end of its code.", examples: ["7K2M"] })
})

/** `token` is the code as its payment provider may keep it, never the code itself. */
const ChosenCard = Schema.Struct({ token: Schema.String, ...ShownCard.fields })
export type ChosenCard = typeof ChosenCard.Type

/** Choices of the buyer, for a checkout whose request does not name them (contract-commerce §3). */
export const CartChoices = Schema.Struct({ ...shown, giftCards: Schema.Array(ChosenCard) })
export type CartChoices = typeof CartChoices.Type

export const ChangedChoices = CartChoices.mapFields(Struct.map(Schema.optionalKey))

export const noChoices: CartChoices = {
  shippingAddress: null,
  billingAddress: null,
  shippingRateId: null,
  promotionCodes: [],
  note: null,
  locale: null,
  giftCards: []
}

/** Reads the addresses as requests are read; one that is older than their rule is marked. */
export const withAddresses = <C extends Partial<CartChoices>>(stored: C): C => ({
  ...stored,
  ...(stored.shippingAddress ? { shippingAddress: addressIn(stored.shippingAddress) } : {}),
  ...(stored.billingAddress ? { billingAddress: addressIn(stored.billingAddress) } : {})
})

/** Adds the fields that a row leaves out. */
export const readChoices = (stored: Partial<CartChoices>): CartChoices => ({ ...noChoices, ...withAddresses(stored) })

export const ShownChoices = Schema.Struct({
  ...shown,
  giftCards: Schema.Array(ShownCard).pipe(about("Gift cards that pay first, in their order."))
})

export const shownChoices = ({ giftCards, ...choices }: CartChoices): typeof ShownChoices.Type => ({
  ...choices,
  giftCards: giftCards.map(({ lastFour }) => ({ lastFour }))
})

/** Fields that `POST /carts` takes too. Absent stays, null takes away. */
export const sentChoices = {
  shippingAddress: maybe(PostalAddress),
  billingAddress: maybe(PostalAddress),
  shippingRateId: maybe(Text.annotate({ description: "One of totals.shippingRates." })),
  promotionCodes: maybe(PromotionCodes),
  giftCardCodes: maybe(
    Schema.Array(GiftCardCode).check(Schema.isMaxLength(maxTenders)).annotate({
      description: "Gift cards that pay first. The cart keeps a hash of each code, and shows its last four characters.",
      examples: [["ABCD-EFGH-JKMN-7K2M"]]
    })
  ),
  note: maybe(FreeText.check(Schema.isMaxLength(500)).annotate({ description: "A remark for the shop." })),
  locale: maybe(keyText(35).annotate({ description: "The buyer's language.", examples: ["de-AT"] })),
  metadata: maybe(ShopperObject)
}

/** Body of `PATCH /carts/{id}` and of its quote. Absent stays, null takes away. */
export const CartChange = Schema.Struct({
  email: maybe(Email),
  currency: Schema.optional(
    CurrencyCode.annotate({ description: "Sets the prices of the lines again. 422 names lines without a price in it." })
  ),
  ...sentChoices
}).annotate({ identifier: "CartChange" })
export type CartChange = typeof CartChange.Type
