import { Schema } from "effect"
import { Uuid, WebhookEndpointId } from "../platform/ids/Id.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"

const ofEvent = {
  organizationId: Schema.String,
  eventId: Uuid,
  entityType: Schema.String,
  entityId: Schema.String,
  sequence: Schema.Int
}

/** An event as it is sent. */
const WebhookMessage = Schema.Struct({
  ...ofEvent,
  type: Schema.String,
  body: Schema.String,
  eventAt: Time,
  createdAt: Time
})

export const webhookMessages = new Table("webhook_messages", WebhookMessage, { casts: { sequence: "float8" } })

/** An endpoint that still has to receive an event. */
const WebhookDispatch = Schema.Struct({
  ...ofEvent,
  endpointId: WebhookEndpointId,
  state: Schema.Literals(["pending", "waiting"]),
  attempts: Schema.Int,
  touchedAt: Time
})

export const webhookDispatches = new Table("webhook_dispatches", WebhookDispatch, {
  casts: { sequence: "float8" },
  unset: ["state", "attempts"]
})
