import { Context, Effect, Schema } from "effect"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { type Issue, ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { OrganizationId, ShippingRateId, ShippingZoneId, TaxClassId } from "../platform/ids/Id.ts"
import { Amount, Currency, CurrencyCode } from "../platform/money/Money.ts"
import type { PageOf, PageRequest } from "../platform/paging/Paging.ts"
import { type RecordRules, type RecordService, withSent } from "../platform/resources/RecordService.ts"
import { issue, maybe } from "../platform/text/Fields.ts"
import { keyText, Metadata, StorableObject, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

const Band = Schema.NullOr(Amount)

export const Estimate = Schema.NullOr(Schema.String).annotate({
  description: "When goods that are shipped at the rate arrive, as shoppers read it.",
  examples: ["1 to 3 working days"]
})

/**
 * A price in minor units of `currency` (contract §3.4). The bands limit the orders it applies to, both ends included;
 * null is open. From `freeShippingThreshold` on shipping is free.
 */
export const ShippingRate = Schema.Struct({
  id: ShippingRateId,
  organizationId: OrganizationId,
  zoneId: ShippingZoneId,
  name: Schema.String,
  currency: Currency,
  amount: Amount,
  minSubtotal: Band,
  maxSubtotal: Band,
  minWeightGrams: Band,
  maxWeightGrams: Band,
  freeShippingThreshold: Band,
  taxClassId: Schema.NullOr(TaxClassId).annotate({
    description: "Shipping at this rate is taxed like goods of the class; null: as the store says for shipping."
  }),
  estimate: Estimate,
  isActive: Schema.Boolean,
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "ShippingRate" })
export type ShippingRate = typeof ShippingRate.Type

export const NewShippingRate = Schema.Struct({
  zoneId: ShippingZoneId,
  name: Text,
  currency: CurrencyCode,
  amount: Amount,
  minSubtotal: maybe(Amount),
  maxSubtotal: maybe(Amount),
  minWeightGrams: maybe(Amount),
  maxWeightGrams: maybe(Amount),
  freeShippingThreshold: maybe(Amount),
  taxClassId: maybe(TaxClassId),
  estimate: maybe(keyText(100).annotate({ description: "Shown to shoppers.", examples: ["1 to 3 working days"] })),
  isActive: Schema.optional(Schema.Boolean),
  metadata: maybe(StorableObject)
})

export const ShippingRateChange = Schema.Struct({
  ...NewShippingRate.fields,
  zoneId: Schema.optional(ShippingZoneId),
  name: Schema.optional(Text),
  currency: Schema.optional(CurrencyCode),
  amount: Schema.optional(Amount)
})

export class RateZoneNotFound extends notFound("RateZone", "Shipping zone not found.") {}

export class RateTaxClassUnknown extends invalid(
  "RateTaxClass",
  "taxClassId",
  "taxClassId is no tax class of this store. Send the id of a tax class, or null.",
  "not_found"
) {}

const bandIssue = (least: number | null, most: number | null, name: string): ReadonlyArray<Issue> =>
  least !== null && most !== null && most < least ? [issue(`max${name}`, `must not be below min${name}.`)] : []

type Rules = RecordRules<
  ShippingRate,
  typeof NewShippingRate.Type,
  typeof ShippingRateChange.Type,
  ValidationFailed
>

const changed: Rules["changed"] = (before, sent) => {
  const metadata = sent.metadata === null ? {} : sent.metadata
  const rate = withSent(before, { ...sent, metadata })
  const issues = [
    ...bandIssue(rate.minSubtotal, rate.maxSubtotal, "Subtotal"),
    ...bandIssue(rate.minWeightGrams, rate.maxWeightGrams, "WeightGrams")
  ]
  return issues.length === 0 ? Effect.succeed(rate) : Effect.fail(ValidationFailed.issues(issues))
}

const open = { minSubtotal: null, maxSubtotal: null, minWeightGrams: null, maxWeightGrams: null }
const defaults = {
  ...open,
  freeShippingThreshold: null,
  taxClassId: null,
  estimate: null,
  isActive: true,
  metadata: {}
}

export const shippingRateRules: Rules = {
  name: "Shipping rate",
  made: (sent, record) => {
    const { amount, currency, name, zoneId } = sent
    return changed({ ...record, ...defaults, amount, currency, name, zoneId }, sent)
  },
  changed
}

type Managed = RecordService<
  ShippingRate,
  typeof NewShippingRate.Type,
  typeof ShippingRateChange.Type,
  RateZoneNotFound | ValidationFailed
>

/**
 * Shipping rates by amount (contract §3.4). 404 for an unknown zone. Orders keep the name and price of a removed rate.
 */
export class ShippingRates extends Context.Service<
  ShippingRates,
  Omit<Managed, "list"> & {
    readonly list: (
      filter: { readonly zoneId?: ShippingZoneId | undefined; readonly currency?: string | undefined },
      page: PageRequest
    ) => Effect.Effect<PageOf<ShippingRate>, never, CurrentActor>
  }
>()("stoa/domain/shipping/ShippingRates") {}
