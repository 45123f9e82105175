import { Effect, Schema } from "effect"
import { type Issue, ValidationFailed } from "../errors/ApiErrors.ts"
import { Uuid } from "../ids/Id.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { Amount, issue, maybe, Time } from "../pricing/Bounds.ts"
import { type NewRecord, withSent } from "../records/RecordService.ts"
import { StorableObject, Text } from "../text/Storable.ts"

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

/** Body of a new rate. */
export const NewShippingRate = Schema.Struct({
  zoneId: Uuid,
  name: Text,
  currency: CurrencyCode,
  amount: Amount,
  minSubtotal: maybe(Amount),
  maxSubtotal: maybe(Amount),
  minWeightGrams: maybe(Amount),
  maxWeightGrams: maybe(Amount),
  freeShippingThreshold: maybe(Amount),
  isActive: Schema.optional(Schema.Boolean),
  metadata: maybe(StorableObject)
})
export type NewShippingRate = typeof NewShippingRate.Type

/** Body of a change: any part of a new one; null empties a field. */
export const ShippingRateChange = Schema.Struct({
  ...NewShippingRate.fields,
  zoneId: Schema.optional(Uuid),
  name: Schema.optional(Text),
  currency: Schema.optional(CurrencyCode),
  amount: Schema.optional(Amount)
})
export type ShippingRateChange = typeof ShippingRateChange.Type

/** Which rates a list shows; a filter that is left out admits all. */
export interface ShippingRateFilter {
  readonly zoneId?: string | undefined
  readonly currency?: string | undefined
}

const bandIssue = (least: number | null, most: number | null, name: string): ReadonlyArray<Issue> =>
  least !== null && most !== null && most < least ? [issue(`max${name}`, `must not be below min${name}`)] : []

/** The rate after a change; 422 if its bands admit nothing. */
export const changedRate = (
  before: ShippingRate,
  sent: ShippingRateChange
): Effect.Effect<ShippingRate, ValidationFailed> => {
  const rate = withSent(before, {
    ...sent,
    zoneId: sent.zoneId?.toLowerCase(),
    metadata: sent.metadata === null ? {} : sent.metadata
  })
  const issues = [
    ...bandIssue(rate.minSubtotal, rate.maxSubtotal, "Subtotal"),
    ...bandIssue(rate.minWeightGrams, rate.maxWeightGrams, "WeightGrams")
  ]
  return issues.length === 0 ? Effect.succeed(rate) : Effect.fail(ValidationFailed.issues(issues))
}

const defaults = {
  minSubtotal: null,
  maxSubtotal: null,
  minWeightGrams: null,
  maxWeightGrams: null,
  freeShippingThreshold: null,
  isActive: true,
  metadata: {}
}

/** The rate of a body; 422 as for a change. */
export const newRate = (sent: NewShippingRate, record: NewRecord): Effect.Effect<ShippingRate, ValidationFailed> => {
  const { amount, currency, name, zoneId } = sent
  return changedRate({ ...record, ...defaults, amount, currency, name, zoneId }, sent)
}
