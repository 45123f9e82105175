import { invalid, type ValidationFailed } from "stoa/plugin"
import type { CommissionRule } from "./CommissionChoice.ts"

class CategoryNeeded extends invalid("CategoryNeeded", "categorySlug", "is needed by a rule for a category") {}
class TierNeeded extends invalid("TierNeeded", "vendorTier", "is needed by a rule for a tier") {}
class VolumeNeeded
  extends invalid("VolumeNeeded", "minVolumeCents", "or maxVolumeCents is needed by a rule for a volume")
{}
class VolumesCrossed extends invalid("VolumesCrossed", "maxVolumeCents", "is below minVolumeCents") {}
class FeesCrossed extends invalid("FeesCrossed", "maxFeeCents", "is below minFeeCents") {}
class TimesCrossed extends invalid("TimesCrossed", "validUntil", "is before validFrom") {}

type Checked =
  | "categorySlug"
  | "vendorTier"
  | "minVolumeCents"
  | "maxVolumeCents"
  | "minFeeCents"
  | "maxFeeCents"
  | "validFrom"
  | "validUntil"

/** What of a rule has to fit together. */
export type RuleToCheck = Pick<CommissionRule, "type"> & { readonly [K in Checked]?: CommissionRule[K] | undefined }

const absent = (value: unknown): boolean => value === null || value === undefined

/** Whether both bounds are there and stand the wrong way round. */
const crossed = (from: number | Date | null | undefined, until: number | Date | null | undefined): boolean =>
  from !== null && from !== undefined && until !== null && until !== undefined && from > until

/** Why a rule cannot be: a field that its type needs is missing, or bounds stand the wrong way round. */
export const flawOf = (rule: RuleToCheck): ValidationFailed | undefined => {
  if (rule.type === "category" && absent(rule.categorySlug)) {
    return new CategoryNeeded()
  }
  if (rule.type === "vendor_tier" && absent(rule.vendorTier)) {
    return new TierNeeded()
  }
  if (rule.type === "volume_tier" && absent(rule.minVolumeCents) && absent(rule.maxVolumeCents)) {
    return new VolumeNeeded()
  }
  if (crossed(rule.minVolumeCents, rule.maxVolumeCents)) {
    return new VolumesCrossed()
  }
  if (crossed(rule.minFeeCents, rule.maxFeeCents)) return new FeesCrossed()
  return crossed(rule.validFrom, rule.validUntil) ? new TimesCrossed() : undefined
}
