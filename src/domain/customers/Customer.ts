import { Effect, Equal, Schema } from "effect"
import { conflict, notFound } from "../platform/errors/ErrorKinds.ts"
import type { Change } from "../platform/events/Event.ts"
import { AddressId, CustomerId } from "../platform/ids/Id.ts"
import { Email } from "../platform/text/Email.ts"
import { maybe, over } from "../platform/text/Fields.ts"
import { FreeText, keyText, ShopperObject, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { changedExemption, SentTaxExemption, TaxExemption } from "./TaxExemption.ts"

/**
 * A customer; a login has one profile in each organization (spec §2, contract, platform §7). `userId` is null only in
 * the change log entry of an erasure.
 */
export const Customer = Schema.Struct({
  id: CustomerId,
  organizationId: Schema.String,
  userId: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  phone: Schema.NullOr(Schema.String),
  firstName: Schema.NullOr(Schema.String),
  lastName: Schema.NullOr(Schema.String),
  groupIds: Schema.Array(Schema.String),
  taxExemption: Schema.NullOr(TaxExemption).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Customer" })
export type Customer = typeof Customer.Type

export class CustomerNotFound extends notFound("Customer", "Customer not found.") {}

export const Name = FreeText.check(Schema.isMaxLength(255))

export const Phone = FreeText.check(Schema.isMaxLength(64))

const own = {
  firstName: maybe(Name),
  lastName: maybe(Name),
  phone: maybe(Phone),
  metadata: maybe(ShopperObject)
}

export const ProfileChange = Schema.Struct(own).annotate({ identifier: "ProfileChange" })
export type ProfileChange = typeof ProfileChange.Type

export const CustomerChange = Schema.Struct({ ...own, email: maybe(Email), taxExemption: maybe(SentTaxExemption) })
  .annotate({ identifier: "CustomerChange" })
export type CustomerChange = typeof CustomerChange.Type

/** Without `userId` they are a walk-in without a login (contract, platform §8). */
export const NewCustomer = Schema.Struct({ ...own, email: maybe(Email), userId: maybe(keyText(255)) })
  .annotate({ identifier: "NewCustomer" })
export type NewCustomer = typeof NewCustomer.Type

const spaces = /\s+/

export const nameParts = (name: string): Pick<Customer, "firstName" | "lastName"> => {
  const [first = "", ...rest] = name.trim().split(spaces)
  return { firstName: first === "" ? null : first, lastName: rest.length === 0 ? null : rest.join(" ") }
}

interface NewProfile extends Pick<Customer, "id" | "organizationId" | "userId"> {
  readonly now: Date
}

export const blankCustomer = ({ id, now, organizationId, userId }: NewProfile): Customer => ({
  id,
  organizationId,
  userId,
  email: null,
  phone: null,
  firstName: null,
  lastName: null,
  groupIds: [],
  taxExemption: null,
  metadata: {},
  createdAt: now,
  updatedAt: now
})

export type MetadataMode = "replace" | "merge"

const metadataAfter = (before: Customer["metadata"], sent: CustomerChange["metadata"], mode: MetadataMode) => {
  if (sent === undefined) return before
  return mode === "replace" ? sent ?? {} : { ...before, ...sent }
}

/** Returns the same record when nothing differs: nothing is written or emitted. */
export const changedCustomer = (before: Customer, sent: CustomerChange, mode: MetadataMode, now: Date): Customer => {
  const after = {
    ...before,
    firstName: over(sent.firstName, before.firstName),
    lastName: over(sent.lastName, before.lastName),
    phone: over(sent.phone, before.phone),
    email: over(sent.email, before.email),
    taxExemption: changedExemption(sent.taxExemption, before.taxExemption),
    metadata: metadataAfter(before.metadata, sent.metadata, mode)
  }
  return Equal.equals(after, before) ? before : { ...after, updatedAt: now }
}

/** Without a login the customer gets a `userId` that no login ever has. */
export const newCustomer = (sent: NewCustomer, record: Omit<NewProfile, "userId">): Customer => {
  const login = sent.userId ?? null
  return {
    ...blankCustomer({ ...record, userId: login ?? `anonymous_${record.id}` }),
    email: sent.email ?? null,
    phone: sent.phone ?? null,
    firstName: sent.firstName ?? null,
    lastName: sent.lastName ?? null,
    metadata: { ...sent.metadata, ...(login === null ? { walkIn: true } : {}) }
  }
}

export const customerChange = (customer: Customer, before: Customer | null): Change => ({
  type: before === null ? "customers.create" : "customers.update",
  entityType: "customer",
  entityId: customer.id,
  payload: customer,
  before
})

export const AddressType = Schema.Literals(["shipping", "billing"])

/** An address of a customer. At most one of each type is the default (contract, platform §7). */
export const Address = Schema.Struct({
  id: AddressId,
  customerId: CustomerId,
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

export const maxAddresses = 20

export class AddressNotFound extends notFound("Address", "Address not found.") {}

export class TooManyAddresses extends conflict("Addresses", `A customer has at most ${maxAddresses} addresses.`) {}

export const addressOf = (id: AddressId, customerId: CustomerId, sent: NewAddress): Address => ({
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

declare module "../platform/hooks/HookMap.ts" {
  interface AfterHooks {
    readonly "customers.afterCreate": { readonly result: Customer; readonly data: never }
    readonly "customers.afterUpdate": { readonly result: Customer; readonly data: never }
  }
}
