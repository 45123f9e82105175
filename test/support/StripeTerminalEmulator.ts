import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { listening } from "./Listening.ts"

/** A payment as the emulated Stripe has it; minor units. */
export interface CardPresentIntent {
  readonly id: string
  readonly amount: number
  readonly metadata: Readonly<Record<string, string>>
  status: "requires_payment_method" | "succeeded" | "canceled"
  received: number
  tip: number
  refunded: number
  error: string | null
}

interface Reply {
  readonly status: number
  readonly body: object
}

const refused = (message: string): Reply => ({
  status: 400,
  body: { error: { type: "invalid_request_error", message } }
})

const shown = ({ amount, error, id, metadata, received, status, tip }: CardPresentIntent) => ({
  id,
  object: "payment_intent",
  amount,
  amount_received: received,
  amount_details: { tip: tip > 0 ? { amount: tip } : {} },
  metadata,
  status,
  last_payment_error: error === null ? null : { message: error },
  latest_charge: received > 0
    ? { id: `ch_${id}`, payment_method_details: { card_present: { brand: "visa", last4: "4242" } } }
    : null
})

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return text
}

/** The calls of Stripe Terminal that a till makes, over a socket: payments on readers, by their documented behaviour. */
class Terminals {
  readonly intents = new Map<string, CardPresentIntent>()
  /** What each reader is asked to take. */
  readonly readers = new Map<string, string | null>([["tmr_1", null]])
  readonly replies = new Map<string, Reply>()
  /** Paths whose next answer is lost after it had its effect. */
  readonly lost: Array<string> = []

  do(method: string, path: string, form: URLSearchParams): Reply {
    const [resource = "", id = "", action] = path.split("/")
    if (resource === "payment_intents" && id === "") return this.create(form)
    if (resource === "payment_intents") return this.intent(method, id, action)
    if (resource === "refunds") return this.refund(form)
    if (resource === "terminal" && action === undefined) return this.register(form)
    return this.reader(action ?? "", path.split("/").at(-1) ?? "", form)
  }

  create(form: URLSearchParams): Reply {
    const id = `pi_${this.intents.size + 1}`
    const metadata = Object.fromEntries(
      [...form].flatMap(([name, value]) => name.startsWith("metadata[") ? [[name.slice(9, -1), value]] : [])
    )
    const amount = Number(form.get("amount"))
    const intent: CardPresentIntent = {
      id,
      amount,
      metadata,
      status: "requires_payment_method",
      received: 0,
      tip: 0,
      refunded: 0,
      error: null
    }
    this.intents.set(id, intent)
    return { status: 200, body: shown(intent) }
  }

  intent(method: string, id: string, action: string | undefined): Reply {
    const intent = this.intents.get(id)
    if (intent === undefined) return refused("No such payment_intent.")
    if (method === "POST" && action === "cancel") {
      if (intent.status !== "requires_payment_method") return refused(`This intent is ${intent.status}.`)
      intent.status = "canceled"
    }
    return { status: 200, body: shown(intent) }
  }

  refund(form: URLSearchParams): Reply {
    const intent = this.intents.get(form.get("payment_intent") ?? "")
    const amount = Number(form.get("amount") ?? intent?.received)
    if (intent?.status !== "succeeded" || intent.refunded + amount > intent.received) return refused("Not refundable.")
    intent.refunded += amount
    return { status: 200, body: { id: `re_${intent.id}_${intent.refunded}` } }
  }

  register(form: URLSearchParams): Reply {
    if (form.get("registration_code") !== "simulated-wpe") return refused("Invalid registration code.")
    this.readers.set("tmr_2", null)
    return { status: 200, body: { id: "tmr_2" } }
  }

  reader(id: string, action: string, form: URLSearchParams): Reply {
    if (!this.readers.has(id)) return refused("No such reader.")
    if (action === "process_payment_intent") {
      if (this.readers.get(id) !== null) return { status: 409, body: { error: { message: "Reader is busy." } } }
      this.readers.set(id, form.get("payment_intent"))
    }
    if (action === "cancel_action") this.readers.set(id, null)
    return { status: 200, body: { id } }
  }
}

/** A Stripe with readers for a test; it ends with the scope. */
export const startStripeTerminal = (secretKey: string) =>
  Effect.gen(function*() {
    const account = new Terminals()
    const handle = async (request: IncomingMessage, response: ServerResponse) => {
      const url = new URL(request.url ?? "/", "http://stripe")
      const path = url.pathname.replace("/v1/", "")
      const form = new URLSearchParams(await textOf(request))
      const key = [request.headers["idempotency-key"]].flat()[0] ?? ""
      if (request.headers.authorization !== `Bearer ${secretKey}`) {
        return void response.writeHead(401).end(JSON.stringify({ error: { message: "Invalid API Key." } }))
      }
      const { body, status } = account.replies.get(key) ?? account.do(request.method ?? "GET", path, form)
      if (key !== "") account.replies.set(key, { status, body: JSON.parse(JSON.stringify(body)) })
      const lost = account.lost.findIndex((one) => path.includes(one))
      if (lost >= 0) {
        account.lost.splice(lost, 1)
        return void request.socket.destroy()
      }
      return void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    }
    const port = yield* listening(createServer((request, response) => void handle(request, response)))
    const onReader = (reader: string) => {
      const intent = account.intents.get(account.readers.get(reader) ?? "")
      if (intent === undefined) throw new Error(`the reader ${reader} has nothing to take`)
      account.readers.set(reader, null)
      return intent
    }
    return {
      url: `http://127.0.0.1:${port}`,
      intents: account.intents,
      /** The next answers of these calls are lost. */
      lose: (...paths: ReadonlyArray<string>) => void account.lost.push(...paths),
      /** The customer presents a card. */
      tap: (reader = "tmr_1", tip = 0) => {
        const intent = onReader(reader)
        Object.assign(intent, { status: "succeeded", received: intent.amount + tip, tip })
        return intent
      },
      /** The bank says no. */
      decline: (reader = "tmr_1") => Object.assign(onReader(reader), { error: "Your card has insufficient funds." })
    }
  })
