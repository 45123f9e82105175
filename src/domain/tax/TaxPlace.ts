import { comparable, stateKey } from "../platform/addresses/CountryFormats.ts"
import type { Destination } from "../shipping/ShippingZone.ts"

interface Place {
  readonly country: string | null
  readonly state: string | null
  readonly postalCode: string | null
}

const bare = (code: string): string => code.replace(/\s+/g, "").toUpperCase()

const range = /^([A-Z0-9-]+)\.\.([A-Z0-9-]+)$/

/** Tests the form of a rate's postal code: a code, a prefix with `*`, or a range of codes of one length. */
export const isPostalForm = (text: string): boolean => {
  const code = bare(text)
  const [, from = "", until = ""] = range.exec(code) ?? []
  return from === "" ? /^[A-Z0-9-]+\*?$/.test(code) : from.length === until.length && from <= until
}

/** How much of the address's code the form fixes: a code all of it. Undefined where it is about other codes. */
const fixedBy = (postalCode: string, address: string): number | undefined => {
  const [form, code] = [bare(postalCode), bare(address)]
  const [, from = "", until = ""] = range.exec(form) ?? []
  if (from !== "") {
    const differs = [...from].findIndex((char, at) => char !== until[at])
    const isIn = code.length === from.length && from <= code && code <= until
    return isIn ? differs === -1 ? from.length : differs : undefined
  }
  if (!form.endsWith("*")) return code === form ? Infinity : undefined
  return code.startsWith(form.slice(0, -1)) ? form.length - 1 : undefined
}

export const everywhere = 0

/** How specific a rate is about an address: 0 for a rate of everywhere; undefined where it does not apply. */
export const precisionAt = (
  { country, postalCode, state }: Place,
  address: Destination | null
): number | undefined => {
  if (country === null) return everywhere
  if (address === null || country !== comparable(address.country)) return undefined
  if (state !== null && stateKey(country, state) !== stateKey(country, address.state ?? "")) return undefined
  if (postalCode === null) return state === null ? 1 : 2
  const fixed = fixedBy(postalCode, address.postalCode ?? "")
  return fixed === undefined ? undefined : 3 + fixed
}
