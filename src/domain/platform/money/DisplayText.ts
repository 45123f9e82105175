import { Schema } from "effect"
import { CurrencyCode, exponentOf } from "./Money.ts"

const isCurrency = Schema.is(CurrencyCode)

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

const linkLike = /:\/\/|www\.|@|[\p{L}\p{N}]\.\p{L}{2,}/iu

/** A name for a greeting; undefined for one like a link: a sign-up chooses both name and address of a mail. */
export const personName = (name: string): string | undefined => {
  const text = name.replace(/[\p{Cc}\s]+/gu, " ").trim()
  return text === "" || text.length > 80 || linkLike.test(text) ? undefined : text
}

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
