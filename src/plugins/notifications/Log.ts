import {
  CustomerId,
  idOf,
  integer,
  json,
  longText,
  oneOf,
  resource,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { channels } from "./Channel.ts"
import { admin, routes } from "./NotificationOptions.ts"
import { templates } from "./Templates.ts"

/**
 * A message to one recipient: queued → sent → delivered, or failed, or suppressed (declined, or one too many). `recipient`,
 * `subject`, `body` and `metadata` are deleted after `keepDays`. An event that is handled again finds its rows by `eventId`.
 */
export const messages = table("notification_log", {
  channel: oneOf(channels).about("Way of the message; in_app is the inbox of the customer."),
  event: text.fewValues.about("Event or purpose that made the message."),
  category: text.nullable.about("Topic that customers can decline."),
  eventId: uuid.nullable.about("Id of the event that made it."),
  templateId: uuid.references(templates).nullable,
  customerId: idOf(CustomerId).nullable,
  recipient: text.nullable.about("Address it goes to."),
  subject: text.nullable.about("Subject as it is sent."),
  body: longText.nullable.about("Text as it is sent."),
  metadata: json.nullable,
  status: oneOf(["queued", "sent", "delivered", "failed", "suppressed"]).default("queued").about(
    "sent: given to the channel. delivered: the channel reported it. suppressed: not sent, by a preference or quiet hours."
  ),
  error: text.nullable.about("Last failure."),
  providerId: text.nullable.about("Adapter that sent it, or that is asked again because it may have."),
  adapterMessageId: text.nullable.about("Id of the message at the provider."),
  attempts: integer.default(0).about("Number of tries."),
  nextAt: timestamp.about("When it is tried next; while it is being sent, when another process may take it over."),
  groupId: uuid.about("Message whose text it is sent with: another one for those of a digest. Adapters get it as key."),
  readAt: timestamp.nullable
}, {
  changeLog: false,
  personal: { exempt: "The task notifications/forget erases messages, and ends those that still wait." },
  atMost: { unbounded: "Events and staff write messages, not those who receive them." },
  unique: [{ columns: ["eventId", "recipient", "templateId"] }],
  indexes: [
    { columns: ["nextAt"], where: "status = 'queued' and group_id = id" },
    { columns: ["groupId"] },
    { columns: ["customerId"], where: "channel = 'in_app' and status = 'delivered' and read_at is null" },
    { columns: ["providerId", "adapterMessageId"] },
    { columns: ["createdAt"], where: "recipient is not null and status <> 'queued'" }
  ]
})
export type Message = RowOf<typeof messages>

/** `GET /log` and `GET /log/{id}` (contract, plugins §8). */
export const logRoutes = resource(routes, "/log", messages, {
  noun: "message",
  list: { summary: "List messages of the log" },
  read: admin,
  filters: ["channel", "event", "status", "customerId"]
})
