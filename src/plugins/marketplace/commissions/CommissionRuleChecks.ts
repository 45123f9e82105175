import { ValidationFailed } from "stoa/plugin"
import type { CommissionRule } from "./CommissionChoice.ts"

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
    return ValidationFailed.of("categorySlug", "is needed by a rule for a category")
  }
  if (rule.type === "vendor_tier" && absent(rule.vendorTier)) {
    return ValidationFailed.of("vendorTier", "is needed by a rule for a tier")
  }
  if (rule.type === "volume_tier" && absent(rule.minVolumeCents) && absent(rule.maxVolumeCents)) {
    return ValidationFailed.of("minVolumeCents", "or maxVolumeCents is needed by a rule for a volume")
  }
  if (crossed(rule.minVolumeCents, rule.maxVolumeCents)) {
    return ValidationFailed.of("maxVolumeCents", "is below minVolumeCents")
  }
  if (crossed(rule.minFeeCents, rule.maxFeeCents)) return ValidationFailed.of("maxFeeCents", "is below minFeeCents")
  return crossed(rule.validFrom, rule.validUntil) ? ValidationFailed.of("validUntil", "is before validFrom") : undefined
}
