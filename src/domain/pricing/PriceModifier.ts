import { Result, Schema } from "effect"
import { type Issue, ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { about } from "../platform/hints/Hints.ts"
import { EntityId, OrganizationId, PriceModifierId, VariantId } from "../platform/ids/Id.ts"
import { Amount, CurrencyCode } from "../platform/money/Money.ts"
import { issue, maybe, over, Priority } from "../platform/text/Fields.ts"
import { Metadata, StorableObject, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { boundsFields, boundsIssues, boundsOver, sentBounds } from "./Bounds.ts"
import type { Price } from "./Price.ts"
import { largestPercentage, ModifierType } from "./PriceResolution.ts"

/**
 * A rule that changes resolved prices (contract §7). `value` is an integer percentage for `percentage_discount` (0 to
 * 100) and `percentage_markup` (0 to 1000), minor units of `currency` for the others. Null: any.
 */
export const PriceModifier = Schema.Struct({
  id: PriceModifierId,
  organizationId: OrganizationId,
  name: Schema.String,
  type: ModifierType,
  value: Amount,
  priority: Schema.Int.pipe(about("Lower goes first.")),
  entityId: Schema.NullOr(EntityId),
  variantId: Schema.NullOr(VariantId),
  currency: Schema.NullOr(Schema.String),
  ...boundsFields,
  conditions: Schema.Record(Schema.String, Schema.Unknown).pipe(
    about("minSubtotal: least subtotal of the cart, in minor units. Other keys have no effect.")
  ),
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "PriceModifier" })
export type PriceModifier = typeof PriceModifier.Type

const isMinimum = Schema.is(Amount)

const Conditions = StorableObject.check(
  Schema.makeFilter((conditions) =>
    conditions["minSubtotal"] === undefined || isMinimum(conditions["minSubtotal"]) ||
    { path: ["minSubtotal"], issue: "must be an amount in minor units." }
  )
)

const optional = {
  entityId: maybe(EntityId),
  variantId: maybe(VariantId),
  currency: maybe(CurrencyCode),
  priority: Schema.optional(Priority).pipe(about("Lower goes first.")),
  conditions: maybe(Conditions).pipe(
    about("minSubtotal: least subtotal of the cart, in minor units. Other keys have no effect.")
  ),
  metadata: maybe(StorableObject),
  ...sentBounds
}

/** Fixed kinds need a currency, a discount is at most 100 per cent (contract §7.3). */
export const NewPriceModifier = Schema.Struct({ name: Text, type: ModifierType, value: Amount, ...optional })
export type NewPriceModifier = typeof NewPriceModifier.Type

export const PriceModifierChange = Schema.Struct({
  name: Schema.optional(Text),
  type: Schema.optional(ModifierType),
  value: Schema.optional(Amount),
  ...optional
})
export type PriceModifierChange = typeof PriceModifierChange.Type

export interface PriceModifierFilter {
  readonly entityId?: EntityId | undefined
  readonly currency?: string | undefined
  readonly active?: boolean | undefined
}

const valueIssues = ({ currency, type, value }: PriceModifier): ReadonlyArray<Issue> => {
  const largest = largestPercentage(type)
  if (largest !== undefined) {
    return value > largest
      ? [issue("value", `must be a percentage from 0 to ${largest}.`, "too_large")]
      : []
  }
  // Without a currency the same number would be subtracted from pounds and yen.
  return currency === null ? [issue("currency", `is required for a modifier of type ${type}.`, "required")] : []
}

const issuesOf = (modifier: PriceModifier): ReadonlyArray<Issue> => [
  ...valueIssues(modifier),
  ...boundsIssues(modifier)
]

const checked = (modifier: PriceModifier): Result.Result<PriceModifier, ValidationFailed> => {
  const issues = issuesOf(modifier)
  return issues.length === 0 ? Result.succeed(modifier) : Result.fail(ValidationFailed.issues(issues))
}

export const modifierOf = (
  sent: NewPriceModifier,
  record: { readonly id: PriceModifierId; readonly organizationId: string; readonly now: Date }
): Result.Result<PriceModifier, ValidationFailed> =>
  checked({
    id: record.id,
    organizationId: record.organizationId,
    name: sent.name,
    type: sent.type,
    value: sent.value,
    priority: sent.priority ?? 100,
    entityId: sent.entityId ?? null,
    variantId: sent.variantId ?? null,
    currency: sent.currency ?? null,
    ...boundsOver(sent),
    conditions: sent.conditions ?? {},
    metadata: sent.metadata ?? {},
    createdAt: record.now,
    updatedAt: record.now
  })

export const changedModifier = (
  before: PriceModifier,
  sent: PriceModifierChange,
  now: Date
): Result.Result<PriceModifier, ValidationFailed> =>
  checked({
    ...before,
    name: sent.name ?? before.name,
    type: sent.type ?? before.type,
    value: sent.value ?? before.value,
    priority: sent.priority ?? before.priority,
    entityId: over(sent.entityId, before.entityId),
    variantId: over(sent.variantId, before.variantId),
    currency: over(sent.currency, before.currency),
    ...boundsOver(sent, before),
    conditions: over(sent.conditions, before.conditions) ?? {},
    metadata: over(sent.metadata, before.metadata) ?? {},
    updatedAt: now
  })

declare module "../platform/hooks/HookMap.ts" {
  interface AfterHooks {
    readonly "pricing.afterCreate": { readonly result: Price | PriceModifier; readonly data: never }
    readonly "pricing.afterUpdate": { readonly result: Price | PriceModifier; readonly data: never }
  }
}
