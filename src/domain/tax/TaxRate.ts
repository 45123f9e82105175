import { Context, Effect, Schema, SchemaGetter, SchemaTransformation } from "effect"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { TaxRateId } from "../platform/ids/Id.ts"
import { type RecordRules, type RecordService, withSent } from "../platform/resources/RecordService.ts"
import { maybe, Priority } from "../platform/text/Fields.ts"
import { ofForm, StorableObject, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { RateBps } from "./TaxClass.ts"

const Country = Schema.String.check(ofForm(/^[A-Za-z]{2}$/)).pipe(
  Schema.decodeTo(Schema.String, SchemaTransformation.toUpperCase())
)

const State = Text.pipe(
  Schema.decodeTo(Schema.String.check(Schema.isMinLength(1)), {
    decode: SchemaGetter.transform((text) => text.trim()),
    encode: SchemaGetter.transform((text) => text)
  })
)

/**
 * A tax of a region (contract §3.5). Rates of a state take precedence over those of its country; rates of one level add
 * up, each rounded separately. `priority` only sorts lists.
 */
export const TaxRate = Schema.Struct({
  id: TaxRateId,
  organizationId: Schema.String,
  name: Schema.String,
  country: Schema.String,
  state: Schema.NullOr(Schema.String),
  rateBps: RateBps,
  appliesToShipping: Schema.Boolean,
  priority: Schema.Int,
  isActive: Schema.Boolean,
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "TaxRate" })
export type TaxRate = typeof TaxRate.Type

export const NewTaxRate = Schema.Struct({
  name: Text,
  country: Country,
  state: maybe(State),
  rateBps: RateBps,
  appliesToShipping: Schema.optional(Schema.Boolean),
  priority: Schema.optional(Priority),
  isActive: Schema.optional(Schema.Boolean),
  metadata: maybe(StorableObject)
}).annotate({ identifier: "NewTaxRate" })

/** Absent fields stay, a null `state` applies the rate to the complete country. */
export const TaxRateChange = Schema.Struct({
  ...NewTaxRate.fields,
  name: Schema.optional(Text),
  country: Schema.optional(Country),
  rateBps: Schema.optional(RateBps)
}).annotate({ identifier: "TaxRateChange" })

export class TaxRateTaken extends conflict("TaxRate", "A tax rate with this name already exists in this region.") {}

const changed = (before: TaxRate, sent: typeof TaxRateChange.Type): Effect.Effect<TaxRate> =>
  Effect.succeed(withSent(before, { ...sent, metadata: sent.metadata === null ? {} : sent.metadata }))

const defaults = { state: null, appliesToShipping: true, priority: 100, isActive: true, metadata: {} }

export const taxRateRules: RecordRules<TaxRate, typeof NewTaxRate.Type, typeof TaxRateChange.Type, never> = {
  name: "Tax rate",
  made: (sent, record) => {
    const { country, name, rateBps } = sent
    return changed({ ...record, ...defaults, country, name, rateBps }, sent)
  },
  changed
}

/**
 * Taxes of regions by priority (contract §3.5, §3.8). 409 when the country and state have a rate of this name. A change
 * reaches every process within moments.
 */
export class TaxRates extends Context.Service<
  TaxRates,
  RecordService<TaxRate, typeof NewTaxRate.Type, typeof TaxRateChange.Type, TaxRateTaken>
>()("stoa/domain/tax/TaxRates") {}
