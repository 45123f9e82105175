import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import {
  outbound,
  type OutboundError,
  type OutboundRequest,
  PaymentDeclined,
  PaymentUnknown,
  type PluginContext
} from "stoa/plugin"
import type { PosTerminalAdapter, TerminalOutcome } from "./CardTerminals.ts"

/** Card readers of Stripe Terminal, driven by this server. */
export interface StripeTerminalOptions {
  readonly secretKey: Redacted.Redacted<string>
  /** `whsec_…` of the endpoint `/api/pos/terminals/stripe/webhook`; without it payments are asked for. */
  readonly webhookSecret?: Redacted.Redacted<string>
  /** `tml_…`: where readers are registered. */
  readonly location?: string
  /** Default: of Stripe. */
  readonly url?: string
}

const Intent = Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  amount: Schema.Int,
  amount_received: Schema.optional(Schema.Int),
  amount_details: Schema.optional(
    Schema.Struct({ tip: Schema.optional(Schema.Struct({ amount: Schema.optional(Schema.Int) })) })
  ),
  metadata: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  last_payment_error: Schema.optional(Schema.NullOr(Schema.Struct({ message: Schema.optional(Schema.String) }))),
  latest_charge: Schema.optional(Schema.NullOr(Schema.Union([
    Schema.String,
    Schema.Struct({
      payment_method_details: Schema.optional(Schema.NullOr(Schema.Struct({
        card_present: Schema.optional(
          Schema.NullOr(Schema.Struct({ brand: Schema.optional(Schema.String), last4: Schema.optional(Schema.String) }))
        )
      })))
    })
  ])))
})
type Intent = typeof Intent.Type
const Named = Schema.Struct({ id: Schema.String })
const Failure = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.Struct({ message: Schema.optional(Schema.String), code: Schema.optional(Schema.String) })
  })
)
const Event = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Struct({ object: Schema.Struct({ metadata: Schema.optional(Schema.Unknown) }) }) })
)
const About = Schema.Struct({ paymentId: Schema.String })

const declined = (message: string) => new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message })

const readFailure = Schema.decodeUnknownOption(Failure)

/** A refusal (4xx) is final, except where Stripe asks to try again. */
const refusalOf = (error: OutboundError | Schema.SchemaError): PaymentDeclined | PaymentUnknown => {
  if (error._tag !== "OutboundRejected" || error.status >= 500 || [408, 409, 425, 429].includes(error.status)) {
    return new PaymentUnknown({ message: "The card terminals could not be asked." })
  }
  const message = Option.getOrUndefined(readFailure(error.body))?.error.message
  return declined(message ?? "The card terminal refused the payment.")
}

const labelOf = ({ latest_charge: charge }: Intent): string => {
  const card = typeof charge === "object" ? charge?.payment_method_details?.card_present : undefined
  return card?.last4 === undefined ? "Card" : `${card.brand ?? "Card"} ending in ${card.last4}`
}

const outcomeOf = (intent: Intent): TerminalOutcome => {
  const { amount_details: details, amount_received: received = 0, last_payment_error: error, status } = intent
  if (status === "succeeded") {
    const tip = details?.tip?.amount ?? 0
    return { status: "collected", amount: received - tip, tip, label: labelOf(intent) }
  }
  if (status === "canceled") return { status: "failed", message: "The payment was cancelled." }
  return error === undefined || error === null
    ? { status: "pending" }
    : { status: "failed", message: error.message ?? "The card was declined." }
}

const toleranceMs = 300_000

/** `t=…,v1=…`: HMAC-SHA256 over the time and the raw body, at most five minutes old. */
const isSigned = (header: string, body: string, secret: string, now: number): boolean => {
  const parts = header.split(",").map((part) => part.split("=", 2))
  const at = parts.find(([name]) => name === "t")?.[1] ?? ""
  const expected = createHmac("sha256", secret).update(`${at}.${body}`).digest()
  const isRecent = Math.abs(now - Number(at) * 1_000) <= toleranceMs
  return isRecent && parts.some(([name, value = ""]) => {
    const given = Buffer.from(value, "hex")
    return name === "v1" && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

const formOf = (fields: Readonly<Record<string, string | number>>): string =>
  new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])).toString()

const clientOf = Effect.fnUntraced(function*({ secretKey, url = "https://api.stripe.com" }: StripeTerminalOptions) {
  const client = yield* outbound({
    name: "Stripe Terminal",
    origins: [url],
    timeout: 20_000,
    headers: { authorization: `Bearer ${Redacted.value(secretKey)}` }
  })
  const ask = <A>(
    schema: Schema.Codec<A, unknown>,
    request: Omit<OutboundRequest, "url"> & { readonly path: string }
  ) => Effect.mapError(client.json(schema, { ...request, url: `${url}/v1${request.path}` }), refusalOf)
  return {
    get: <A>(schema: Schema.Codec<A, unknown>, path: string) => ask(schema, { path }),
    post: <A>(
      schema: Schema.Codec<A, unknown>,
      path: string,
      fields: Readonly<Record<string, string | number>>,
      idempotencyKey: string
    ) =>
      ask(schema, {
        path,
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: formOf(fields),
        idempotencyKey
      })
  }
})

type Client = Effect.Success<ReturnType<typeof clientOf>>

const starting = ({ post }: Client): PosTerminalAdapter["start"] =>
  Effect.fn("StripeTerminal.start")(function*({ amount, currency, key, paymentId, readerId, tipMode }) {
    const intent = yield* post(Intent, "/payment_intents", {
      amount,
      currency: currency.toLowerCase(),
      "payment_method_types[]": "card_present",
      capture_method: "automatic",
      "metadata[paymentId]": paymentId,
      "metadata[readerId]": readerId
    }, `${key}:intent`)
    yield* post(Named, `/terminal/readers/${encodeURIComponent(readerId)}/process_payment_intent`, {
      payment_intent: intent.id,
      "process_config[skip_tipping]": tipMode === "on_terminal" ? "false" : "true"
    }, `${key}:process`)
    return { intentId: intent.id }
  })

/** Stops the reader, then the payment; what was taken meanwhile is refunded. */
const cancelling = ({ get, post }: Client): PosTerminalAdapter["cancel"] =>
  Effect.fn("StripeTerminal.cancel")(function*(intentId) {
    const path = `/payment_intents/${encodeURIComponent(intentId)}`
    const refund = post(Named, "/refunds", { payment_intent: intentId }, `${intentId}:cancel`)
    const before = yield* get(Intent, path)
    if (before.status === "canceled") return
    if (before.status === "succeeded") return yield* Effect.asVoid(refund)
    const readerId = before.metadata?.["readerId"] ?? ""
    yield* Effect.ignore(
      post(Named, `/terminal/readers/${encodeURIComponent(readerId)}/cancel_action`, {}, `${intentId}:stop`)
    )
    yield* Effect.catchTag(
      post(Intent, `${path}/cancel`, {}, `${intentId}:void`),
      "PaymentDeclined",
      () =>
        Effect.flatMap(
          get(Intent, path),
          ({ status }) =>
            status === "succeeded" ? Effect.asVoid(refund) : status === "canceled"
              ? Effect.void
              : Effect.fail(new PaymentUnknown({ message: "The payment could not be cancelled." }))
        )
    )
  })

const verifying =
  (webhookSecret: Redacted.Redacted<string>): NonNullable<PosTerminalAdapter["verifyWebhook"]> => (headers, rawBody) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const signature = headers["stripe-signature"] ?? ""
      if (!isSigned(signature, rawBody, Redacted.value(webhookSecret), now)) return undefined
      const metadata = Option.map(Schema.decodeUnknownOption(Event)(rawBody), ({ data }) => data.object.metadata)
      const about = Option.flatMap(metadata, Schema.decodeUnknownOption(About))
      return { paymentId: Option.getOrUndefined(about)?.paymentId ?? "" }
    })

/** `pos({ terminals: [stripeTerminal({ secretKey })] })`: payments with `provider: "stripe"`. */
export const stripeTerminal = (
  options: StripeTerminalOptions
): Effect.Effect<PosTerminalAdapter, never, Effect.Services<typeof PluginContext>> =>
  Effect.map(clientOf(options), (client) => {
    const { get, post } = client
    const { location, webhookSecret } = options
    return {
      id: "stripe",
      start: starting(client),
      status: (intentId) =>
        Effect.map(get(Intent, `/payment_intents/${encodeURIComponent(intentId)}?expand[]=latest_charge`), outcomeOf),
      cancel: cancelling(client),
      refund: (intentId, amount, key) =>
        Effect.map(post(Named, "/refunds", { payment_intent: intentId, amount }, key), ({ id }) => id),
      register: ({ label, registrationCode }) =>
        Effect.map(
          post(Named, "/terminal/readers", {
            registration_code: registrationCode,
            label,
            ...(location === undefined ? {} : { location })
          }, `reader:${registrationCode}`),
          ({ id }) => ({ readerId: id })
        ),
      ...(webhookSecret === undefined ? {} : { verifyWebhook: verifying(webhookSecret) })
    }
  })
