import { Effect, Option, Redacted, Schema } from "effect"
import { type Outbound, outbound, type OutboundError, PluginContext } from "stoa/plugin"
import { type NotificationAdapter, NotSent, type OutgoingMessage } from "./Channel.ts"
import { valueAt } from "./Rendering.ts"

/** JSON in whose texts `{{to}}`, `{{subject}}`, `{{body}}`, `{{idempotencyKey}}` and the like are filled. */
type JsonTemplate =
  | string
  | number
  | boolean
  | null
  | ReadonlyArray<JsonTemplate>
  | { readonly [name: string]: JsonTemplate }

/** A provider that takes a message by one POST of JSON. */
export interface HttpAdapterOptions extends Pick<NotificationAdapter, "channel" | "providerId"> {
  /** From the configuration: it may be an internal address. */
  readonly url: string
  /** `{ authorization: Redacted.make("Bearer …") }`; redacted values are in no log. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted<string>>>
  /** `{ to: "{{to}}", text: "{{body}}" }` */
  readonly body: JsonTemplate
  /** The path of the provider's id of the message in its answer, such as `data.id`. */
  readonly messageIdAt?: string
  /** Milliseconds of one request. Default 5,000. */
  readonly timeoutMs?: number
  /** Quick repetitions with the same key, before the message waits. Default 2. */
  readonly retries?: number
}

const textAt = (message: OutgoingMessage, path: string): string => {
  const value = valueAt(message, path)
  return typeof value === "string" ? value : ""
}

const bodyOf = (template: JsonTemplate, message: OutgoingMessage): JsonTemplate => {
  if (typeof template === "string") {
    return template.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (_, path: string) => textAt(message, path))
  }
  if (Array.isArray(template)) return template.map((one: JsonTemplate) => bodyOf(one, message))
  if (typeof template !== "object" || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, one]) => [name, bodyOf(one, message)]))
}

/** Not the message's fault: its provider is busy, or the deployment's credentials are wrong. Nothing was sent. */
const postponing: ReadonlySet<number> = new Set([401, 403, 408, 425, 429, 503])

const notSent = (error: OutboundError): NotSent => {
  const { message: reason } = error
  switch (error._tag) {
    case "OutboundPaused":
    case "OutboundRefused":
      return new NotSent({ outcome: "unavailable", reason })
    case "OutboundFailed":
      return new NotSent({ outcome: error.reason === "unresolved" ? "unavailable" : "unknown", reason })
    case "OutboundRejected": {
      const isOurs = error.status >= 400 && error.status < 500
      const outcome = postponing.has(error.status) || error.status < 400
        ? "unavailable"
        : isOurs
        ? "refused"
        : "unknown"
      return new NotSent({ outcome, reason })
    }
  }
}

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const clientOf = ({ headers = {}, providerId, retries = 2, timeoutMs = 5_000, url }: HttpAdapterOptions) =>
  outbound({
    name: providerId,
    origins: [new URL(url).origin],
    timeout: timeoutMs,
    retries,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : Redacted.value(value)])
    )
  })

/**
 * An adapter over HTTP, for SMS, push or mail: posts JSON with an `Idempotency-Key`, which is the same for each try of a
 * message. A refusal (4xx) is final, except for 401, 403, 408, 425 and 429; a fault (5xx, no answer) is tried again.
 */
export const httpAdapter = (options: HttpAdapterOptions): NotificationAdapter => {
  const { body, channel, messageIdAt, providerId, url } = options
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new Error(`The url of the adapter ${providerId} must be an address with http or https.`)
  }
  const clients = new WeakMap<PluginContext, Outbound>()
  return {
    providerId,
    channel,
    send: Effect.fnUntraced(function*(message, host) {
      const client = clients.get(host) ?? (yield* Effect.provideService(clientOf(options), PluginContext, host))
      clients.set(host, client)
      const answer = yield* Effect.mapError(
        client.request({ url, body: bodyOf(body, message), idempotencyKey: message.idempotencyKey }),
        notSent
      )
      const found = messageIdAt === undefined
        ? ""
        : valueAt(Option.getOrNull(decodeJson(answer.body)), messageIdAt)
      const isId = (typeof found === "string" && found !== "") || typeof found === "number"
      return { messageId: isId ? String(found).slice(0, 255) : null }
    })
  }
}
