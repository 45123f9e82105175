import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { allFormats, type CountryFormat } from "../../domain/platform/addresses/CountryFormats.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { staticDocument } from "../docs/StaticDocument.ts"
import { AddressesGroup, type AddressFormat } from "./AddressesApi.ts"

const shown = (
  { country, name, needsCity, needsPostalCode, needsState, postalCode, states }: CountryFormat,
  isStrict: boolean
): AddressFormat => ({
  country,
  name,
  required: [
    "line1",
    ...(needsCity ? ["city"] : []),
    ...(isStrict && needsState ? ["state"] : []),
    ...(needsPostalCode ? ["postalCode"] : []),
    "country"
  ],
  postalCode,
  states
})

export const addressesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(AddressesGroup),
  "addresses",
  Effect.fnUntraced(function*(handlers) {
    const { strictAddresses } = yield* StoreSettings
    // Made at the first request: it reads a file of each country.
    const answer = yield* Effect.cached(
      Effect.suspend(() => staticDocument({ data: allFormats().map((one) => shown(one, strictAddresses)) }))
    )
    return handlers.handleRaw("formats", ({ request }) => Effect.map(answer, (answerTo) => answerTo(request)))
  })
)
