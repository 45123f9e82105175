import { Result, Schema } from "effect"
import { type Issue, ValidationFailed } from "../errors/ApiErrors.ts"
import { Uuid } from "../ids/Id.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { Amount, issue, maybe, over, Time } from "../pricing/Bounds.ts"
import { StorableObject, Text } from "../text/Storable.ts"

/** Bands of a rate: what an order costs after its discount in minor units, and what it weighs in grams. */
const bands = ["minSubtotal", "maxSubtotal", "minWeightGrams", "maxWeightGrams", "freeShippingThreshold"] as const

const Band = Schema.NullOr(Amount)

/**
 * The price of shipping into a zone, in minor units of `currency` (contract §3.4). The bands limit the orders it
 * applies to, both ends included; null is open. From `freeShippingThreshold` on shipping is free.
 */
export const ShippingRate = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  zoneId: Uuid,
  name: Schema.String,
  currency: Schema.String,
  amount: Amount,
  minSubtotal: Band,
  maxSubtotal: Band,
  minWeightGrams: Band,
  maxWeightGrams: Band,
  freeShippingThreshold: Band,
  isActive: Schema.Boolean,
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "ShippingRate" })
export type ShippingRate = typeof ShippingRate.Type

const optional = {
  minSubtotal: maybe(Amount),
  maxSubtotal: maybe(Amount),
  minWeightGrams: maybe(Amount),
  maxWeightGrams: maybe(Amount),
  freeShippingThreshold: maybe(Amount),
  isActive: Schema.optional(Schema.Boolean),
  metadata: maybe(StorableObject)
}

/** Body of a new rate. */
export const NewShippingRate = Schema.Struct({
  zoneId: Uuid,
  name: Text,
  currency: CurrencyCode,
  amount: Amount,
  ...optional
})
export type NewShippingRate = typeof NewShippingRate.Type

/** Body of a change: any part of a new one; null empties a field. */
export const ShippingRateChange = Schema.Struct({
  zoneId: Schema.optional(Uuid),
  name: Schema.optional(Text),
  currency: Schema.optional(CurrencyCode),
  amount: Schema.optional(Amount),
  ...optional
})
export type ShippingRateChange = typeof ShippingRateChange.Type

/** Which rates a list shows; a filter that is left out admits all. */
export interface ShippingRateFilter {
  readonly zoneId?: string | undefined
  readonly currency?: string | undefined
}

const bandIssue = (least: number | null, most: number | null, name: string): ReadonlyArray<Issue> =>
  least !== null && most !== null && most < least ? [issue(`max${name}`, `must not be below min${name}`)] : []

const checked = (rate: ShippingRate): Result.Result<ShippingRate, ValidationFailed> => {
  const issues = [
    ...bandIssue(rate.minSubtotal, rate.maxSubtotal, "Subtotal"),
    ...bandIssue(rate.minWeightGrams, rate.maxWeightGrams, "WeightGrams")
  ]
  return issues.length === 0 ? Result.succeed(rate) : Result.fail(ValidationFailed.issues(issues))
}

type Bands = Pick<ShippingRate, typeof bands[number]>

const bandsOver = (sent: { readonly [Key in keyof Bands]?: Bands[Key] | undefined }, before?: Bands): Bands => ({
  minSubtotal: over(sent.minSubtotal, before?.minSubtotal ?? null),
  maxSubtotal: over(sent.maxSubtotal, before?.maxSubtotal ?? null),
  minWeightGrams: over(sent.minWeightGrams, before?.minWeightGrams ?? null),
  maxWeightGrams: over(sent.maxWeightGrams, before?.maxWeightGrams ?? null),
  freeShippingThreshold: over(sent.freeShippingThreshold, before?.freeShippingThreshold ?? null)
})

/** The rate of a request body; 422 if its bands admit nothing. */
export const rateOf = (
  sent: NewShippingRate,
  record: { readonly id: string; readonly organizationId: string; readonly now: Date }
): Result.Result<ShippingRate, ValidationFailed> =>
  checked({
    id: record.id,
    organizationId: record.organizationId,
    zoneId: sent.zoneId.toLowerCase(),
    name: sent.name,
    currency: sent.currency,
    amount: sent.amount,
    ...bandsOver(sent),
    isActive: sent.isActive ?? true,
    metadata: sent.metadata ?? {},
    createdAt: record.now,
    updatedAt: record.now
  })

/** The record after a change; the rules apply to the complete record, not only to the sent fields. */
export const changedRate = (
  before: ShippingRate,
  sent: ShippingRateChange,
  now: Date
): Result.Result<ShippingRate, ValidationFailed> =>
  checked({
    ...before,
    zoneId: sent.zoneId?.toLowerCase() ?? before.zoneId,
    name: sent.name ?? before.name,
    currency: sent.currency ?? before.currency,
    amount: sent.amount ?? before.amount,
    ...bandsOver(sent, before),
    isActive: sent.isActive ?? before.isActive,
    metadata: over(sent.metadata, before.metadata) ?? {},
    updatedAt: now
  })
