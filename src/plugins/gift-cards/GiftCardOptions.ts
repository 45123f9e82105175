import { Context, Schema } from "effect"
import { setting, Text } from "stoa/plugin"

const from = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** At least 16 signs, and no more text than a balance inquiry takes. */
const CodeFormat = Schema.String.check(
  Schema.isMaxLength(30),
  Schema.makeFilter((format: string) =>
    /^X+(-X+)*$/.test(format) && format.replaceAll("-", "").length >= 16 || "must be 16 or more X in groups"
  )
)

/** What a deployment decides of its gift cards (contract, plugins §12). */
export const GiftCardSettings = Schema.Struct({
  codeFormat: setting(CodeFormat, "XXXX-XXXX-XXXX-XXXX", "How codes are drawn and written: at least 16 signs"),
  defaultExpiryDays: setting(from(0, 36_500), 0, "Days after which a new card expires; 0: never"),
  maxBalancePerCard: setting(
    from(1, 1_000_000_000_000),
    1_000_000,
    "The most that staff may put on a card, in minor units"
  ),
  emailTemplate: setting(Text, "gift-card-delivery", "Name of the mail after `gift-cards/`"),
  productType: setting(Text, "gift_card", "Type of the entities whose sale issues cards"),
  holdHours: setting(from(1, 2_400), 168, "Hours for which an order that is not captured sets money of a card aside")
})
export type GiftCardSettings = typeof GiftCardSettings.Type

export class GiftCardOptions
  extends Context.Service<GiftCardOptions, GiftCardSettings>()("stoa/plugins/gift-cards/GiftCardOptions")
{}
