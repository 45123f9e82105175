import { Schema } from "effect"
import { about } from "../platform/hints/Hints.ts"
import { OrganizationId, WebhookEndpointId } from "../platform/ids/Id.ts"
import { maybe } from "../platform/text/Fields.ts"
import { FreeText, Metadata, ShortText, StorableObject, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

/** The endpoint failed for days, or it answered 410. */
export const DisabledReason = Schema.Literals(["failing", "gone"])
export type DisabledReason = typeof DisabledReason.Type

/** A destination of events (spec §2, contract, platform §9.1). Its secret is shown only at its creation. */
export const WebhookEndpoint = Schema.Struct({
  id: WebhookEndpointId,
  organizationId: OrganizationId,
  url: Schema.String.pipe(about("Address that events are sent to.")),
  description: Schema.NullOr(Schema.String),
  events: Schema.Array(Schema.String).pipe(about("Names of the events that it gets, or * for all.")),
  isActive: Schema.Boolean,
  failingSince: Schema.NullOr(Time),
  disabledAt: Schema.NullOr(Time),
  disabledReason: Schema.NullOr(DisabledReason).pipe(about("Why deliveries stopped.")),
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "WebhookEndpoint" })
export type WebhookEndpoint = typeof WebhookEndpoint.Type

export const WebhookEndpointWithSecret = Schema.Struct({
  ...WebhookEndpoint.fields,
  secret: Schema.String.annotate({ description: "Shown in this answer only." })
}).annotate({ identifier: "WebhookEndpointWithSecret" })
export type WebhookEndpointWithSecret = typeof WebhookEndpointWithSecret.Type

export const anyEvent = "*"

const Url = FreeText.check(Schema.isBetweenLength(1, 2048))
const Events = Schema.Array(Text).check(Schema.isBetweenLength(1, 100))
  .annotate({ description: "Names of events (spec §6), or * for all of them." })
const Description = FreeText.check(Schema.isMaxLength(1000))
const Secret = ShortText.annotate({
  description: "whsec_ and the base64 of 24 to 64 bytes, or any other text of 16 to 128 characters. Default: a new one."
})

export const NewWebhookEndpoint = Schema.Struct({
  url: Url.pipe(about("Address that events are sent to.")),
  events: Events,
  secret: maybe(Secret),
  description: maybe(Description),
  metadata: maybe(StorableObject)
})
export type NewWebhookEndpoint = typeof NewWebhookEndpoint.Type

/** Absent fields stay. Switching an endpoint on again clears its failures. */
export const WebhookEndpointChange = Schema.Struct({
  url: Schema.optional(Url).pipe(about("Address that events are sent to.")),
  events: Schema.optional(Events),
  isActive: Schema.optional(Schema.Boolean),
  description: maybe(Description),
  metadata: maybe(StorableObject)
})
export type WebhookEndpointChange = typeof WebhookEndpointChange.Type

export const SecretRotation = Schema.Struct({ secret: maybe(Secret) })
