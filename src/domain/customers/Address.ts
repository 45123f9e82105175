import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { maybe } from "../pricing/Bounds.ts"
import { FreeText, Text } from "../text/Storable.ts"
import { Phone } from "./Customer.ts"

/** Purpose of an address. */
export const AddressType = Schema.Literals(["shipping", "billing"])

/** An address of a customer. At most one of each type is the default (contract, platform §7). */
export const Address = Schema.Struct({
  id: Uuid,
  customerId: Uuid,
  type: AddressType,
  isDefault: Schema.Boolean,
  firstName: Schema.String,
  lastName: Schema.String,
  line1: Schema.String,
  line2: Schema.NullOr(Schema.String),
  city: Schema.String,
  state: Schema.NullOr(Schema.String),
  postalCode: Schema.NullOr(Schema.String),
  country: Schema.String,
  phone: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Address" })
export type Address = typeof Address.Type

const Line = FreeText.check(Schema.isMaxLength(255))

/** Body of a new address. `isDefault` replaces the previous default of its type. */
export const NewAddress = Schema.Struct({
  type: AddressType,
  firstName: Text,
  lastName: Text,
  line1: Text,
  city: Text,
  country: Text,
  line2: maybe(Line),
  state: maybe(Line),
  postalCode: maybe(Line),
  phone: maybe(Phone),
  isDefault: Schema.optional(Schema.Boolean)
}).annotate({ identifier: "NewAddress" })
export type NewAddress = typeof NewAddress.Type

/** Maximum addresses of a customer: the default page size. */
export const maxAddresses = 20

export const addressOf = (id: string, customerId: string, sent: NewAddress): Address => ({
  id,
  customerId,
  type: sent.type,
  isDefault: sent.isDefault ?? false,
  firstName: sent.firstName,
  lastName: sent.lastName,
  line1: sent.line1,
  line2: sent.line2 ?? null,
  city: sent.city,
  state: sent.state ?? null,
  postalCode: sent.postalCode ?? null,
  country: sent.country,
  phone: sent.phone ?? null
})
