import { newId } from "../../src/domain/platform/ids/Id.ts"

/** A payment as the emulated Stripe has it; amounts in Stripe's units. */
export interface StripeIntent {
  readonly id: string
  readonly object: "payment_intent"
  readonly amount: number
  readonly currency: string
  readonly client_secret: string
  metadata: Readonly<Record<string, string>>
  readonly token: string | null
  amount_received: number
  status: "requires_payment_method" | "requires_action" | "requires_capture" | "succeeded" | "canceled"
}

/** Money given back by the emulated Stripe. */
export interface StripeRefund {
  readonly id: string
  readonly object: "refund"
  readonly payment_intent: string
  readonly amount: number
  readonly status: "succeeded" | "failed"
  readonly metadata: Readonly<Record<string, string>>
}

/** An answer of the emulated Stripe: its status and its body. */
export interface Reply {
  readonly status: number
  readonly body: object
}

type Fields = ReadonlyMap<string, string>

const ok = (body: object): Reply => ({ status: 200, body })
const refused = (status: number, type: string, code: string, message: string, intent?: StripeIntent): Reply => ({
  status,
  body: { error: { type, code, message, ...intent === undefined ? {} : { payment_intent: intent } } }
})
const invalid = (code: string, message: string) => refused(400, "invalid_request_error", code, message)
const declined = (intent?: StripeIntent) =>
  refused(402, "card_error", "card_declined", "Your card was declined.", intent)

const metadataOf = (fields: Fields) =>
  Object.fromEntries([...fields].flatMap(([name, value]) => {
    const key = /^metadata\[(.+)\]$/.exec(name)?.[1]
    return key === undefined ? [] : [[key, value]]
  }))

const threeDecimals = ["bhd", "jod", "kwd", "omr", "tnd"]

/**
 * What the emulated Stripe remembers and how its payments go on. The instrument's name says how: `pm_declined` is refused,
 * `pm_missing` does not exist, `pm_3ds…` waits for its shopper, `pm_unpaid` is authorized and never paid, `pm_lost` is
 * paid and never given back; any other pays.
 */
export class StripeLedger {
  readonly intents = new Map<string, StripeIntent>()
  readonly refunds: Array<StripeRefund> = []

  create(fields: Fields): Reply {
    const amount = Number(fields.get("amount"))
    const currency = fields.get("currency") ?? ""
    const token = fields.get("payment_method") ?? null
    if (fields.get("capture_method") !== "manual") return invalid("parameter_missing", "Expected manual capture.")
    if (!Number.isInteger(amount) || amount < 1) return invalid("amount_too_small", "Amount must be at least 1.")
    if (threeDecimals.includes(currency) && amount % 10 > 0) return invalid("invalid_amount", "Not a multiple of 10.")
    if (token === "pm_missing") return invalid("resource_missing", "No such PaymentMethod: 'pm_missing'")
    const id = `pi_${newId().replaceAll("-", "")}`
    const intent: StripeIntent = {
      id,
      object: "payment_intent",
      amount,
      currency,
      client_secret: `${id}_secret_${newId().slice(-12)}`,
      metadata: metadataOf(fields),
      token,
      amount_received: 0,
      status: token === null || token === "pm_declined"
        ? "requires_payment_method"
        : token.startsWith("pm_3ds")
        ? "requires_action"
        : "requires_capture"
    }
    this.intents.set(id, intent)
    return token === "pm_declined" ? declined(intent) : ok(intent)
  }

  update(intent: StripeIntent, fields: Fields): Reply {
    intent.metadata = { ...intent.metadata, ...metadataOf(fields) }
    return ok(intent)
  }

  /** A wallet confirms a payment in a page. */
  confirm(id: string): StripeIntent {
    const intent = this.intents.get(id)
    if (intent === undefined) throw new Error(`the emulated Stripe has no payment ${id}`)
    intent.status = "requires_capture"
    return intent
  }

  capture(intent: StripeIntent, fields: Fields): Reply {
    const amount = Number(fields.get("amount_to_capture") ?? intent.amount)
    if (intent.status !== "requires_capture") return this.unexpected(intent)
    if (intent.token === "pm_unpaid") return declined(intent)
    if (amount > intent.amount) return invalid("amount_too_large", "More than was authorized.")
    intent.status = "succeeded"
    intent.amount_received = amount
    return ok(intent)
  }

  cancel(intent: StripeIntent): Reply {
    if (intent.status === "succeeded" || intent.status === "canceled") return this.unexpected(intent)
    intent.status = "canceled"
    return ok(intent)
  }

  /** What has been given back of a payment, Stripe's units. */
  refundedOf(intentId: string): number {
    return this.refunds.filter(({ payment_intent, status }) => payment_intent === intentId && status === "succeeded")
      .reduce((sum, { amount }) => sum + amount, 0)
  }

  refund(fields: Fields): Reply {
    const intent = this.intents.get(fields.get("payment_intent") ?? "")
    if (intent === undefined) return invalid("resource_missing", "No such payment_intent.")
    const left = intent.amount_received - this.refundedOf(intent.id)
    if (left === 0) return invalid("charge_already_refunded", "The charge has already been refunded.")
    const amount = Number(fields.get("amount") ?? left)
    if (amount > left) return invalid("amount_too_large", "More than is left.")
    const refund: StripeRefund = {
      id: `re_${newId().replaceAll("-", "")}`,
      object: "refund",
      payment_intent: intent.id,
      amount,
      status: intent.token === "pm_lost" ? "failed" : "succeeded",
      metadata: metadataOf(fields)
    }
    this.refunds.push(refund)
    return ok(refund)
  }

  private unexpected(intent: StripeIntent): Reply {
    const message = `This PaymentIntent's status is ${intent.status}.`
    return refused(400, "invalid_request_error", "payment_intent_unexpected_state", message, intent)
  }

  /** Routes a call; `path` as after `/v1/`. */
  do(method: string, path: string, fields: Fields): Reply {
    const [resource, id, action] = path.split("/")
    if (resource === "refunds") {
      if (method === "POST") return this.refund(fields)
      const data = this.refunds.filter((one) => one.payment_intent === fields.get("payment_intent"))
      return ok({ object: "list", data, has_more: false, url: "/v1/refunds" })
    }
    if (method === "POST" && id === undefined) return this.create(fields)
    if (id === "search") {
      const checkout = /^metadata\['checkoutId'\]:'([^']+)'$/.exec(fields.get("query") ?? "")?.[1]
      const data = [...this.intents.values()].filter(({ metadata }) => metadata["checkoutId"] === checkout)
      return ok({ object: "search_result", data, has_more: false, url: "/v1/payment_intents/search" })
    }
    const intent = this.intents.get(id ?? "")
    if (intent === undefined) {
      return refused(404, "invalid_request_error", "resource_missing", "No such payment_intent.")
    }
    if (method === "GET") return ok(intent)
    if (action === undefined) return this.update(intent, fields)
    return action === "capture" ? this.capture(intent, fields) : this.cancel(intent)
  }
}
