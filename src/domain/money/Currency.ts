import { Data, Result, Schema, SchemaTransformation } from "effect"
import { ofForm } from "../text/Storable.ts"
import { type AmountOutOfRange, type SignedMinor, signedMinor } from "./Money.ts"

/** How many decimals the major unit of a currency has. */
export type Exponent = 0 | 2 | 3

const withTwoDecimals =
  "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY " +
  "COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF " +
  "IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR " +
  "MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG " +
  "SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES " +
  "WST XCD XCG YER ZAR ZMW ZWG"
const withoutDecimals = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
const withThreeDecimals = "BHD IQD JOD KWD LYD OMR TND"

const exponents: ReadonlyMap<string, Exponent> = new Map([
  ...withTwoDecimals.split(" ").map((code) => [code, 2] as const),
  ...withoutDecimals.split(" ").map((code) => [code, 0] as const),
  ...withThreeDecimals.split(" ").map((code) => [code, 3] as const)
])

/**
 * A currency: three letters in any case in requests, upper case everywhere else (contract 0.2). A code that is not a
 * current ISO 4217 currency with 0, 2 or 3 decimals is refused.
 */
export const CurrencyCode = Schema.String.check(ofForm(/^[A-Za-z]{3}$/)).pipe(
  Schema.decodeTo(
    Schema.String.check(
      Schema.makeFilter((code: string) => exponents.has(code) || `Unknown currency ${code}`)
    ).pipe(Schema.brand("CurrencyCode")),
    SchemaTransformation.toUpperCase()
  )
)
/** See the schema of the same name. */
export type CurrencyCode = typeof CurrencyCode.Type

/** Whether a string is the upper-case code of a known currency. */
export const isCurrencyCode: (code: string) => code is CurrencyCode = Schema.is(CurrencyCode)

/** How many decimals a currency has: JPY 0, GBP 2, KWD 3. */
export const exponentOf = (currency: CurrencyCode): Exponent => exponents.get(currency) ?? 2

/** The text is not a decimal number that the currency can represent exactly. */
export class MalformedAmount
  extends Data.TaggedError("MalformedAmount")<{ readonly text: string; readonly currency: string }>
{
  override get message(): string {
    return `"${this.text}" is not an amount in ${this.currency}.`
  }
}

const decimal = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * Minor units of a decimal string in major units, exactly: "2.55" GBP is 255, "1500" JPY is 1500, "1.234" KWD is 1234.
 * Digits with an optional sign and point only; more decimals than the currency has are refused, even zeros.
 */
export const parseAmount = (
  text: string,
  currency: CurrencyCode
): Result.Result<SignedMinor, MalformedAmount | AmountOutOfRange> => {
  const exponent = exponentOf(currency)
  const parts = decimal.exec(text)
  const fraction = parts?.[3] ?? ""
  if (parts === null || fraction.length > exponent) return Result.fail(new MalformedAmount({ text, currency }))
  return signedMinor(BigInt(`${parts[1]}${parts[2]}${fraction.padEnd(exponent, "0")}`), "amount")
}

/** The decimal string of minor units in major units, with all decimals of the currency: 5 GBP is "0.05". */
export const formatAmount = (amount: SignedMinor, currency: CurrencyCode): string => {
  const exponent = exponentOf(currency)
  const digits = String(Math.abs(amount)).padStart(exponent + 1, "0")
  const sign = amount < 0 ? "-" : ""
  const point = digits.length - exponent
  return exponent === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}
