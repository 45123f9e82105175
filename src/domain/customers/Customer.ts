import { Effect, Equal, Schema, SchemaGetter } from "effect"
import {
  addressChecks,
  keptAddress,
  normalizedAddress,
  type PostalAddress,
  sentAddress
} from "../platform/addresses/PostalAddress.ts"
import { conflict, notFound } from "../platform/errors/ErrorKinds.ts"
import type { Change } from "../platform/events/Event.ts"
import { about } from "../platform/hints/Hints.ts"
import { AddressId, CustomerId, OrganizationId } from "../platform/ids/Id.ts"
import { Email } from "../platform/text/Email.ts"
import { maybe, over } from "../platform/text/Fields.ts"
import { FreeText, keyText, Metadata, ShopperObject, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { changedExemption, SentTaxExemption, TaxExemption } from "./TaxExemption.ts"

/**
 * A customer; a login has one profile in each organization (spec §2, contract, platform §7). `userId` is null only in
 * the change log entry of an erasure.
 */
export const Customer = Schema.Struct({
  id: CustomerId,
  organizationId: OrganizationId,
  userId: Schema.NullOr(Schema.String).pipe(about("User who signs in; null for a walk-in.")),
  email: Schema.NullOr(Schema.String),
  phone: Schema.NullOr(Schema.String),
  firstName: Schema.NullOr(Schema.String),
  lastName: Schema.NullOr(Schema.String),
  groupIds: Schema.Array(Schema.String).pipe(about("Groups the customer is in.")),
  taxExemption: Schema.NullOr(TaxExemption).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  metadata: Metadata,
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
export const NewCustomer = Schema.Struct({
  ...own,
  email: maybe(Email),
  userId: maybe(keyText(255)).pipe(about("User who signs in; null for a walk-in."))
})
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

export const AddressType = Schema.Literals(["shipping", "billing"]).annotate({
  description: "Use of the address."
})

/** An address of a customer. At most one of each type is the default (contract, platform §7). */
export const Address = Schema.Struct({
  id: AddressId,
  customerId: CustomerId,
  type: AddressType,
  isDefault: Schema.Boolean.pipe(about("Used unless another is chosen.")),
  firstName: Schema.String,
  lastName: Schema.String,
  line1: Schema.String,
  line2: Schema.NullOr(Schema.String),
  city: Schema.String,
  state: Schema.NullOr(Schema.String).pipe(
    about("Code (ISO 3166-2, without the country) of the state or province, or its name.")
  ),
  postalCode: Schema.NullOr(Schema.String),
  country: Schema.String,
  phone: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String),
  company: Schema.NullOr(Schema.String),
  vatNumber: Schema.NullOr(Schema.String),
  unchecked: Schema.Boolean.annotate({
    description: "It was kept as given: it does not have the form of its country."
  })
}).annotate({ identifier: "Address" })
export type Address = typeof Address.Type

const place = {
  type: AddressType,
  isDefault: Schema.optional(Schema.Boolean).pipe(about("Used unless another is chosen."))
}

const isNamed = ({ firstName, lastName, name }: Pick<PostalAddress, "firstName" | "lastName" | "name">) =>
  Boolean(name?.trim() || (firstName?.trim() && lastName?.trim())) ||
  { path: ["firstName"], issue: "firstName and lastName are required, or name." }

export const NewAddress = Schema.Struct({ ...place, ...sentAddress })
  .check(Schema.makeFilter(isNamed), ...addressChecks)
  .annotate({ identifier: "NewAddress" })
  .pipe(
    Schema.decodeTo(Schema.Struct({ ...place, ...keptAddress }), {
      decode: SchemaGetter.transform(normalizedAddress),
      encode: SchemaGetter.transform((address) => address)
    })
  )
export type NewAddress = typeof NewAddress.Type

/** An address of a file, which is kept as given where it does not have the form of its country. */
export const GivenAddress = Schema.Struct({ ...place, ...sentAddress, country: Text })

export const maxAddresses = 20

export class AddressNotFound extends notFound("Address", "Address not found.") {}

export class TooManyAddresses
  extends conflict("TooManyAddresses", `A customer has at most ${maxAddresses} addresses.`)
{}

export const addressOf = (id: AddressId, customerId: CustomerId, sent: NewAddress): Address => ({
  id,
  customerId,
  type: sent.type,
  isDefault: sent.isDefault ?? false,
  // Columns of the version before, which has no address without them.
  firstName: sent.firstName ?? nameParts(sent.name ?? "").firstName ?? "",
  lastName: sent.lastName ?? nameParts(sent.name ?? "").lastName ?? "",
  city: sent.city ?? "",
  line1: sent.line1,
  country: sent.country,
  line2: sent.line2 ?? null,
  state: sent.state ?? null,
  postalCode: sent.postalCode ?? null,
  phone: sent.phone ?? null,
  name: sent.name ?? null,
  company: sent.company ?? null,
  vatNumber: sent.vatNumber ?? null,
  unchecked: sent.unchecked ?? false
})

declare module "../platform/hooks/HookMap.ts" {
  interface AfterHooks {
    readonly "customers.afterCreate": { readonly result: Customer; readonly data: never }
    readonly "customers.afterUpdate": { readonly result: Customer; readonly data: never }
  }
}
