import { DateTime, Effect, Schema, Stream } from "effect"
import {
  about,
  CustomerId,
  fieldsOf,
  group,
  listOf,
  messageOf,
  type PluginCall,
  serverSentEvents,
  visibleRows
} from "stoa/plugin"
import { InboxFeed } from "./InboxFeed.ts"
import { messages } from "./Log.ts"

const { body, createdAt, event, id, readAt, subject } = fieldsOf(messages)
const Entry = Schema.Struct({ id, event, subject, body, createdAt, readAt })

/** Messages in the inbox of the customer who asks; none for callers without a profile. */
const inbox = ({ services }: Pick<PluginCall, "services">) =>
  Effect.map(services.customers.existingProfile, (own) => ({
    customerId: { in: own === null ? [] : [CustomerId.make(own.id)] },
    channel: "in_app" as const,
    status: "delivered" as const
  }))

const routes = group("Notifications", "/me")
const auth = { auth: true }

/** The inbox of a customer: what templates of the channel `in_app` say. */
export const inboxRoutes = [
  listOf(routes, "/notifications", messages, {
    ...auth,
    summary: "List one's messages, the newest first",
    query: { unread: Schema.optional(Schema.Literals(["true", "false"])) },
    visible: visibleRows(["customerId", "channel", "status"], inbox),
    view: { success: Entry, show: Effect.succeed },
    answer: ({ db, page, query: { unread }, where }) =>
      db.table(messages).page({ ...where, ...(unread === "true" ? { readAt: null } : {}) }, page)
  }),
  routes.get("/notifications/unread", {
    ...auth,
    summary: "Count one's unread messages",
    success: Schema.Struct({ unread: Schema.Int.pipe(about("Number of unread messages.")) })
  }).handle((call) =>
    Effect.flatMap(
      inbox(call),
      (own) => Effect.map(call.db.table(messages).count({ ...own, readAt: null }), (unread) => ({ unread }))
    )
  ),
  routes.raw("GET", "/notifications/stream", {
    ...auth,
    summary: "Stream one's inbox",
    description:
      "Server-sent events `inbox` with how many messages are unread and the id of the last one: at first, and within two seconds of a change. It ends with the process, at the latest after a quarter of an hour; clients reconnect. 401 for callers without a profile, 503 where too many watch.",
    produces: "text/event-stream"
  }, ({ organizationId, services }) =>
    Effect.gen(function*() {
      const customerId = CustomerId.make((yield* services.customers.ownProfile).id)
      const states = yield* (yield* InboxFeed).follow({ organizationId: organizationId, customerId })
      return serverSentEvents(
        Stream.map(states, ({ latest, unread }) => messageOf({ event: "inbox", data: { unread, latest } }))
      )
    })),
  routes.post("/notifications/:id/read", {
    ...auth,
    summary: "Mark a message as read",
    description: "404 for messages of others.",
    success: Entry
  }).handle((call) =>
    Effect.gen(function*() {
      const which = { ...(yield* inbox(call)), id: call.params.id }
      const { readAt } = yield* call.db.table(messages).get(which)
      return yield* call.db.table(messages).update(which, { readAt: readAt ?? (yield* DateTime.nowAsDate) })
    })
  ),
  routes.post("/notifications/read", {
    ...auth,
    summary: "Mark all messages as read",
    success: Schema.Struct({ read: Schema.Int.pipe(about("Number of messages that were unread.")) })
  }).handle((call) =>
    Effect.gen(function*() {
      const unread = { ...(yield* inbox(call)), readAt: null }
      const read = yield* call.db.table(messages).updateMany(unread, { readAt: yield* DateTime.nowAsDate })
      return { read: read.length }
    })
  )
]
