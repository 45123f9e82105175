import { Data, Effect } from "effect"
import { normalizedMailbox, type PluginContext } from "stoa/plugin"

/** Ways on which a notification goes out; `in_app` is the inbox at `/api/me/notifications`. */
export const channels = ["email", "sms", "push", "print", "in_app"] as const
export type Channel = typeof channels[number]

const telephone = /^\+?(?=.{1,40}$)[\d ()./-]*\d$/

const forms: {
  readonly [C in Channel]?: { readonly admits: (to: string) => boolean; readonly words: string }
} = {
  email: { admits: (to) => normalizedMailbox(to) !== undefined, words: "an e-mail address" },
  sms: { admits: (to) => telephone.test(to), words: "a telephone number" }
}

/** What a channel needs to reach a receiver, in words; null when this is one. */
export const wantedBy = (channel: Channel, to: string): string | null => {
  const wanted = forms[channel]
  return wanted === undefined || wanted.admits(to) ? null : wanted.words
}

/** What an adapter sends. */
export interface OutgoingMessage {
  readonly channel: Channel
  /** E-mail address, telephone number, token of a device or id of a printer. */
  readonly to: string
  readonly subject: string | null
  /** HTML for e-mail, plain text for the others. */
  readonly body: string
  /** Headers that an e-mail needs so that its receiver can decline it (RFC 8058); its body has the link already. */
  readonly headers: Readonly<Record<string, string>>
  /** The same for each try of one message: a provider that knows it sends nothing. */
  readonly idempotencyKey: string
  readonly organizationId: string
}

/**
 * Why an adapter did not send.
 * - `unavailable`: it is certain that nothing was sent. The next adapter of the channel is asked.
 * - `unknown`: it may have been sent, as after a time-out. The same adapter is asked again later, with the same key.
 * - `refused`: this message will never be sent, as to a number that does not exist. It is `failed` at once.
 */
export class NotSent extends Data.TaggedError("NotSent")<{
  readonly outcome: "unavailable" | "unknown" | "refused"
  readonly reason: string
}> {}

/** Sends the messages of one channel. A defect or more than 20 seconds count as `unknown`. */
export interface NotificationAdapter {
  /** Unique among the adapters; log rows and callbacks name it. */
  readonly providerId: string
  readonly channel: Exclude<Channel, "in_app">
  /** Gives the provider's id of the message, by which callbacks name it; null without one. */
  readonly send: (
    message: OutgoingMessage,
    host: PluginContext
  ) => Effect.Effect<{ readonly messageId: string | null }, NotSent>
}

/** An adapter for development: writes messages into the log and sends nothing. */
export const consoleAdapter = (channel: NotificationAdapter["channel"]): NotificationAdapter => ({
  providerId: `console-${channel}`,
  channel,
  send: ({ body, idempotencyKey, subject, to }) =>
    Effect.as(Effect.logInfo(`${channel} to ${to}: ${subject ?? ""} ${body}`), { messageId: idempotencyKey })
})
