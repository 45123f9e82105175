import type { Given } from "../platform/modules/OutsideService.ts"

/** Forms by the country that a number begins with (ADR 27). Greece writes EL. */
const forms: Readonly<Record<string, RegExp>> = {
  AT: /^U\d{8}$/,
  BE: /^[01]\d{9}$/,
  BG: /^\d{9,10}$/,
  CY: /^\d{8}[A-Z]$/,
  CZ: /^\d{8,10}$/,
  DE: /^\d{9}$/,
  DK: /^\d{8}$/,
  EE: /^\d{9}$/,
  EL: /^\d{9}$/,
  ES: /^[A-Z0-9]\d{7}[A-Z0-9]$/,
  FI: /^\d{8}$/,
  FR: /^[A-HJ-NP-Z0-9]{2}\d{9}$/,
  HR: /^\d{11}$/,
  HU: /^\d{8}$/,
  IE: /^\d[A-Z0-9+*]\d{5}[A-Z]{1,2}$/,
  IT: /^\d{11}$/,
  LT: /^(\d{9}|\d{12})$/,
  LU: /^\d{8}$/,
  LV: /^\d{11}$/,
  MT: /^\d{8}$/,
  NL: /^[A-Z0-9+*]{10}\d{2}$/,
  PL: /^\d{10}$/,
  PT: /^\d{9}$/,
  RO: /^\d{2,10}$/,
  SE: /^\d{12}$/,
  SI: /^\d{8}$/,
  SK: /^\d{10}$/
}

const countryOf = (prefix: string): string => prefix === "EL" ? "GR" : prefix

const countries = new Set(Object.keys(forms).map(countryOf))

export const isInEu = (country: string | null | undefined): boolean =>
  countries.has((country ?? "").trim().toUpperCase())

export interface VatNumber {
  readonly country: string
  /** In upper case without spaces, dots and dashes, with its prefix. */
  readonly number: string
}

/** Undefined for a text that is no VAT number of an EU country. */
export const vatNumberOf = (text: string): VatNumber | undefined => {
  const number = text.replace(/[\s.-]/g, "").toUpperCase().replace(/^GR/, "EL")
  const prefix = number.slice(0, 2)
  return Object.hasOwn(forms, prefix) && forms[prefix]?.test(number.slice(2)) === true
    ? { country: countryOf(prefix), number }
    : undefined
}

/** Knows which VAT numbers are registered: an adapter to VIES or the like. `signal` aborts at the time limit. */
export interface VatNumberService {
  readonly id: string
  /** `number` has its prefix: "ATU12345678". A failure is no answer: the buyer is taxed. */
  readonly isRegistered: (number: string, signal: AbortSignal) => Given<boolean>
}
