import { Effect, Schema, SchemaTransformation } from "effect"
import { ValidationFailed } from "../errors/ApiErrors.ts"
import { Uuid } from "../ids/Id.ts"
import { issue, maybe, Priority, Time } from "../pricing/Bounds.ts"
import { type NewRecord, withSent } from "../records/RecordService.ts"
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

/** Body of a new zone; its name is unique in the organization. */
export const NewShippingZone = Schema.Struct({
  name: Text,
  countries: Countries,
  states: maybe(States),
  priority: Schema.optional(Priority),
  isActive: Schema.optional(Schema.Boolean),
  metadata: maybe(StorableObject)
})
export type NewShippingZone = typeof NewShippingZone.Type

/** Body of a change: any part of a new one; null empties a field. */
export const ShippingZoneChange = Schema.Struct({
  ...NewShippingZone.fields,
  name: Schema.optional(Text),
  countries: Schema.optional(Countries)
})
export type ShippingZoneChange = typeof ShippingZoneChange.Type

/** No states at all would be a zone without a place: it means all of them. */
const statesOf = (sent: ReadonlyArray<string> | null): ReadonlyArray<string> | null =>
  sent === null || sent.length === 0 ? null : [...new Set(sent.map(comparable))]

/** The zone after a change; 422 when its parts contradict one another. */
export const changedZone = (
  before: ShippingZone,
  sent: ShippingZoneChange
): Effect.Effect<ShippingZone, ValidationFailed> => {
  const draft = withSent(before, { ...sent, metadata: sent.metadata === null ? {} : sent.metadata })
  const zone = { ...draft, countries: [...new Set(draft.countries)], states: statesOf(draft.states) }
  return zone.states !== null && zone.countries.includes("*")
    ? Effect.fail(ValidationFailed.issues([issue("states", "need countries by name and not *")]))
    : Effect.succeed(zone)
}

const defaults = { states: null, priority: 100, isActive: true, metadata: {} }

/** The zone of a body; 422 as for a change. */
export const newZone = (sent: NewShippingZone, record: NewRecord): Effect.Effect<ShippingZone, ValidationFailed> =>
  changedZone({ ...record, ...defaults, name: sent.name, countries: sent.countries }, sent)
