import { Schema } from "effect"
import { notFound } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { CustomerId, InteractionId, OrganizationId, Uuid } from "../platform/ids/Id.ts"
import { maybe } from "../platform/text/Fields.ts"
import { FreeText, Metadata, StorableObject } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

export const InteractionKind = Schema.Literals(["visit", "call", "inquiry", "fitting", "follow_up", "message"])
  .annotate({
    description: "Way of the contact. fitting: the customer tried goods on. follow_up: staff came back to something."
  })

/** A staff note about contact with a customer (contract, platform §8). */
export const Interaction = Schema.Struct({
  id: InteractionId,
  organizationId: OrganizationId,
  customerId: CustomerId,
  kind: InteractionKind,
  notes: Schema.String,
  relatedEntityId: Schema.NullOr(Uuid),
  metadata: Metadata,
  createdBy: Schema.NullOr(Schema.String).pipe(about("Id of the user who wrote it; null: an API key or the system.")),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "CustomerInteraction" })
export type Interaction = typeof Interaction.Type

export class InteractionNotFound extends notFound("Interaction", "Interaction not found.") {}

const Notes = FreeText.check(Schema.isBetweenLength(1, 10_000))

export const NewInteraction = Schema.Struct({
  kind: InteractionKind,
  notes: Notes,
  relatedEntityId: maybe(Uuid),
  metadata: maybe(StorableObject)
}).annotate({ identifier: "NewCustomerInteraction" })
export type NewInteraction = typeof NewInteraction.Type

export const InteractionChange = Schema.Struct({
  ...NewInteraction.fields,
  kind: Schema.optional(InteractionKind),
  notes: Schema.optional(Notes)
}).annotate({ identifier: "CustomerInteractionChange" })
export type InteractionChange = typeof InteractionChange.Type
