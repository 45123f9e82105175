import { Schema } from "effect"
import { CustomerId } from "../platform/ids/Id.ts"

export const NamedCustomer = Schema.Struct({
  id: CustomerId,
  name: Schema.NullOr(Schema.String).annotate({
    description: "First and last name of the profile.",
    examples: ["Ann Buyer"]
  })
}).annotate({ identifier: "NamedCustomer" })

/** The part of a profile that orders show (contract-commerce §4). */
export const BuyerProfile = Schema.Struct({ ...NamedCustomer.fields, email: Schema.NullOr(Schema.String) })
export type BuyerProfile = typeof BuyerProfile.Type

/** A profile `u` as JSON. */
export const profileJson = `jsonb_build_object('id', u.id,
  'name', nullif(trim(concat_ws(' ', u.first_name, u.last_name)), ''), 'email', u.email)`

/** The profile of the customer of a row `x`, or null. */
export const buyerProfile = (x: string): string =>
  `(select ${profileJson} from customers_read u
    where u.id = ${x}.customer_id and u.organization_id = ${x}.organization_id)`

/** The buyer of an order: the address left with it counts before the one in the profile. */
export const buyerShown = (left: string | null | undefined, profile: BuyerProfile | null | undefined) => ({
  email: left?.trim() || profile?.email || null,
  customer: profile ? { id: profile.id, name: profile.name } : null
})
