import { Context, Effect, Layer } from "effect"
import { type CustomerId, type LiveFeed, liveFeed, PluginContext } from "stoa/plugin"
import { type Unread, unreadOf } from "./MessagesRepo.ts"

interface InboxOwner {
  readonly organizationId: string
  readonly customerId: CustomerId
}

/** Tells who watches an inbox what is unread in it. */
export class InboxFeed extends Context.Service<InboxFeed, LiveFeed<InboxOwner, Unread>>()(
  "stoa/plugins/notifications/InboxFeed"
) {
  static readonly layer = Layer.effect(
    InboxFeed,
    Effect.flatMap(PluginContext, ({ db }) =>
      liveFeed({
        key: ({ customerId }: InboxOwner) => customerId,
        read: (owners) => Effect.map(unreadOf(db, owners), (all) => new Map(all.map((one) => [one.customerId, one]))),
        every: "2 seconds"
      }))
  )
}
