import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { maybe, Time } from "../pricing/Bounds.ts"
import { FreeText, keyText, ShopperObject } from "../text/Storable.ts"

/**
 * A customer of an organization; a login has one profile in each (spec §2, contract, platform §7). `userId` is null
 * only in the change log entry of an erasure. `groupIds` affect prices and promotions.
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

/** A telephone number in any notation. */
export const Phone = FreeText.check(Schema.isMaxLength(64))

/** Maximum length of the mail standards. Only a mail can show that the address works. */
export const Email = FreeText.check(Schema.isMaxLength(320), Schema.isPattern(/^[^\s@]+@[^\s@]+$/))

const own = {
  firstName: maybe(Name),
  lastName: maybe(Name),
  phone: maybe(Phone),
  metadata: maybe(ShopperObject)
}

/** Body of a change of the caller's profile: null clears a field, `metadata` is replaced as a unit. */
export const ProfileChange = Schema.Struct(own).annotate({ identifier: "ProfileChange" })
export type ProfileChange = typeof ProfileChange.Type

/** Body of a change by staff: as for the caller's profile, and the e-mail address. */
export const CustomerChange = Schema.Struct({ ...own, email: maybe(Email) }).annotate({ identifier: "CustomerChange" })
export type CustomerChange = typeof CustomerChange.Type

/** Body of a new customer; without `userId` they are a walk-in without a login (contract, platform §8). */
export const NewCustomer = Schema.Struct({ ...own, email: maybe(Email), userId: maybe(keyText(255)) })
  .annotate({ identifier: "NewCustomer" })
export type NewCustomer = typeof NewCustomer.Type

const spaces = /\s+/

/** Splits the name of a login into first and last name. */
export const nameParts = (name: string): Pick<Customer, "firstName" | "lastName"> => {
  const [first = "", ...rest] = name.trim().split(spaces)
  return { firstName: first === "" ? null : first, lastName: rest.length === 0 ? null : rest.join(" ") }
}

/** The owner of a new profile. */
export interface NewRecord extends Pick<Customer, "id" | "organizationId" | "userId"> {
  readonly now: Date
}

/** A new profile with empty details. */
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
