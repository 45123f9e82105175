import { Result, Schema } from "effect"
import { type Issue, ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { notFound } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { EntityId, OrganizationId, PromotionId } from "../platform/ids/Id.ts"
import { Amount, CurrencyCode } from "../platform/money/Money.ts"
import { issue, maybe, over, Priority, Units } from "../platform/text/Fields.ts"
import { Metadata, ShortText, StorableObject, Text } from "../platform/text/Storable.ts"
import { Moment, Time, Until, windowIssues } from "../platform/text/Time.ts"
import { isFixed, isPercentage, normalizeCodes, PromotionType } from "./PromotionRules.ts"

const list = Schema.Array(Text).check(Schema.isMaxLength(100))
const Flag = Schema.optional(Schema.Boolean)

const Conditions = Schema.Struct({
  minimumOrderValue: Schema.optional(Amount),
  minimumQuantity: Schema.optional(Units).pipe(about("Least units in the cart.")),
  entityTypes: Schema.optional(list).pipe(about("Types of entities it is for.")),
  categories: Schema.optional(list.annotate({ description: "Slugs of categories." })),
  customerGroups: Schema.optional(list).pipe(about("Groups of customers it is for.")),
  firstOrderOnly: Flag.pipe(about("Only for the first order of a customer."))
}).annotate({ description: "An order has to meet all of them; absent ones admit every order." })

/**
 * A promotion (spec §2, contract §8). `value` is a percentage 0 to 100 with decimals, or minor units of `currency` for
 * the fixed kinds. Without a code it applies only when `isAutomatic`.
 */
export const Promotion = Schema.Struct({
  id: PromotionId,
  organizationId: OrganizationId,
  code: Schema.NullOr(Schema.String).pipe(
    about("Word that shoppers enter, in upper case; null: the promotion is automatic.")
  ),
  name: Schema.String,
  type: PromotionType.pipe(about("Kind of discount.")),
  value: Schema.Finite.pipe(about("Percentage from 0 to 100, or minor units of `currency` for the fixed types.")),
  currency: Schema.NullOr(Schema.String),
  buyQuantity: Schema.NullOr(Schema.Int).pipe(about("Units to buy for `getQuantity`.")),
  getQuantity: Schema.NullOr(Schema.Int).pipe(about("Units that are discounted.")),
  isAutomatic: Schema.Boolean.pipe(about("Applies without a code.")),
  isActive: Schema.Boolean,
  stackable: Schema.Boolean.pipe(about("Applies beside others.")),
  priority: Schema.Int.pipe(about("Lower goes first.")),
  conditions: Conditions,
  usageLimitTotal: Schema.NullOr(Schema.Int).pipe(about("Uses by all customers; null: no limit.")),
  usageLimitPerCustomer: Schema.NullOr(Schema.Int).pipe(about("Uses by one customer; null: no limit.")),
  usedCount: Schema.Int.pipe(about("Uses so far.")),
  validFrom: Schema.NullOr(Time),
  validUntil: Schema.NullOr(Time),
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Promotion" })
export type Promotion = typeof Promotion.Type

const Value = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

const Limit = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))

const Code = Text.check(Schema.isPattern(/\S/, { expected: "a text that is not blank" }))

const optional = {
  code: maybe(Code).pipe(about("Word that shoppers enter, kept in upper case without surrounding spaces.")),
  currency: maybe(CurrencyCode),
  buyQuantity: maybe(Units).pipe(about("Units to buy for `getQuantity`.")),
  getQuantity: maybe(Units).pipe(about("Units that are discounted.")),
  isAutomatic: Flag.pipe(about("Applies without a code.")),
  isActive: Flag,
  stackable: Flag.pipe(about("Applies beside others.")),
  priority: Schema.optional(Priority).pipe(about("Lower goes first.")),
  conditions: maybe(Conditions),
  usageLimitTotal: maybe(Limit).pipe(about("Uses by all customers; null: no limit.")),
  usageLimitPerCustomer: maybe(Limit).pipe(about("Uses by one customer; null: no limit.")),
  validFrom: maybe(Moment),
  validUntil: maybe(Until),
  metadata: maybe(StorableObject)
}

export const NewPromotion = Schema.Struct({
  name: Text,
  type: PromotionType.pipe(about("Kind of discount.")),
  value: Value.pipe(about("Percentage from 0 to 100, or minor units of `currency` for the fixed types.")),
  ...optional
})
export type NewPromotion = typeof NewPromotion.Type

export const PromotionChange = Schema.Struct({
  name: Schema.optional(Text),
  type: Schema.optional(PromotionType).pipe(about("Kind of discount.")),
  value: Schema.optional(Value).pipe(
    about("Percentage from 0 to 100, or minor units of `currency` for the fixed types.")
  ),
  ...optional
})
export type PromotionChange = typeof PromotionChange.Type

/** `active` is switched on and within its window now; `scheduled` begins later. */
export const PromotionStatus = Schema.Literals(["active", "inactive", "expired", "scheduled", "all"])
export type PromotionStatus = typeof PromotionStatus.Type

export class PromotionNotFound extends notFound("Promotion", "Promotion not found.") {}

const valueIssues = ({ type, value }: Promotion): ReadonlyArray<Issue> =>
  isPercentage(type)
    ? value > 100 ? [issue("value", "must be a percentage from 0 to 100.", "too_large")] : []
    : Number.isSafeInteger(value)
    ? []
    : [issue("value", "must be a whole number.", "type")]

const groupIssues = ({ buyQuantity, getQuantity, type }: Promotion): ReadonlyArray<Issue> =>
  type !== "buy_x_get_y" ? [] : [
    ...(buyQuantity === null ? [issue("buyQuantity", "is required for buy_x_get_y.", "required")] : []),
    ...(getQuantity === null ? [issue("getQuantity", "is required for buy_x_get_y.", "required")] : [])
  ]

const issuesOf = (promotion: Promotion): ReadonlyArray<Issue> => [
  ...valueIssues(promotion),
  ...groupIssues(promotion),
  ...(promotion.usageLimitTotal !== null && promotion.usageLimitTotal < promotion.usedCount
    ? [issue("usageLimitTotal", `must not be below the ${promotion.usedCount} uses so far.`, "too_small")]
    : []),
  ...windowIssues(promotion, "validFrom", "validUntil")
]

/** A fixed amount is in the store's currency when none was named (contract §8). */
const checked = (draft: Promotion, defaultCurrency: string): Result.Result<Promotion, ValidationFailed> => {
  const promotion = { ...draft, currency: draft.currency ?? (isFixed(draft.type) ? defaultCurrency : null) }
  const issues = issuesOf(promotion)
  return issues.length === 0 ? Result.succeed(promotion) : Result.fail(ValidationFailed.issues(issues))
}

const codeOf = (sent: string | null): string | null => sent === null ? null : normalizeCodes([sent])[0] ?? null

export const promotionOf = (
  sent: NewPromotion,
  record: {
    readonly id: PromotionId
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

const TrialLine = Schema.Struct({
  entityId: EntityId,
  entityType: ShortText.pipe(about("Type of the entity, such as product.")),
  quantity: Units,
  unitPrice: Amount,
  totalPrice: Amount
})

/**
 * A code and an order in minor units (spec §2). `customerId` and `customerGroupIds` count only for actors with
 * `customers:read`.
 */
export const PromotionTrial = Schema.Struct({
  code: Text.pipe(about("Code to try, in any case.")),
  currency: CurrencyCode,
  subtotal: Amount,
  lineItems: Schema.Array(TrialLine).check(Schema.isMaxLength(1000)),
  customerId: maybe(ShortText),
  customerGroupIds: maybe(Schema.Array(ShortText).check(Schema.isMaxLength(100)))
})
export type PromotionTrial = typeof PromotionTrial.Type

export const PromotionQuote = Schema.Struct({
  totalDiscount: Amount,
  freeShipping: Schema.Boolean.pipe(about("Shipping costs nothing.")),
  applied: Schema.Array(Schema.Struct({
    promotionId: PromotionId,
    code: Schema.NullOr(Schema.String).pipe(
      about("Word that shoppers enter, in upper case; null: the promotion is automatic.")
    ),
    type: PromotionType.pipe(about("Kind of discount.")),
    discountAmount: Amount,
    freeShipping: Schema.Boolean.pipe(about("Shipping costs nothing.")),
    description: Schema.String
  })).pipe(about("The promotion of the code.")),
  rejectedCodes: Schema.Array(Schema.Struct({
    code: Schema.String.pipe(about("Code as it was sent.")),
    reason: Schema.String.pipe(about("Sentence for shoppers."))
  })).pipe(about("Always empty: a code without effect is an error."))
}).annotate({ identifier: "PromotionQuote" })
export type PromotionQuote = typeof PromotionQuote.Type

declare module "../platform/hooks/HookMap.ts" {
  interface AfterHooks {
    readonly "promotions.afterCreate": { readonly result: Promotion; readonly data: never }
    readonly "promotions.afterUpdate": { readonly result: Promotion; readonly data: never }
  }
}
