import { Option, Schema } from "effect"
import { keyText, ShortText, Text } from "../platform/text/Storable.ts"

export const ShippingAddress = Schema.Struct({
  line1: Text,
  line2: Schema.optional(Schema.NullOr(ShortText)),
  city: Text,
  state: Schema.optional(Schema.NullOr(ShortText)),
  postalCode: Text,
  country: Text,
  vatNumber: Schema.optional(
    Schema.NullOr(ShortText).annotate({ description: "Of a business in the EU.", examples: ["ATU12345678"] })
  )
})
export type ShippingAddress = typeof ShippingAddress.Type

const decodeAddress = Schema.decodeUnknownOption(ShippingAddress)

/** Reads a stored address; null for one that no order could have today. */
export const addressIn = (stored: unknown): ShippingAddress | null => Option.getOrNull(decodeAddress(stored))

export const Email = keyText(320).check(Schema.isPattern(/^[^\s@]+@[^\s@]+$/))
