import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { maybe, Time } from "../pricing/Bounds.ts"
import { FreeText, keyText, ShopperObject } from "../text/Storable.ts"

/**
 * A customer of an organization; a login has one profile in each (spec §2, contract, platform §7). `userId` is null only
 * in what the change log tells of an erasure. `groupIds` decide about prices and promotions.
 */
export const Customer = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  userId: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  phone: Schema.NullOr(Schema.String),
  firstName: Schema.NullOr(Schema.String),
  lastName: Schema.NullOr(Schema.String),
  groupIds: Schema.Array(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Customer" })
export type Customer = typeof Customer.Type

/** A part of a person's name, or of an address. */
export const Name = FreeText.check(Schema.isMaxLength(255))

/** A telephone number, in whatever form people write it. */
export const Phone = FreeText.check(Schema.isMaxLength(64))

/** As long as the mail standards allow; whether somebody reads it only a mail can tell. */
export const Email = FreeText.check(Schema.isMaxLength(320), Schema.isPattern(/^[^\s@]+@[^\s@]+$/))

const own = {
  firstName: maybe(Name),
  lastName: maybe(Name),
  phone: maybe(Phone),
  metadata: maybe(ShopperObject)
}

/** Body of a change of one's own profile: null empties a field, `metadata` replaces all of it. */
export const ProfileChange = Schema.Struct(own).annotate({ identifier: "ProfileChange" })
export type ProfileChange = typeof ProfileChange.Type

/** Body of a change by staff: like one's own, and the e-mail address. */
export const CustomerChange = Schema.Struct({ ...own, email: maybe(Email) }).annotate({ identifier: "CustomerChange" })
export type CustomerChange = typeof CustomerChange.Type

/** Body of a new customer; without `userId` he is a walk-in, who has no login (contract, platform §8). */
export const NewCustomer = Schema.Struct({ ...own, email: maybe(Email), userId: maybe(keyText(255)) })
  .annotate({ identifier: "NewCustomer" })
export type NewCustomer = typeof NewCustomer.Type

const spaces = /\s+/

/** The name of a login as a profile has it: what comes first, and the rest. */
export const nameParts = (name: string): Pick<Customer, "firstName" | "lastName"> => {
  const [first = "", ...rest] = name.trim().split(spaces)
  return { firstName: first === "" ? null : first, lastName: rest.length === 0 ? null : rest.join(" ") }
}

/** Whose a new profile is. */
export interface NewRecord extends Pick<Customer, "id" | "organizationId" | "userId"> {
  readonly now: Date
}

/** A new profile of which nothing is known yet. */
export const blankCustomer = ({ id, now, organizationId, userId }: NewRecord): Customer => ({
  id,
  organizationId,
  userId,
  email: null,
  phone: null,
  firstName: null,
  lastName: null,
  groupIds: [],
  metadata: {},
  createdAt: now,
  updatedAt: now
})
