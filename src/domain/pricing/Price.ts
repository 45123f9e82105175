import { Result, Schema } from "effect"
import { ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { EntityId, OrganizationId, PriceId, VariantId } from "../platform/ids/Id.ts"
import { Amount, Currency, CurrencyCode } from "../platform/money/Money.ts"
import { maybe } from "../platform/text/Fields.ts"
import { Metadata, StorableObject } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { boundsFields, boundsIssues, boundsOver, sentBounds } from "./Bounds.ts"

/**
 * The price of an entity or variant in a currency (spec §2, contract §7). Amounts in minor units; `compareAtAmount` is
 * the reference price. Null bounds are open.
 */
export const Price = Schema.Struct({
  id: PriceId,
  organizationId: OrganizationId,
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  currency: Currency,
  amount: Amount,
  compareAtAmount: Schema.NullOr(Amount),
  ...boundsFields,
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Price" })
export type Price = typeof Price.Type

/**
 * Entity, variant, currency, group, quantities and times together identify the price: setting it again overwrites it
 * (contract §7).
 */
export const SetPrice = Schema.Struct({
  entityId: EntityId,
  variantId: maybe(VariantId),
  currency: CurrencyCode,
  amount: Amount,
  compareAtAmount: maybe(Amount),
  ...sentBounds,
  metadata: maybe(StorableObject)
})
export type SetPrice = typeof SetPrice.Type

export interface PriceFilter {
  readonly entityId?: EntityId | undefined
  readonly variantId?: VariantId | undefined
  readonly currency?: string | undefined
  readonly customerGroupId?: string | undefined
}

/** 422 if the bounds admit nothing. */
export const priceOf = (
  sent: SetPrice,
  record: { readonly id: PriceId; readonly organizationId: string; readonly now: Date }
): Result.Result<Price, ValidationFailed> => {
  const bounds = boundsOver(sent)
  const issues = boundsIssues(bounds)
  if (issues.length > 0) return Result.fail(ValidationFailed.issues(issues))
  return Result.succeed({
    id: record.id,
    organizationId: record.organizationId,
    entityId: sent.entityId,
    variantId: sent.variantId ?? null,
    currency: sent.currency,
    amount: sent.amount,
    compareAtAmount: sent.compareAtAmount ?? null,
    ...bounds,
    metadata: sent.metadata ?? {},
    createdAt: record.now,
    updatedAt: record.now
  })
}
