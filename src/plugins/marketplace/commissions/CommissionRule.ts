import { Effect } from "effect"
import {
  amount,
  boolean,
  integer,
  integerBetween,
  invalid,
  isWindow,
  oneOf,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { tiers, vendors } from "../vendors/Vendor.ts"

/** What share of a sale the store keeps (contract, plugins §1.4): basis points, and amounts in minor units. */
export const commissionRules = table("marketplace_commission_rules", {
  name: text,
  type: oneOf(["category", "volume_tier", "vendor_tier", "promotional"]).about("Facts that the rule depends on."),
  categorySlug: text.nullable.about("Category it is for; null: every one."),
  vendorId: uuid.references(vendors).nullable,
  vendorTier: oneOf(tiers).nullable.about("Tier it is for; null: every one."),
  minVolumeCents: amount.nullable.about("Least sales of the month it is for."),
  maxVolumeCents: amount.nullable.about("Most sales of the month it is for."),
  rateBps: integerBetween(0, 10_000).about("Share of the marketplace in hundredths of a per cent."),
  fixedFeeCents: amount.default(0).about("Fee for each line beside the share."),
  minFeeCents: amount.nullable.about("Least fee of a line."),
  maxFeeCents: amount.nullable.about("Most fee of a line."),
  validFrom: timestamp.nullable,
  validUntil: timestamp.until.nullable,
  priority: integer.default(0).about("The highest of the rules that fit counts."),
  isActive: boolean.default(true)
}, { indexes: [{ columns: ["isActive", "createdAt"] }], strict: true })

export type CommissionRule = RowOf<typeof commissionRules>

class RuleFlaw extends invalid("RuleFlaw", (field: string, _: string) => field, (_: string, why: string) => why) {}

type Open<T> = { readonly [K in keyof T]?: T[K] | undefined }

type Bound = number | null

/** Whether both bounds are there and stand the wrong way round. */
const crossed = (from: Bound, until: Bound): boolean => from !== null && until !== null && from > until

type Flaw = readonly [isWrong: boolean, field: string, why: string]

/** 422 for a rule that lacks a field that its type needs, or whose bounds stand the wrong way round; absent is open. */
export const checkRule = ({ type, ...rule }: Pick<CommissionRule, "type"> & Open<CommissionRule>) => {
  const { categorySlug = null, vendorTier = null, validFrom = null, validUntil = null } = rule
  const { minVolumeCents = null, maxVolumeCents = null, minFeeCents = null, maxFeeCents = null } = rule
  const hasNoVolume = minVolumeCents === null && maxVolumeCents === null
  const lacking = (of: CommissionRule["type"], isOpen: boolean, field: string, named = field): Flaw => [
    type === of && isOpen,
    field,
    `${named} is required for a rule of the type ${of}.`
  ]
  const flaws: ReadonlyArray<Flaw> = [
    lacking("category", categorySlug === null, "categorySlug"),
    lacking("vendor_tier", vendorTier === null, "vendorTier"),
    lacking("volume_tier", hasNoVolume, "minVolumeCents", "minVolumeCents or maxVolumeCents"),
    [crossed(minVolumeCents, maxVolumeCents), "maxVolumeCents", "maxVolumeCents must not be below minVolumeCents."],
    [crossed(minFeeCents, maxFeeCents), "maxFeeCents", "maxFeeCents must not be below minFeeCents."],
    [!isWindow(validFrom, validUntil), "validUntil", "validUntil must be after validFrom."]
  ]
  const found = flaws.find(([isWrong]) => isWrong)
  return found === undefined ? Effect.void : Effect.fail(new RuleFlaw(found[1], found[2]))
}
