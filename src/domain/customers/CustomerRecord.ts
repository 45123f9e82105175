import { Schema } from "effect"
import { maybe } from "../pricing/Bounds.ts"
import { StorableObject, Text } from "../text/Storable.ts"
import { NewAddress } from "./Address.ts"
import { Email, Name, Phone } from "./Customer.ts"

/**
 * A customer in an import file, identified by e-mail address, case-insensitive. Absent keys keep the current value;
 * `groups` replaces the customer's groups, by name; addresses are added.
 */
export const CustomerRecord = Schema.Struct({
  email: Email,
  firstName: maybe(Name),
  lastName: maybe(Name),
  phone: maybe(Phone),
  groups: Schema.optional(Schema.Array(Text).check(Schema.isMaxLength(100))),
  metadata: maybe(StorableObject),
  addresses: Schema.optional(Schema.Array(NewAddress).check(Schema.isMaxLength(20)))
}).annotate({ identifier: "CustomerRecord" })
export type CustomerRecord = typeof CustomerRecord.Type
