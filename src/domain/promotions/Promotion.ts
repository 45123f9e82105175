import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { Amount, maybe, Moment, Priority, Time, Units } from "../pricing/Bounds.ts"
import { StorableObject, Text } from "../text/Storable.ts"
import { PromotionType } from "./PromotionRules.ts"

const list = Schema.Array(Text).check(Schema.isMaxLength(100))
const Flag = Schema.optional(Schema.Boolean)

/** What an order must fulfil; what is left out admits everything (contract §8). */
const Conditions = Schema.Struct({
  minimumOrderValue: Schema.optional(Amount),
  minimumQuantity: Schema.optional(Units),
  entityTypes: Schema.optional(list),
  categories: Schema.optional(list.annotate({ description: "Slugs of categories." })),
  customerGroups: Schema.optional(list),
  firstOrderOnly: Flag
})

/**
 * A promotion (spec §2, contract §8). `value` is a percentage 0 to 100 with decimals, or minor units of `currency` for
 * the fixed kinds. Without a code it applies only when `isAutomatic`. `usedCount` is how many orders used it.
 */
export const Promotion = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  code: Schema.NullOr(Schema.String),
  name: Schema.String,
  type: PromotionType,
  value: Schema.Finite,
  currency: Schema.NullOr(Schema.String),
  buyQuantity: Schema.NullOr(Schema.Int),
  getQuantity: Schema.NullOr(Schema.Int),
  isAutomatic: Schema.Boolean,
  isActive: Schema.Boolean,
  stackable: Schema.Boolean,
  priority: Schema.Int,
  conditions: Conditions,
  usageLimitTotal: Schema.NullOr(Schema.Int),
  usageLimitPerCustomer: Schema.NullOr(Schema.Int),
  usedCount: Schema.Int,
  validFrom: Schema.NullOr(Time),
  validUntil: Schema.NullOr(Time),
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Promotion" })
export type Promotion = typeof Promotion.Type

/** A percentage may have decimals; amounts are integers, which depends on the type and is checked with it. */
const Value = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

const Limit = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))

/** Kept in upper case without surrounding spaces, so that shoppers need not care. */
const Code = Text.check(Schema.isPattern(/\S/))

const optional = {
  code: maybe(Code),
  currency: maybe(CurrencyCode),
  buyQuantity: maybe(Units),
  getQuantity: maybe(Units),
  isAutomatic: Flag,
  isActive: Flag,
  stackable: Flag,
  priority: Schema.optional(Priority),
  conditions: maybe(Conditions),
  usageLimitTotal: maybe(Limit),
  usageLimitPerCustomer: maybe(Limit),
  validFrom: maybe(Moment),
  validUntil: maybe(Moment),
  metadata: maybe(StorableObject)
}

/** Body of a new promotion. Fixed kinds without a currency are in the store's. */
export const NewPromotion = Schema.Struct({ name: Text, type: PromotionType, value: Value, ...optional })
export type NewPromotion = typeof NewPromotion.Type

/** Body of a change: any part of a new one; null empties a field. */
export const PromotionChange = Schema.Struct({
  name: Schema.optional(Text),
  type: Schema.optional(PromotionType),
  value: Schema.optional(Value),
  ...optional
})
export type PromotionChange = typeof PromotionChange.Type

/** Status filter of a list: `active` is switched on and within its window now; `scheduled` begins later. */
export const PromotionStatus = Schema.Literals(["active", "inactive", "expired", "scheduled", "all"])
export type PromotionStatus = typeof PromotionStatus.Type
