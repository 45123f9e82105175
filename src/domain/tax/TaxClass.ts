import { Context, Effect, Schema } from "effect"
import type { ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { OrganizationId, TaxClassId } from "../platform/ids/Id.ts"
import { type RecordRules, type RecordService, withSent } from "../platform/resources/RecordService.ts"
import { maybe } from "../platform/text/Fields.ts"
import { keyText, Metadata, StorableObject } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { rateOver, sentRate, shownRate } from "./Percent.ts"

const Name = keyText(100)

/**
 * A class of goods that are taxed alike (contract §3.5), which entities and variants name. Without an active class they
 * are of the default class, of which there is at most one. Its rate is for places without a tax rate.
 */
export const TaxClass = Schema.Struct({
  id: TaxClassId,
  organizationId: OrganizationId,
  name: Schema.String,
  slug: Schema.String.annotate({
    description: "Made from the first name; goods may name the class by it. Renaming keeps it.",
    examples: ["reduced"]
  }),
  ...shownRate,
  isDefault: Schema.Boolean.pipe(about("For products without a class.")),
  isActive: Schema.Boolean,
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "TaxClass" })
export type TaxClass = typeof TaxClass.Type

export const NewTaxClass = Schema.Struct({
  name: Name,
  ...sentRate,
  isDefault: Schema.optional(Schema.Boolean).pipe(about("For products without a class.")),
  isActive: Schema.optional(Schema.Boolean),
  metadata: maybe(StorableObject)
}).annotate({ identifier: "NewTaxClass" })

export const TaxClassChange = Schema.Struct({ ...NewTaxClass.fields, name: Schema.optional(Name) })
  .annotate({ identifier: "TaxClassChange" })

export class TaxClassNameTaken extends conflict("TaxClassNameTaken", "A tax class with this name already exists.") {}
/** Two concurrent choices of a default both see none; the unique index accepts one. */
export class TaxClassDefaultTaken
  extends conflict("TaxClassDefault", "Another class became the default at the same moment.")
{}
export class TaxClassInUse extends conflict(
  "TaxClassInUse",
  (uses: number) =>
    `The tax class is in use ${uses === 1 ? "once" : `${uses} times`}, by entities, variants, tax rates or shipping ` +
    "rates. Give them another class first."
) {}
type Refused = TaxClassNameTaken | TaxClassDefaultTaken | TaxClassInUse | ValidationFailed

/** A slug in any script; empty for a name without letters and digits. */
export const slugOf = (name: string): string =>
  name.normalize("NFC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "")

const changed = (
  before: Omit<TaxClass, "rate"> & { readonly rate?: string },
  sent: typeof TaxClassChange.Type
): Effect.Effect<TaxClass, ValidationFailed> =>
  Effect.map(Effect.fromResult(rateOver(sent, before.rate)), (rate) =>
    withSent<TaxClass>({ ...before, ...rate }, {
      ...sent,
      ...rate,
      metadata: sent.metadata === null ? {} : sent.metadata
    }))

export const taxClassRules: RecordRules<
  TaxClass,
  typeof NewTaxClass.Type,
  typeof TaxClassChange.Type,
  ValidationFailed
> = {
  name: "Tax class",
  made: (sent, record) => {
    const { name } = sent
    const slug = slugOf(name) || record.id.slice(-12)
    return changed({ ...record, name, slug, rateBps: 0, isDefault: false, isActive: true, metadata: {} }, sent)
  },
  changed
}

/**
 * Tax classes by name (contract §3.5, §3.8). A new default replaces the previous one. 409 if the name is in use, and for
 * the deletion of a class in use. A change reaches every process within moments.
 */
export class TaxClasses extends Context.Service<
  TaxClasses,
  RecordService<TaxClass, typeof NewTaxClass.Type, typeof TaxClassChange.Type, Refused>
>()("stoa/domain/tax/TaxClasses") {}
