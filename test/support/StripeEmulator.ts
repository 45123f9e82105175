import { Effect, type Scope } from "effect"
import { createHmac } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { listening } from "./Listening.ts"
import { type Reply, type StripeIntent, StripeLedger } from "./StripeLedger.ts"

/**
 * What happens to a call. `drop`: the connection ends before it is heard. `hear`: it has its effect and the connection ends
 * without an answer. `hold`: it has its effect and the answer waits for `release`. `break`: status 500, stored under
 * the key as Stripe does, without an effect. `limit`: status 429.
 */
export type Fault = "drop" | "hear" | "hold" | "break" | "limit"

/** The calls of Stripe's interface that this service makes. */
export type StripeCall = "create" | "retrieve" | "update" | "search" | "capture" | "cancel" | "refund" | "refunds"

interface Cached {
  readonly request: string
  /** Undefined while the first request is being worked on. */
  reply: Reply | undefined
}

/** The part of Stripe's HTTP interface that this service uses, over a socket, with a separate ledger. */
export interface StripeEmulator {
  readonly url: string
  readonly ledger: StripeLedger
  /** Each call with its idempotency key, in the order in which they were heard. */
  readonly calls: ReadonlyArray<{ readonly call: StripeCall; readonly key: string | undefined }>
  /** The next so many calls of a kind fail in this way. */
  readonly fault: (call: StripeCall, fault: Fault, times?: number) => void
  /** Lets the answers go that were held. */
  readonly release: () => void
  /** Forgets idempotency keys, as Stripe does after a day. */
  readonly forgetKeys: () => void
  /** The payment of an order. */
  readonly paymentOf: (orderId: string) => StripeIntent
}

const callOf = (method: string, path: string): StripeCall => {
  const [resource, id, action] = path.split("/")
  if (resource === "refunds") return method === "POST" ? "refund" : "refunds"
  if (id === undefined) return "create"
  if (id === "search") return "search"
  if (action === undefined) return method === "POST" ? "update" : "retrieve"
  return action === "capture" ? "capture" : "cancel"
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return text
}

const failure = (status: number, type: string, message: string, code?: string): Reply => ({
  status,
  body: { error: { type, message, ...code === undefined ? {} : { code } } }
})

class Account {
  readonly ledger = new StripeLedger()
  readonly calls: Array<{ readonly call: StripeCall; readonly key: string | undefined }> = []
  readonly keys = new Map<string, Cached>()
  readonly faults: Array<{ readonly call: StripeCall; readonly fault: Fault }> = []
  held: Array<() => void> = []

  takeFault(call: StripeCall): Fault | undefined {
    const index = this.faults.findIndex((one) => one.call === call)
    return index < 0 ? undefined : this.faults.splice(index, 1)[0]?.fault
  }

  /** As Stripe keeps idempotency keys: same request, same answer; another request, or one still at work, is refused. */
  answer(asked: { method: string; path: string; text: string; key: string | undefined }, breaks: boolean): Reply {
    const { key, method, path, text } = asked
    const work = () =>
      breaks
        ? failure(500, "api_error", "Something went wrong on our end.")
        : this.ledger.do(method, path, new Map(new URLSearchParams(text)))
    if (key === undefined || method !== "POST") return work()
    const request = `${path}?${text}`
    const known = this.keys.get(key)
    if (known === undefined) {
      const reply = work()
      // The answer as it was: what happens to the payment later does not change it.
      this.keys.set(key, { request, reply: { status: reply.status, body: JSON.parse(JSON.stringify(reply.body)) } })
      return reply
    }
    return known.request === request
      ? known.reply ?? failure(409, "idempotency_error", "In use.", "idempotency_key_in_use")
      : failure(400, "idempotency_error", "Keys for idempotent requests can only be used with the same parameters.")
  }
}

const serve = (account: Account, secretKey: string) => async (request: IncomingMessage, response: ServerResponse) => {
  const url = new URL(request.url ?? "/", "http://stripe")
  const method = request.method ?? "GET"
  const path = url.pathname.replace("/v1/", "")
  const key = [request.headers["idempotency-key"]].flat()[0]
  const call = callOf(method, path)
  const text = method === "GET" ? url.search.slice(1) : await textOf(request)
  const say = ({ body, status }: Reply, replayed = false): void =>
    void response.writeHead(status, {
      "content-type": "application/json",
      "request-id": `req_${account.calls.length}`,
      ...replayed ? { "idempotent-replayed": "true" } : {}
    }).end(JSON.stringify(body))
  if (request.headers.authorization !== `Bearer ${secretKey}`) {
    return say(failure(401, "invalid_request_error", `Invalid API Key provided: ${request.headers.authorization}`))
  }
  const fault = account.takeFault(call)
  if (fault === "drop") return void request.socket.destroy()
  account.calls.push({ call, key })
  if (fault === "limit") return say(failure(429, "rate_limit_error", "Too many requests.", "rate_limit"))
  const replayed = method === "POST" && key !== undefined && account.keys.has(key)
  const reply = account.answer({ method, path, text, key }, fault === "break")
  if (fault === "hear") return void request.socket.destroy()
  if (fault !== "hold") return say(reply, replayed)
  const atWork = account.keys.get(key ?? "")
  const done = atWork?.reply
  if (atWork !== undefined) atWork.reply = undefined
  return void account.held.push(() => {
    if (atWork !== undefined) atWork.reply = done
    say(reply, replayed)
  })
}

/** Starts a Stripe of the test's own for the account with this key; it ends with the scope. */
export const startStripe = (secretKey: string): Effect.Effect<StripeEmulator, never, Scope.Scope> =>
  Effect.gen(function*() {
    const account = new Account()
    const handle = serve(account, secretKey)
    const server = createServer((request, response) => void handle(request, response))
    return {
      url: `http://127.0.0.1:${yield* listening(server)}`,
      ledger: account.ledger,
      calls: account.calls,
      fault: (call, fault, times = 1) => {
        for (let n = 0; n < times; n++) account.faults.push({ call, fault })
      },
      release: () => {
        for (const go of account.held.splice(0)) go()
      },
      forgetKeys: () => account.keys.clear(),
      paymentOf: (orderId) => {
        const found = [...account.ledger.intents.values()].find(({ metadata }) => metadata["orderId"] === orderId)
        if (found === undefined) throw new Error(`the emulated Stripe has no payment for ${orderId}`)
        return found
      }
    }
  })

/** The header `Stripe-Signature` of a body: HMAC-SHA256 over the time and the body; `at` in seconds. */
export const signStripe = (secret: string, body: string, at = Math.floor(Date.now() / 1000)): string =>
  `t=${at},v1=${createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")}`

/** The body of an event about a payment, as Stripe sends it; `object` overrides what it is about. */
export const stripeEvent = (type: string, object: object, id = `evt_${newId().replaceAll("-", "")}`): string =>
  JSON.stringify({ id, object: "event", api_version: "2026-10-28.endive", type, data: { object } })

/** The charge of a payment, of which so much has been given back. */
export const chargeOf = ({ amount, currency, id, metadata }: StripeIntent, refunded: number): object => ({
  id: id.replace("pi_", "ch_"),
  object: "charge",
  amount,
  amount_captured: amount,
  amount_refunded: refunded,
  currency,
  payment_intent: id,
  metadata
})
