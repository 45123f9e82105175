import { Schema } from "effect"
import { maybe } from "../pricing/Bounds.ts"
import { StorableObject, Text } from "../text/Storable.ts"
import { NewAddress } from "./Address.ts"
import { Email, Name, Phone } from "./Customer.ts"

/**
 * A customer as files carry him: known by his e-mail address, whatever its case. Absent keys keep what is there; `groups`
 * takes the place of the groups he is in, by their names; addresses are added to those that are there.
 */
export const CustomerRecord = Schema.Struct({
  email: Email,
  firstName: maybe(Name),
  lastName: maybe(Name),
  phone: maybe(Phone),
  metadata: maybe(StorableObject),
  groups: Schema.optional(Schema.Array(Text).check(Schema.isMaxLength(100))),
  addresses: Schema.optional(Schema.Array(NewAddress).check(Schema.isMaxLength(20)))
}).annotate({ identifier: "CustomerRecord" })
export type CustomerRecord = typeof CustomerRecord.Type
