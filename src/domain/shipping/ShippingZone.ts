import { Context, Effect, Schema } from "effect"
import { comparable, stateCode } from "../platform/addresses/CountryFormats.ts"
import { countryOr, type PostalAddress } from "../platform/addresses/PostalAddress.ts"
import { conflict, invalid } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { OrganizationId, ShippingZoneId } from "../platform/ids/Id.ts"
import { type RecordRules, type RecordService, withSent } from "../platform/resources/RecordService.ts"
import { maybe, Priority } from "../platform/text/Fields.ts"
import { Metadata, StorableObject, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

/** `country` is the code of ISO 3166-1 (two letters), `state` that of ISO 3166-2. */
export type Destination = Pick<PostalAddress, "line1" | "line2" | "city" | "state" | "postalCode" | "country">

/**
 * Places a store ships to at the same rates (contract §3.4). `countries` are two-letter codes, or `*`; `states` narrow
 * them. Zones are tried by ascending `priority`.
 */
export const ShippingZone = Schema.Struct({
  id: ShippingZoneId,
  organizationId: OrganizationId,
  name: Schema.String,
  countries: Schema.Array(Schema.String).pipe(about("Countries of the zone, by ISO 3166-1.")),
  states: Schema.NullOr(Schema.Array(Schema.String)).pipe(
    about("Codes (ISO 3166-2, without the country) of the states of the zone; null: all.")
  ),
  priority: Schema.Int.pipe(about("Lower goes first.")),
  isActive: Schema.Boolean,
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "ShippingZone" })
export type ShippingZone = typeof ShippingZone.Type

const Countries = Schema.Array(countryOr("*")).check(Schema.isMinLength(1), Schema.isMaxLength(300))
const States = Schema.Array(Text.check(Schema.isPattern(/\S/, { expected: "a text that is not blank" }))).check(
  Schema.isMaxLength(300)
)

export const NewShippingZone = Schema.Struct({
  name: Text,
  countries: Countries.pipe(about("Countries of the zone, by ISO 3166-1.")),
  states: maybe(States).pipe(
    about("Codes (ISO 3166-2, without the country) or names of the states of the zone; null: all.")
  ),
  priority: Schema.optional(Priority).pipe(about("Lower goes first.")),
  isActive: Schema.optional(Schema.Boolean),
  metadata: maybe(StorableObject)
})

export const ShippingZoneChange = Schema.Struct({
  ...NewShippingZone.fields,
  name: Schema.optional(Text),
  countries: Schema.optional(Countries).pipe(about("Countries of the zone, by ISO 3166-1."))
})

export class StatesOfEveryCountry
  extends invalid("StatesOfEveryCountry", "states", "must be empty where countries is *.")
{}
export class ZoneNameTaken extends conflict("ZoneNameTaken", "A shipping zone with this name already exists.") {}
export class ZoneHasRates extends conflict("ZoneHasRates", "There are rates in this zone. Delete them first.") {}

/** No states at all would be a zone without a place: it means all of them. Known ones are kept by their codes. */
const statesOf = (sent: ReadonlyArray<string> | null, countries: ReadonlyArray<string>): ShippingZone["states"] => {
  const codeIn = (state: string) =>
    countries.map((country) => stateCode(country, state)).find((code) => code !== undefined)
  return sent === null || sent.length === 0 ? null : [...new Set(sent.map((one) => codeIn(one) ?? comparable(one)))]
}

type Rules = RecordRules<
  ShippingZone,
  typeof NewShippingZone.Type,
  typeof ShippingZoneChange.Type,
  StatesOfEveryCountry
>

const changed: Rules["changed"] = (before, sent) => {
  const draft = withSent(before, { ...sent, metadata: sent.metadata === null ? {} : sent.metadata })
  const zone = {
    ...draft,
    countries: [...new Set(draft.countries)],
    states: draft.countries.includes("*") ? draft.states : statesOf(draft.states, draft.countries)
  }
  return (zone.states ?? []).length > 0 && zone.countries.includes("*")
    ? Effect.fail(new StatesOfEveryCountry())
    : Effect.succeed(zone)
}

const defaults = { states: null, priority: 100, isActive: true, metadata: {} }

export const shippingZoneRules: Rules = {
  name: "Shipping zone",
  made: (sent, record) => changed({ ...record, ...defaults, name: sent.name, countries: sent.countries }, sent),
  changed
}

/** Shipping zones by priority (contract §3.4). 409 if the name is in use, and for the removal of a zone with rates. */
export class ShippingZones extends Context.Service<
  ShippingZones,
  RecordService<
    ShippingZone,
    typeof NewShippingZone.Type,
    typeof ShippingZoneChange.Type,
    StatesOfEveryCountry | ZoneNameTaken | ZoneHasRates
  >
>()("stoa/domain/shipping/ShippingZones") {}
