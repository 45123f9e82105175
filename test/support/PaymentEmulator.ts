import { Effect, type Scope } from "effect"
import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { fileURLToPath } from "node:url"
import {
  type PaymentAdapter,
  PaymentDeclined,
  type PaymentIntent,
  PaymentUnknown,
  WebhookRejected
} from "../../src/domain/payments/PaymentAdapter.ts"
import { listening } from "./Listening.ts"

/** What became of a payment at the provider; amounts in minor units, `key` is the checkout's id. */
interface EmulatedPayment {
  readonly id: string
  readonly key: string
  readonly amount: number
  readonly currency: string
  readonly token: string | null
  status: "requires_capture" | "requires_action" | "succeeded" | "canceled"
  captured: number
  refunded: number
}

/** Money that went back, by the key it was asked for with. */
interface EmulatedRefund {
  readonly payment: string
  readonly key: string
  readonly amount: number
}

/**
 * `answers`: as it should be. `hears`: does what it is asked and never says so. `deaf`: does nothing and says nothing.
 * `late`: does what it is asked and says so after the time.
 */
export type EmulatorMode = "answers" | "hears" | "deaf" | { readonly late: number }

/**
 * A payment provider behind a socket, with a ledger that only its calls change. A payment whose instrument is
 * `decline` is refused, `nocapture` authorized and never paid, `3ds` waits for its shopper. The same key gives the same
 * payment or refund; a payment is captured once.
 */
export interface PaymentEmulator {
  readonly url: string
  readonly payments: () => ReadonlyArray<EmulatedPayment>
  readonly refunds: () => ReadonlyArray<EmulatedRefund>
  readonly calls: () => ReadonlyArray<string>
  /** From now on, towards one kind of call or all of them. */
  readonly behave: (mode: EmulatorMode, towards?: "authorize" | "capture" | "cancel" | "refund") => void
}

interface Asked {
  readonly id?: string
  readonly key?: string
  readonly amount?: number
  readonly currency?: string
  readonly token?: string | null
}

type Reply = { readonly declined: string } | { readonly payment: EmulatedPayment } | { readonly reference: string }

const idOf = (key: string): string => `pay_${createHash("sha256").update(key).digest("hex").slice(0, 24)}`

class Ledger {
  readonly payments = new Map<string, EmulatedPayment>()
  readonly refunds = new Map<string, EmulatedRefund>()
  readonly calls: Array<string> = []

  authorize({ amount = 0, currency = "", key = "", token = null }: Asked): Reply {
    if (token === "decline") return { declined: "The card was declined." }
    const id = idOf(key)
    const payment = this.payments.get(id) ??
      {
        id,
        key,
        amount,
        currency,
        token,
        status: token === "3ds" ? "requires_action" : "requires_capture",
        captured: 0,
        refunded: 0
      }
    this.payments.set(id, payment)
    return { payment }
  }

  capture(payment: EmulatedPayment, { amount = 0 }: Asked): Reply {
    if (payment.status === "canceled") return { declined: "The payment was cancelled." }
    const again = payment.status === "succeeded" && amount !== payment.captured
    if (again || payment.token === "nocapture" || amount > payment.amount) {
      return { declined: "The bank refused to pay." }
    }
    payment.status = "succeeded"
    payment.captured = amount
    return { payment }
  }

  cancel(payment: EmulatedPayment): Reply {
    payment.refunded = payment.captured
    payment.status = "canceled"
    return { payment }
  }

  refund(payment: EmulatedPayment, { amount = 0, key = "" }: Asked): Reply {
    const earlier = this.refunds.get(key)
    if (earlier !== undefined && earlier.amount !== amount) return { declined: "The key is of another refund." }
    if (earlier === undefined) {
      if (payment.refunded + amount > payment.captured) return { declined: "More than was paid." }
      payment.refunded += amount
      this.refunds.set(key, { payment: payment.key, key, amount })
    }
    return { reference: `re_${idOf(key)}` }
  }

  do(action: string, asked: Asked): Reply {
    this.calls.push(`${action} ${asked.key ?? ""}`)
    if (action === "authorize") return this.authorize(asked)
    const payment = this.payments.get(asked.id ?? "")
    if (payment === undefined) return { declined: "No such payment." }
    if (action === "capture") return this.capture(payment, asked)
    return action === "cancel" ? this.cancel(payment) : this.refund(payment, asked)
  }
}

const bodyOf = async (request: IncomingMessage): Promise<Asked> => {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return JSON.parse(text) as Asked // sent by the adapter beside this file
}

/** Starts a provider of the test's own; it ends with the scope. */
export const startEmulator: Effect.Effect<PaymentEmulator, never, Scope.Scope> = Effect.gen(function*() {
  const ledger = new Ledger()
  let modeOf: (action: string) => EmulatorMode = () => "answers"

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const asked = await bodyOf(request)
    const action = (request.url ?? "/").slice(1)
    const mode = modeOf(action)
    if (mode === "deaf") return
    const reply = ledger.do(action, asked)
    if (mode === "hears") return
    const say = () => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply))
    if (mode === "answers") say()
    else setTimeout(say, mode.late)
  }

  const server = createServer((request, response) => void serve(request, response))
  return {
    url: `http://127.0.0.1:${yield* listening(server)}`,
    payments: () => [...ledger.payments.values()],
    refunds: () => [...ledger.refunds.values()],
    calls: () => ledger.calls,
    behave: (mode, towards) => {
      const before = modeOf
      modeOf = (action) => towards === undefined || towards === action ? mode : before(action)
    }
  }
})

/** Options of a service process that has the emulator as its payment provider; `manual`: captures are asked for. */
export const emulatedService = (emulator: PaymentEmulator, capture: "automatic" | "manual" = "automatic") => ({
  program: fileURLToPath(new URL("./serveEmulated.ts", import.meta.url)),
  environment: { STOA_TEST_EMULATOR: emulator.url, STOA_TEST_CAPTURE: capture }
})

/** How long the adapter waits for the emulator; what takes longer has an unknown outcome. */
const timeoutMs = Number(process.env["STOA_TEST_PATIENCE_MS"] ?? 2_000)

interface ProviderReply {
  readonly declined?: string
  readonly payment?: EmulatedPayment
  readonly reference?: string
}

const ask = async (url: string, action: string, body: object): Promise<ProviderReply> => {
  const response = await fetch(`${url}/${action}`, {
    method: "POST",
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs)
  })
  return await response.json() as ProviderReply // written by the emulator beside this file
}

const intentOf = ({ amount, captured, currency, id, status }: EmulatedPayment): PaymentIntent => ({
  id,
  status,
  amount,
  currency,
  clientSecret: null,
  amountCaptured: captured
})

/** A payment adapter over the emulator at that address. */
export const emulatedProvider = (url: string): PaymentAdapter => {
  const asking = Effect.fnUntraced(function*(action: string, code: PaymentDeclined["code"], body: object) {
    const reply = yield* Effect.tryPromise({
      try: () => ask(url, action, body),
      catch: () => new PaymentUnknown({ message: "The payment provider did not answer in time." })
    })
    return reply.declined === undefined ? reply : yield* new PaymentDeclined({ code, message: reply.declined })
  })
  const intent = (action: string, code: PaymentDeclined["code"], body: object) =>
    Effect.flatMap(asking(action, code, body), ({ payment }) =>
      payment === undefined
        ? Effect.fail(new PaymentUnknown({ message: "The payment provider made no sense." }))
        : Effect.succeed(intentOf(payment)))
  return {
    providerId: "emulated",
    authorize: ({ amount, currency, idempotencyKey, paymentMethodToken }) =>
      intent("authorize", "PAYMENT_INTENT_CREATE_FAILED", {
        amount,
        currency,
        key: idempotencyKey,
        token: paymentMethodToken
      }),
    capture: (id, amount, key) => intent("capture", "PAYMENT_CAPTURE_FAILED", { id, amount, key }),
    cancel: (id, key) => Effect.asVoid(asking("cancel", "PAYMENT_CANCEL_FAILED", { id, key })),
    refund: (id, amount, _reason, key) =>
      Effect.map(
        asking("refund", "PAYMENT_REFUND_FAILED", { id, amount, key }),
        ({ reference }) => reference ?? ""
      ),
    verifyWebhook: () =>
      Effect.fail(
        new WebhookRejected({ code: "WEBHOOK_VERIFICATION_FAILED", message: "The emulator sends no events." })
      )
  }
}
