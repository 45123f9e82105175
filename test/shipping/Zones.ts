import { Effect } from "effect"
import { countryCode, formatOf } from "../../src/domain/platform/addresses/CountryFormats.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Answer, api, asAdmin, at } from "../support/TestApp.ts"

export const zones = "/api/shipping/zones"
export const rates = "/api/shipping/rates"

/** An address; the country is what zones look at first. */
export const to = (country: string, state?: string) => ({
  line1: "1 Main St",
  city: "Town",
  postalCode: formatOf(countryCode(country) ?? "US").postalCode?.example ?? null,
  country,
  ...(state === undefined ? {} : { state })
})

/** Makes a zone and gives its id. */
export const aZone = Effect.fnUntraced(function*(countries: ReadonlyArray<string>, fields: object = {}) {
  const made = yield* api("POST", zones, { as: asAdmin, body: { name: `Zone ${newId()}`, countries, ...fields } })
  return made.text("data.id")
})

/** Makes a rate in US dollars and gives its id. */
export const aRate = Effect.fnUntraced(function*(zoneId: string, amount: number, fields: object = {}) {
  const body = { zoneId, name: `Rate of ${amount}`, currency: "USD", amount, ...fields }
  return (yield* api("POST", rates, { as: asAdmin, body })).text("data.id")
})

/** Leaves the store without zones, as it was; every process hears of it like of any change. */
export const noZones = onDatabase((sql) =>
  Effect.andThen(sql`delete from shipping_rates`, sql`delete from shipping_zones`)
)

/** The prices of a list of offered rates, in its order. */
export const offered = (answer: Answer) => answer.list("data.rates").map((rate) => at(rate, "amount"))
