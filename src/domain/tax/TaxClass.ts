import { Context, Effect, Schema } from "effect"
import { TaxClass as TaxClassName } from "../catalog/Entity.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { TaxClassId } from "../platform/ids/Id.ts"
import { type RecordRules, type RecordService, withSent } from "../platform/resources/RecordService.ts"
import { maybe } from "../platform/text/Fields.ts"
import { StorableObject } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

/** Basis points, hundredths of a per cent: 1900 is 19 %. */
export const RateBps = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))

/**
 * A class of goods that are taxed alike (contract §3.5), named by `taxClass` of entities and variants. Without an
 * active class they are of the default class, of which there is at most one.
 */
export const TaxClass = Schema.Struct({
  id: TaxClassId,
  organizationId: Schema.String,
  name: Schema.String,
  rateBps: RateBps,
  isDefault: Schema.Boolean,
  isActive: Schema.Boolean,
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "TaxClass" })
export type TaxClass = typeof TaxClass.Type

export const NewTaxClass = Schema.Struct({
  name: TaxClassName,
  rateBps: RateBps,
  isDefault: Schema.optional(Schema.Boolean),
  isActive: Schema.optional(Schema.Boolean),
  metadata: maybe(StorableObject)
}).annotate({ identifier: "NewTaxClass" })

export const TaxClassChange = Schema.Struct({
  ...NewTaxClass.fields,
  name: Schema.optional(TaxClassName),
  rateBps: Schema.optional(RateBps)
}).annotate({ identifier: "TaxClassChange" })

export class TaxClassNameTaken extends conflict("TaxClassName", "A tax class with this name already exists.") {}
/** Two concurrent choices of a default both see none; the unique index accepts one. */
export class TaxClassDefaultTaken
  extends conflict("TaxClassDefault", "Another class became the default at the same moment.")
{}
type Taken = TaxClassNameTaken | TaxClassDefaultTaken

const changed = (before: TaxClass, sent: typeof TaxClassChange.Type): Effect.Effect<TaxClass> =>
  Effect.succeed(withSent(before, { ...sent, metadata: sent.metadata === null ? {} : sent.metadata }))

export const taxClassRules: RecordRules<TaxClass, typeof NewTaxClass.Type, typeof TaxClassChange.Type, never> = {
  name: "Tax class",
  made: (sent, record) => {
    const { name, rateBps } = sent
    return changed({ ...record, name, rateBps, isDefault: false, isActive: true, metadata: {} }, sent)
  },
  changed
}

/**
 * Tax classes by name (contract §3.5, §3.8). A new default replaces the previous one. 409 if the name is in use. A
 * change reaches every process within moments.
 */
export class TaxClasses extends Context.Service<
  TaxClasses,
  RecordService<TaxClass, typeof NewTaxClass.Type, typeof TaxClassChange.Type, Taken>
>()("stoa/domain/tax/TaxClasses") {}
