import { Result, Schema, SchemaTransformation } from "effect"
import { ValidationFailed } from "../errors/ApiErrors.ts"
import { Uuid } from "../ids/Id.ts"
import { issue, maybe, over, Priority, Time } from "../pricing/Bounds.ts"
import { ofForm, StorableObject, Text } from "../text/Storable.ts"
import { comparable } from "./Destination.ts"

/**
 * Places a store ships to at the same rates (contract §3.4). `countries` are two-letter codes, or `*` for every
 * country; `states`, if present, narrow them. Zones are tried by ascending `priority`.
 */
export const ShippingZone = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  name: Schema.String,
  countries: Schema.Array(Schema.String),
  states: Schema.NullOr(Schema.Array(Schema.String)),
  priority: Schema.Int,
  isActive: Schema.Boolean,
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "ShippingZone" })
export type ShippingZone = typeof ShippingZone.Type

/** A country of a zone: ISO 3166-1 with two letters in any case, or `*`; stored in upper case. */
const Country = Schema.String.check(ofForm(/^([A-Za-z]{2}|\*)$/)).pipe(
  Schema.decodeTo(Schema.String, SchemaTransformation.toUpperCase())
)

const Countries = Schema.Array(Country).check(Schema.isMinLength(1), Schema.isMaxLength(300))
const States = Schema.Array(Text.check(Schema.isPattern(/\S/))).check(Schema.isMaxLength(300))

const optional = {
  states: maybe(States),
  priority: Schema.optional(Priority),
  isActive: Schema.optional(Schema.Boolean),
  metadata: maybe(StorableObject)
}

/** Body of a new zone; its name is unique in the organization. */
export const NewShippingZone = Schema.Struct({ name: Text, countries: Countries, ...optional })
export type NewShippingZone = typeof NewShippingZone.Type

/** Body of a change: any part of a new one; null empties a field. */
export const ShippingZoneChange = Schema.Struct({
  name: Schema.optional(Text),
  countries: Schema.optional(Countries),
  ...optional
})
export type ShippingZoneChange = typeof ShippingZoneChange.Type

/** No states at all would be a zone without a place: it means all of them. */
const statesOf = (sent: ReadonlyArray<string> | null): ReadonlyArray<string> | null =>
  sent === null || sent.length === 0 ? null : [...new Set(sent.map(comparable))]

const checked = (draft: ShippingZone): Result.Result<ShippingZone, ValidationFailed> => {
  const zone = { ...draft, countries: [...new Set(draft.countries)], states: statesOf(draft.states) }
  return zone.states !== null && zone.countries.includes("*")
    ? Result.fail(ValidationFailed.issues([issue("states", "need countries by name and not *")]))
    : Result.succeed(zone)
}

/** The record a body describes; 422 when its parts contradict one another. */
export const zoneOf = (
  sent: NewShippingZone,
  record: { readonly id: string; readonly organizationId: string; readonly now: Date }
): Result.Result<ShippingZone, ValidationFailed> =>
  checked({
    id: record.id,
    organizationId: record.organizationId,
    name: sent.name,
    countries: sent.countries,
    states: sent.states ?? null,
    priority: sent.priority ?? 100,
    isActive: sent.isActive ?? true,
    metadata: sent.metadata ?? {},
    createdAt: record.now,
    updatedAt: record.now
  })

/** The record after a change; the rules apply to the complete record, not only to the sent fields. */
export const changedZone = (
  before: ShippingZone,
  sent: ShippingZoneChange,
  now: Date
): Result.Result<ShippingZone, ValidationFailed> =>
  checked({
    ...before,
    name: sent.name ?? before.name,
    countries: sent.countries ?? before.countries,
    states: over(sent.states, before.states),
    priority: sent.priority ?? before.priority,
    isActive: sent.isActive ?? before.isActive,
    metadata: over(sent.metadata, before.metadata) ?? {},
    updatedAt: now
  })
