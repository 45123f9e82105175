import { Option, Schema, SchemaGetter } from "effect"
import { about } from "../hints/Hints.ts"
import { maybe } from "../text/Fields.ts"
import { FreeText, ofForm, ShortText } from "../text/Storable.ts"
import { countryCode, formatOf, postalCodeOf, stateCode } from "./CountryFormats.ts"

export const Phone = FreeText.check(
  Schema.isMaxLength(40),
  ofForm(/^[\d+()\-. /x]*$/, "a telephone number of digits, spaces and + ( ) - . / x")
)

/** A country, or one of the other words. */
export const countryOr = (...words: ReadonlyArray<string>) =>
  ShortText.annotate({ description: "ISO 3166-1, such as AT, AUT or UK.", examples: ["AT"] }).pipe(
    Schema.decodeTo(
      Schema.String.check(
        Schema.makeFilter(
          (code: string) =>
            words.includes(code) || countryCode(code) === code ||
            "must be a code of ISO 3166-1, such as AT, AUT or UK.",
          { code: "unknown_value" }
        )
      ),
      {
        decode: SchemaGetter.transform((sent) => countryCode(sent) ?? sent),
        encode: SchemaGetter.transform((code) => code)
      }
    )
  )

/** A country by its code of two letters (ISO 3166-1); codes of three letters and UK are understood. */
export const Country = countryOr()

const text = maybe(ShortText)

/** Fields of an address as requests send them. `name` stands for `firstName` and `lastName`. */
export const sentAddress = {
  firstName: text,
  lastName: text,
  name: maybe(ShortText.annotate({ description: "The whole name, in place of firstName and lastName." })),
  company: text,
  phone: maybe(Phone.annotate({ description: "For the carrier.", examples: ["+43 1 2345678"] })),
  line1: ShortText.check(Schema.isPattern(/\S/, { expected: "a text that is not empty" })),
  line2: text,
  city: text,
  state: maybe(ShortText.annotate({ description: "Code (ISO 3166-2) or name; the code is kept.", examples: ["CA"] })),
  postalCode: text,
  country: Country,
  vatNumber: maybe(
    ShortText.annotate({ description: "VAT number of a business in the EU.", examples: ["ATU12345678"] })
  )
}

const kept = maybe(ShortText)

/** Fields of an address as it is kept; one that no request could send today is `unchecked`. */
export const keptAddress = {
  firstName: kept,
  lastName: kept,
  name: kept,
  company: kept,
  phone: kept,
  line1: ShortText,
  line2: kept,
  city: kept,
  state: kept.pipe(about("Code (ISO 3166-2, without the country) of the state or province, or its name.")),
  postalCode: kept,
  country: ShortText,
  vatNumber: kept,
  unchecked: Schema.optional(
    Schema.Literal(true).annotate({ description: "It was kept as given: it does not have the form of its country." })
  )
}
export const KeptAddress = Schema.Struct(keptAddress)
export type PostalAddress = typeof KeptAddress.Type

type Sent = Pick<PostalAddress, "city" | "country" | "postalCode" | "state">

const hasText = (value: string | null | undefined): value is string => (value ?? "").trim() !== ""

/** The fields that an address needs in a country, without its state (`checkout.strictAddresses`). */
const cityIssue = ({ city, country }: Sent) =>
  hasText(city) || !formatOf(country).needsCity ||
  { path: ["city"], issue: `city is required in ${formatOf(country).name}.` }

const postalCodeIssue = ({ country, postalCode }: Sent) => {
  const { name, needsPostalCode, postalCode: form } = formatOf(country)
  if (!hasText(postalCode)) {
    return !needsPostalCode || { path: ["postalCode"], issue: `postalCode is required in ${name}.` }
  }
  return postalCodeOf(country, postalCode) !== undefined ||
    { path: ["postalCode"], issue: `postalCode must be one of ${name}, such as ${form?.example}.` }
}

const stateIssue = ({ country, state }: Sent) => {
  const { name, needsState, states } = formatOf(country)
  return !hasText(state) || !needsState || states.length === 0 || stateCode(country, state) !== undefined ||
    { path: ["state"], issue: `state must be the code or the name of a state of ${name}.` }
}

/** The checks of a struct that has the fields of an address. */
export const addressChecks = [
  Schema.makeFilter(cityIssue),
  Schema.makeFilter(postalCodeIssue),
  Schema.makeFilter(stateIssue)
] as const

const optional = [
  "firstName",
  "lastName",
  "name",
  "company",
  "phone",
  "line2",
  "city",
  "state",
  "postalCode",
  "vatNumber"
] as const

const trimmedTexts = (sent: PostalAddress): Pick<PostalAddress, typeof optional[number]> =>
  Object.fromEntries(
    optional.flatMap((name) => {
      const value = sent[name]
      return value === undefined ? [] : [[name, hasText(value) ? value.trim() : null]]
    })
  )

/** A checked address as it is kept: trimmed, with the code of its state and its postal code as the country writes it. */
export const normalizedAddress = <A extends PostalAddress>(sent: A): A => {
  const { country, line1, postalCode, state } = sent
  return {
    ...sent,
    ...trimmedTexts(sent),
    line1: line1.trim(),
    ...(hasText(state) ? { state: stateCode(country, state) ?? state.trim() } : {}),
    ...(hasText(postalCode) ? { postalCode: postalCodeOf(country, postalCode) ?? postalCode.trim() } : {})
  }
}

/** The only schema of an address that requests, files and plugins send. */
export const PostalAddress = Schema.Struct(sentAddress).check(...addressChecks)
  .annotate({ identifier: "PostalAddress" })
  .pipe(
    Schema.decodeTo(KeptAddress, {
      decode: SchemaGetter.transform(normalizedAddress),
      encode: SchemaGetter.transform((address) => address)
    })
  )

const decodeAddress = Schema.decodeUnknownOption(PostalAddress)
const decodeKept = Schema.decodeUnknownOption(KeptAddress)

/** Reads a stored address. One that no request could send today is kept as given and marked; null for anything else. */
export const addressIn = (stored: unknown): PostalAddress | null =>
  Option.getOrNull(
    Option.orElse(decodeAddress(stored), () => Option.map(decodeKept(stored), (one) => ({ ...one, unchecked: true })))
  )

/** An address of another time or system, with all its fields: normalized, or as given and marked. */
export const givenAddress = (
  { unchecked: _, ...given }: Readonly<Record<string, unknown>>
): Record<string, unknown> => ({
  ...given,
  ...(addressIn(given) ?? { unchecked: true })
})

/** The state that an address lacks where its country asks for one. */
export const lacksState = ({ country, state }: PostalAddress): boolean =>
  countryCode(country) === country && formatOf(country).needsState && !hasText(state)
