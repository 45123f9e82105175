import { assert, inject } from "@effect/vitest"
import { Effect } from "effect"
import {
  buildersOf,
  createPluginTestApp,
  type PluginTestOptions,
  type TestActor,
  testAdminActor
} from "stoa/plugin/testing"
import { eventually } from "../../../../test/support/Eventually.ts"
import { answer } from "../../../../test/support/ServiceCalls.ts"
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
  const mails: Array<{ readonly to: string; readonly data: object }> = []
  const app = await createPluginTestApp(notifications(options), {
    postgres: inject("postgres").url,
    rateLimits: { api: 1_000_000, strict: 1_000_000 },
    email: { send: async (mail) => void mails.push(mail) },
    ...config
  })
  const ask = async (method: string, path: string, body?: unknown, as: TestActor = testAdminActor) => {
    const sent = { as, ...(body === undefined ? {} : { body }) }
    const { body: received, headers, status } = await app.app.request(method, `/api${path}`, sent)
    return answer(status, headers, received)
  }
  const done = async (method: string, path: string, body?: unknown, as: TestActor = testAdminActor) => {
    const read = await ask(method, path, body, as)
    assert.oneOf(read.status, [200, 201], JSON.stringify(read.body))
    return read
  }
  let names = 0
  const shop = {
    app,
    mails,
    ask,
    done,
    status: async (...request: Parameters<typeof ask>) => (await ask(...request)).status,
    customer: () => buildersOf(app).customer(),
    /** An event that no other test sends. */
    event: () => `test.event${++names}`,
    template: async (event: string, body: object = {}) =>
      (await done("POST", "/notifications/templates", {
        event,
        channel: "sms",
        bodyTemplate: "Hello {{name}}",
        ...body
      })).text("data.id"),
    send: async (event: string, body: object = {}) =>
      (await done("POST", "/notifications/send", { event, channel: "sms", recipient: "+1", ...body })).text("data.id"),
    message: (id: string) => done("GET", `/notifications/log/${id}`),
    drain: () => app.serviceRegistry.enqueue("notifications/send", {}),
    /** Waits until a message has this status. */
    settled: (id: string, status: string) =>
      Effect.runPromise(eventually(
        `${id} is ${status}`,
        Effect.promise(async () => (await shop.message(id)).at("data.status") === status),
        30_000
      )),
    close: app.close
  }
  return shop
}

export type NotificationShop = Awaited<ReturnType<typeof openShop>>
