import { Option, Schema } from "effect"
import { FreeText, ofForm, ShortText, Text } from "../platform/text/Storable.ts"

const Phone = FreeText.check(
  Schema.isMaxLength(40),
  ofForm(/^[\d+()\-. /x]*$/, "digits, spaces and + ( ) - . / x")
)

export const ShippingAddress = Schema.Struct({
  line1: Text,
  line2: Schema.optional(Schema.NullOr(ShortText)),
  city: Text,
  state: Schema.optional(Schema.NullOr(ShortText)),
  postalCode: Text,
  country: Text,
  phone: Schema.optional(
    Schema.NullOr(Phone).annotate({ description: "For the carrier.", examples: ["+43 1 2345678"] })
  ),
  vatNumber: Schema.optional(
    Schema.NullOr(ShortText).annotate({ description: "Of a business in the EU.", examples: ["ATU12345678"] })
  )
})
export type ShippingAddress = typeof ShippingAddress.Type

const decodeAddress = Schema.decodeUnknownOption(ShippingAddress)

/** Reads a stored address; null for one that no order could have today. */
export const addressIn = (stored: unknown): ShippingAddress | null => Option.getOrNull(decodeAddress(stored))
