import { inject } from "@effect/vitest"
import { Effect } from "effect"
import { buildersOf, createPluginTestApp, type PluginTestOptions } from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { type NotificationAdapter, notifications, NotSent, type OutgoingMessage } from "../index.ts"

type Behaviour = (message: OutgoingMessage) => "sent" | NotSent["outcome"]

/** A provider that sends a message of a key once, and behaves as a test says. */
export const provider = (providerId: string, channel: NotificationAdapter["channel"] = "sms") => {
  const sent = new Map<string, OutgoingMessage>()
  const asked: Array<string> = []
  let behave: Behaviour = () => "sent"
  const adapter: NotificationAdapter = {
    providerId,
    channel,
    send: (message) =>
      Effect.suspend(() => {
        asked.push(message.idempotencyKey)
        const outcome = behave(message)
        if (outcome === "sent" || outcome === "unknown") sent.set(message.idempotencyKey, message)
        return outcome === "sent"
          ? Effect.succeed({ messageId: `${providerId}-${message.idempotencyKey}` })
          : Effect.fail(new NotSent({ outcome, reason: `${outcome}.` }))
      })
  }
  return { adapter, asked, sent, behave: (next: Behaviour) => void (behave = next) }
}

/** A store that notifies. */
export const openShop = async (
  options: Parameters<typeof notifications>[0] = {},
  config: PluginTestOptions = {}
) => {
  const mails: Array<
    { readonly to: string; readonly data: object; readonly headers: Readonly<Record<string, string>> }
  > = []
  const app = await createPluginTestApp(notifications(options), {
    postgres: inject("postgres"),
    rateLimits: { api: 1_000_000, strict: 1_000_000 },
    email: { send: async (mail) => void mails.push(mail) },
    ...config
  })
  const calls = callsOf(app, "")
  const { done } = calls
  let names = 0
  const shop = {
    ...calls,
    app,
    mails,
    customer: () => buildersOf(app).customer(),
    /** An event that no other test sends. */
    event: () => `test.event${++names}`,
    template: async (event: string, body: object = {}) => {
      const whole = { event, channel: "sms", bodyTemplate: "Hello {{name}}", ...body }
      return (await done("POST", "/notifications/templates", whole)).text("data.id")
    },
    send: async (event: string, body: object = {}) =>
      (await done("POST", "/notifications/send", { event, channel: "sms", recipient: "+1", ...body })).text("data.id"),
    message: (id: string) => done("GET", `/notifications/log/${id}`),
    /** Lets the next try of a message be due now. */
    retry: async (id: string) => {
      await app.db.query("update notification_log set next_at = now() where id = $1", [id])
      await shop.drain()
    },
    /** The path of the link by which the last mail to an address is declined, under `/api`. */
    declineLink: (to: string) => {
      const url = mails.findLast((one) => one.to === to)?.headers["List-Unsubscribe"] ?? ""
      return /\/api(\/mail\/unsubscribe[^>]*)>$/.exec(url)?.[1]
    },
    drain: () => app.serviceRegistry.enqueue("notifications/send", {}),
    /** Waits until a message has this status. */
    settled: (id: string, status: string) =>
      waitFor(`${id} is ${status}`, async () => (await shop.message(id)).at("data.status") === status),
    close: app.close
  }
  return shop
}

export type NotificationShop = Awaited<ReturnType<typeof openShop>>
