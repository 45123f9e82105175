import { Effect, Schema } from "effect"
import { notFound } from "../platform/errors/ErrorKinds.ts"
import { CustomerGroupId, OrganizationId } from "../platform/ids/Id.ts"
import { maybe } from "../platform/text/Fields.ts"
import { FreeText, Metadata, StorableObject, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { SentTaxExemption, TaxExemption } from "./TaxExemption.ts"

/** A group of customers; prices and promotions reference it by id (contract, platform §8). */
export const CustomerGroup = Schema.Struct({
  id: CustomerGroupId,
  organizationId: OrganizationId,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  taxExemption: Schema.NullOr(TaxExemption).annotate({
    description: "Exemption of all customers in the group; null: they pay tax."
  })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "CustomerGroup" })
export type CustomerGroup = typeof CustomerGroup.Type

export class CustomerGroupNotFound extends notFound("CustomerGroup", "Customer group not found.") {}

const Description = FreeText.check(Schema.isMaxLength(1000))

export const NewCustomerGroup = Schema.Struct({
  name: Text,
  description: maybe(Description),
  metadata: maybe(StorableObject)
}).annotate({ identifier: "NewCustomerGroup" })
export type NewCustomerGroup = typeof NewCustomerGroup.Type

export const CustomerGroupChange = Schema.Struct({
  ...NewCustomerGroup.fields,
  name: Schema.optional(Text),
  taxExemption: maybe(SentTaxExemption)
})
  .annotate({ identifier: "CustomerGroupChange" })
export type CustomerGroupChange = typeof CustomerGroupChange.Type
