import { Schema } from "effect"
import { CurrencyCode, exponentOf } from "../money/Currency.ts"

const isCurrency = Schema.is(CurrencyCode)

/** An amount of minor units as people of a language read it. */
export const moneyText = (amount: number, currency: string, locale: string): string => {
  if (!isCurrency(currency)) return `${amount} ${currency}`
  const digits = exponentOf(currency)
  return new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits
  }).format(amount / 10 ** digits)
}

/** What mail programs make a link of, or what somebody would take for one. */
const linkLike = /:\/\/|www\.|@|[\p{L}\p{N}]\.\p{L}{2,}/iu

/**
 * A name that a stranger chose for himself, or undefined: whoever signs up with somebody else's address would have the
 * store send him whatever the name says.
 */
export const personName = (name: string): string | undefined => {
  const text = name.replace(/[\p{Cc}\s]+/gu, " ").trim()
  return text === "" || text.length > 80 || linkLike.test(text) ? undefined : text
}

/** Lines of an address as the shopper gave it, without those that hold a link. */
export const addressLines = (address: Readonly<Record<string, unknown>> | null): ReadonlyArray<string> => {
  const part = (name: string) => {
    const value = address?.[name]
    const text = typeof value === "string" ? value.replace(/[\p{Cc}\s]+/gu, " ").trim() : ""
    return text.length > 120 || /:\/\/|www\.|@/i.test(text) ? "" : text
  }
  const joined = (...names: ReadonlyArray<string>) => names.map(part).filter((text) => text !== "").join(" ")
  return [part("line1"), part("line2"), joined("postalCode", "city"), joined("state"), joined("country")].filter(
    (line) => line !== ""
  )
}
