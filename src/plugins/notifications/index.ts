import { DateTime, Effect, Layer } from "effect"
import { defineTask, pluginWith } from "stoa/plugin"
import { callbackRoute } from "./Callbacks.ts"
import { deliveries, messageMail } from "./Delivery.ts"
import { activeTemplates, onEvent, sendRoute } from "./Dispatch.ts"
import { inboxRoutes } from "./Inbox.ts"
import { InboxFeed } from "./InboxFeed.ts"
import { logRoutes, messages } from "./Log.ts"
import { forgetErased, forgetMessages } from "./MessagesRepo.ts"
import { NotificationOptions, NotificationSettings } from "./NotificationOptions.ts"
import { preferenceRoutes } from "./PreferenceRoutes.ts"
import { preferences } from "./Preferences.ts"
import { printJobs, printRoutes } from "./Print.ts"
import { PrintQueue } from "./PrintQueue.ts"
import { forgetJobs } from "./PrintRepo.ts"
import { templateRoutes, templates } from "./Templates.ts"

export { consoleAdapter, type NotificationAdapter, NotSent, type OutgoingMessage } from "./Channel.ts"
export { httpAdapter, type HttpAdapterOptions } from "./HttpAdapter.ts"
export { type NewPrintJob, PrintQueue } from "./PrintQueue.ts"

const pageSize = 1_000

/** Messages to customers, when events happen and when staff says so (contract, plugins §8): `plugins: [notifications({ … })]`. */
export const notifications = pluginWith("notifications", NotificationSettings, (settings) => ({
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  permissions: [
    { scope: "notifications:admin", description: "Write templates, send messages, see the log and print jobs" },
    { scope: "notifications:read", description: "See the preferences of customers", roles: ["staff"] },
    { scope: "notifications:write", description: "Set one's preferences", roles: ["customer"] },
    { scope: "notifications:print", description: "Fetch print jobs and report what became of them" }
  ],
  schema: () => ({ templates, preferences, messages, printJobs }),
  layer: Layer.mergeAll(Layer.succeed(NotificationOptions, settings), InboxFeed.layer, PrintQueue.layer),
  exports: PrintQueue,
  mailTemplates: [messageMail],
  onEvents: { "*": { handler: onEvent, only: { rowsIn: [activeTemplates] } } },
  routes: () => [
    ...templateRoutes,
    sendRoute,
    ...logRoutes,
    ...preferenceRoutes,
    ...printRoutes,
    ...inboxRoutes,
    callbackRoute
  ],
  tasks: (host) => [
    deliveries(host, settings),
    defineTask({
      slug: "notifications/forget",
      schedule: "17 * * * *",
      everyOrganization: true,
      handler: Effect.fn("Notifications.forget")(function*() {
        const now = yield* DateTime.nowAsDate
        const before = new Date(now.getTime() - settings.keepDays * 86_400_000)
        yield* host.db.use(forgetErased)(before)
        for (const forget of [forgetMessages, forgetJobs]) {
          while ((yield* host.db.use(forget)(before, pageSize)) === pageSize);
        }
      })
    })
  ]
}))
