import { Result } from "effect"
import { type Issue, ValidationFailed } from "../errors/ApiErrors.ts"
import { issue, over, windowIssues } from "../pricing/Bounds.ts"
import type { NewPromotion, Promotion, PromotionChange } from "./Promotion.ts"
import { isFixed, isPercentage, normalizeCodes } from "./PromotionRules.ts"

const valueIssues = ({ type, value }: Promotion): ReadonlyArray<Issue> =>
  isPercentage(type)
    ? value > 100 ? [issue("value", "must be a percentage from 0 to 100")] : []
    : Number.isSafeInteger(value)
    ? []
    : [issue("value", "must be an integer")]

const groupIssues = ({ buyQuantity, getQuantity, type }: Promotion): ReadonlyArray<Issue> =>
  type !== "buy_x_get_y" ? [] : [
    ...(buyQuantity === null ? [issue("buyQuantity", "is required for buy_x_get_y")] : []),
    ...(getQuantity === null ? [issue("getQuantity", "is required for buy_x_get_y")] : [])
  ]

const issuesOf = (promotion: Promotion): ReadonlyArray<Issue> => [
  ...valueIssues(promotion),
  ...groupIssues(promotion),
  ...(promotion.usageLimitTotal !== null && promotion.usageLimitTotal < promotion.usedCount
    ? [issue("usageLimitTotal", `must not be below the ${promotion.usedCount} uses so far`)]
    : []),
  ...windowIssues(promotion.validFrom, promotion.validUntil)
]

/** A fixed amount is an amount of some currency: the store's when none was named (contract §8). */
const checked = (draft: Promotion, defaultCurrency: string): Result.Result<Promotion, ValidationFailed> => {
  const promotion = { ...draft, currency: draft.currency ?? (isFixed(draft.type) ? defaultCurrency : null) }
  const issues = issuesOf(promotion)
  return issues.length === 0 ? Result.succeed(promotion) : Result.fail(ValidationFailed.issues(issues))
}

const codeOf = (sent: string | null): string | null => sent === null ? null : normalizeCodes([sent])[0] ?? null

/** The record a body describes; 422 when its parts contradict one another (contract §8). */
export const promotionOf = (
  sent: NewPromotion,
  record: {
    readonly id: string
    readonly organizationId: string
    readonly now: Date
    readonly defaultCurrency: string
  }
): Result.Result<Promotion, ValidationFailed> =>
  checked({
    id: record.id,
    organizationId: record.organizationId,
    code: codeOf(sent.code ?? null),
    name: sent.name,
    type: sent.type,
    value: sent.value,
    currency: sent.currency ?? null,
    buyQuantity: sent.buyQuantity ?? null,
    getQuantity: sent.getQuantity ?? null,
    isAutomatic: sent.isAutomatic ?? false,
    isActive: sent.isActive ?? true,
    stackable: sent.stackable ?? true,
    priority: sent.priority ?? 100,
    conditions: sent.conditions ?? {},
    usageLimitTotal: sent.usageLimitTotal ?? null,
    usageLimitPerCustomer: sent.usageLimitPerCustomer ?? null,
    usedCount: 0,
    validFrom: sent.validFrom ?? null,
    validUntil: sent.validUntil ?? null,
    metadata: sent.metadata ?? {},
    createdAt: record.now,
    updatedAt: record.now
  }, record.defaultCurrency)

/** The record after a change; the rules apply to the complete record, not only to the sent fields. */
export const changedPromotion = (
  before: Promotion,
  sent: PromotionChange,
  at: { readonly now: Date; readonly defaultCurrency: string }
): Result.Result<Promotion, ValidationFailed> =>
  checked({
    ...before,
    code: codeOf(over(sent.code, before.code)),
    name: sent.name ?? before.name,
    type: sent.type ?? before.type,
    value: sent.value ?? before.value,
    currency: over(sent.currency, before.currency),
    buyQuantity: over(sent.buyQuantity, before.buyQuantity),
    getQuantity: over(sent.getQuantity, before.getQuantity),
    isAutomatic: sent.isAutomatic ?? before.isAutomatic,
    isActive: sent.isActive ?? before.isActive,
    stackable: sent.stackable ?? before.stackable,
    priority: sent.priority ?? before.priority,
    conditions: over(sent.conditions, before.conditions) ?? {},
    usageLimitTotal: over(sent.usageLimitTotal, before.usageLimitTotal),
    usageLimitPerCustomer: over(sent.usageLimitPerCustomer, before.usageLimitPerCustomer),
    validFrom: over(sent.validFrom, before.validFrom),
    validUntil: over(sent.validUntil, before.validUntil),
    metadata: over(sent.metadata, before.metadata) ?? {},
    updatedAt: at.now
  }, at.defaultCurrency)
