import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { maybe, Time } from "../pricing/Bounds.ts"
import { FreeText, StorableObject } from "../text/Storable.ts"

/** How a customer and the store met. */
export const InteractionKind = Schema.Literals(["visit", "call", "inquiry", "fitting", "follow_up", "message"])

/** What staff notes about a meeting with a customer (contract, platform §8). `createdBy` is the login that noted it. */
export const Interaction = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  customerId: Uuid,
  kind: InteractionKind,
  notes: Schema.String,
  relatedEntityId: Schema.NullOr(Uuid),
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  createdBy: Schema.NullOr(Schema.String),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "CustomerInteraction" })
export type Interaction = typeof Interaction.Type

const Notes = FreeText.check(Schema.isBetweenLength(1, 10_000))

/** Body of a new interaction. */
export const NewInteraction = Schema.Struct({
  kind: InteractionKind,
  notes: Notes,
  relatedEntityId: maybe(Uuid),
  metadata: maybe(StorableObject)
}).annotate({ identifier: "NewCustomerInteraction" })
export type NewInteraction = typeof NewInteraction.Type

/** Body of a change: null empties a field, `metadata` replaces all of it. */
export const InteractionChange = Schema.Struct({
  ...NewInteraction.fields,
  kind: Schema.optional(InteractionKind),
  notes: Schema.optional(Notes)
}).annotate({ identifier: "CustomerInteractionChange" })
export type InteractionChange = typeof InteractionChange.Type
