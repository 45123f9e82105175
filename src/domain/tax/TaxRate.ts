import { Context, Effect, Schema, SchemaGetter } from "effect"
import { stateCode } from "../platform/addresses/CountryFormats.ts"
import { Country } from "../platform/addresses/PostalAddress.ts"
import { type Issue, ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { conflict, invalid } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { OrganizationId, TaxClassId, TaxRateId } from "../platform/ids/Id.ts"
import { type RecordRules, type RecordService, withSent } from "../platform/resources/RecordService.ts"
import { issue, maybe, Priority } from "../platform/text/Fields.ts"
import { Metadata, StorableObject, Text, unsaid } from "../platform/text/Storable.ts"
import { Moment, Time, Until, windowIssues } from "../platform/text/Time.ts"
import { rateOver, sentRate, shownRate } from "./Percent.ts"
import { isPostalForm } from "./TaxPlace.ts"

const State = Text.pipe(
  Schema.decodeTo(Schema.String.check(Schema.isMinLength(1)), {
    decode: SchemaGetter.transform((text) => text.trim()),
    encode: SchemaGetter.transform((text) => text)
  })
)

const compound = Schema.Boolean.annotate({
  description: "The taxes of the rates before it, by priority, count towards the amount that it taxes."
})

/**
 * A tax of a region (contract-commerce §5), for goods of one class or of all. The most specific rates apply: those of
 * class and region, of the region, of the class, the rest. Within them the postal code beats the state, and the state
 * the country. Rates that are equally specific add up, in the order of their priority.
 */
export const TaxRate = Schema.Struct({
  id: TaxRateId,
  organizationId: OrganizationId,
  name: Schema.String,
  taxClassId: Schema.NullOr(TaxClassId).annotate({ description: "Null: for goods of every class." }),
  country: Schema.NullOr(Schema.String).annotate({ description: "Null: everywhere." }),
  state: Schema.NullOr(Schema.String).pipe(
    about("Code of the state (ISO 3166-2, without the country), or its name; null: the complete country.")
  ),
  postalCode: Schema.NullOr(Schema.String).pipe(
    about("A code, a prefix that ends in *, or a range; null: everywhere.")
  ),
  ...shownRate,
  validFrom: Schema.NullOr(Time),
  validUntil: Schema.NullOr(Time).annotate({ description: "The first moment without the rate; null: it has no end." }),
  compound,
  appliesToShipping: Schema.Boolean.pipe(about("Taxes shipping too.")),
  priority: Schema.Int.pipe(about("Lower goes first.")),
  isActive: Schema.Boolean,
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "TaxRate" })
export type TaxRate = typeof TaxRate.Type

const PostalCode = Text.check(
  Schema.makeFilter(
    (text: string) =>
      isPostalForm(text) || "must be a postal code, a prefix that ends in *, or a range like 10000..19999.",
    unsaid
  )
).annotate({
  description: "A code, a prefix that ends in *, or a range. Spaces and case do not count.",
  examples: ["10000..19999"]
})

export const NewTaxRate = Schema.Struct({
  name: Text,
  taxClassId: maybe(TaxClassId),
  country: maybe(Country),
  state: maybe(State).pipe(about("Code (ISO 3166-2) or name of the state; null: the complete country.")),
  postalCode: maybe(PostalCode),
  ...sentRate,
  validFrom: maybe(Moment),
  validUntil: maybe(Until),
  compound: Schema.optional(compound),
  appliesToShipping: Schema.optional(Schema.Boolean).pipe(about("Taxes shipping too.")),
  priority: Schema.optional(Priority).pipe(about("Lower goes first.")),
  isActive: Schema.optional(Schema.Boolean),
  metadata: maybe(StorableObject)
}).annotate({ identifier: "NewTaxRate" })

/** Absent fields stay, a null `state` applies the rate to the complete country. */
export const TaxRateChange = Schema.Struct({ ...NewTaxRate.fields, name: Schema.optional(Text) })
  .annotate({ identifier: "TaxRateChange" })

export class TaxRateTaken extends conflict(
  "TaxRateExists",
  "A tax rate with this name already exists for this place, class and time: both would be charged. End that one before " +
    "this one begins, or change it."
) {}
export class TaxRateClassUnknown extends invalid(
  "TaxRateClass",
  "taxClassId",
  "taxClassId is no tax class of this store. Send the id of a tax class, or null.",
  "not_found"
) {}

const placeIssues = ({ country, postalCode, state }: TaxRate): ReadonlyArray<Issue> =>
  country !== null || (state === null && postalCode === null)
    ? []
    : [issue("country", "is required with a state or a postal code.", "required")]

const changed = Effect.fnUntraced(function*(
  before: Omit<TaxRate, "rate"> & { readonly rate?: string },
  sent: typeof TaxRateChange.Type
) {
  const rate = yield* Effect.fromResult(rateOver(sent, before.rate))
  const metadata = sent.metadata === null ? {} : sent.metadata
  const after = withSent<TaxRate>({ ...before, ...rate }, { ...sent, ...rate, metadata })
  const { country, state } = after
  const normalized = country === null || state === null
    ? after
    : { ...after, state: stateCode(country, state) ?? state }
  const issues = [...placeIssues(after), ...windowIssues(after, "validFrom", "validUntil")]
  return issues.length === 0 ? normalized : yield* ValidationFailed.issues(issues)
})

const defaults = {
  taxClassId: null,
  country: null,
  state: null,
  postalCode: null,
  rateBps: 0,
  validFrom: null,
  validUntil: null,
  compound: false,
  appliesToShipping: true,
  priority: 100,
  isActive: true,
  metadata: {}
}

export const taxRateRules: RecordRules<
  TaxRate,
  typeof NewTaxRate.Type,
  typeof TaxRateChange.Type,
  ValidationFailed
> = {
  name: "Tax rate",
  made: (sent, record) => changed({ ...record, ...defaults, name: sent.name }, sent),
  changed
}

/**
 * Taxes of regions by priority (contract §3.5, §3.8). 409 when place, class and time have a rate of this name. A change
 * reaches every process within moments.
 */
export class TaxRates extends Context.Service<
  TaxRates,
  RecordService<
    TaxRate,
    typeof NewTaxRate.Type,
    typeof TaxRateChange.Type,
    TaxRateClassUnknown | TaxRateTaken | ValidationFailed
  >
>()("stoa/domain/tax/TaxRates") {}
