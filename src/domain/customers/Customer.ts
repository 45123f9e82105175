import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"

const Time = Schema.Date.annotate({ format: "date-time" })

/** A customer of an organization; a login has one profile in each (contract, platform §7). */
export const Customer = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  userId: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String),
  groupIds: Schema.Array(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Customer" })
export type Customer = typeof Customer.Type
