import { Context, Schema } from "effect"
import { option, Text } from "stoa/plugin"

const from = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** At least 16 signs, and no more text than a balance inquiry takes. */
const CodeFormat = Schema.String.check(
  Schema.isMaxLength(30),
  Schema.makeFilter((format: string) =>
    /^X+(-X+)*$/.test(format) && format.replaceAll("-", "").length >= 16 || "must be 16 or more X in groups."
  )
)

/** What a deployment decides of its gift cards (contract, plugins §12). */
export const GiftCardSettings = Schema.Struct({
  codeFormat: option(CodeFormat, {
    default: "XXXX-XXXX-XXXX-XXXX",
    description: "How codes are drawn and written: at least 16 signs"
  }),
  defaultExpiryDays: option(from(0, 36_500), {
    default: 0,
    description: "Days after which a new card expires; 0: never"
  }),
  maxBalancePerCard: option(from(1, 1_000_000_000_000), {
    default: 1_000_000,
    description: "The most that staff may put on a card, in minor units"
  }),
  emailTemplate: option(Text, { default: "gift-card-delivery", description: "Name of the mail after `gift-cards/`" }),
  productType: option(Text, { default: "gift_card", description: "Type of the entities whose sale issues cards" }),
  maxUnitsPerLine: option(from(1, 9_999), {
    default: 100,
    description: "The most cards of a line of a cart: each is written and mailed alone"
  }),
  singlePurpose: option(Schema.Boolean, {
    default: false,
    description: "New cards are taxed when they are sold, and not what they pay for"
  }),
  holdHours: option(from(1, 2_400), {
    default: 168,
    description: "Hours for which an order that is not captured sets money of a card aside"
  })
})
export type GiftCardSettings = typeof GiftCardSettings.Type

export class GiftCardOptions
  extends Context.Service<GiftCardOptions, GiftCardSettings>()("stoa/plugins/gift-cards/GiftCardOptions")
{}
