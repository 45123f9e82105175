import { Effect, type Scope } from "effect"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { Random } from "../../fuzz/Values.ts"
import { listening } from "../Listening.ts"

/** A request to an emulated shop. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An answer of an emulated shop: a text is sent as it is, anything else as JSON. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/**
 * Failure of one call. Without an effect: `drop` ends the connection, `hang` never answers, `break` is a 502 of the proxy,
 * `limit` is the shop's rate limit. With its effect: `hear` ends the connection, `hold` answers on `release`.
 */
export type ShopFault = "drop" | "hang" | "break" | "limit" | "hear" | "hold"

const faults: readonly [ShopFault, ...ReadonlyArray<ShopFault>] = ["drop", "break", "limit", "hear"]

/** Controls of a shop's HTTP side. */
export interface ShopServer {
  readonly url: string
  /** The calls of late; a long simulation forgets the first ones. */
  readonly calls: ReadonlyArray<Call>
  /** The next `times` calls fail whose method, address or body contains `part`, as in `POST /wp-json/wc/v3/orders`. */
  readonly fault: (part: string, fault: ShopFault, times?: number) => void
  /** From now on calls fail by chance, in a way that a client notices at once by default. 0 ends it. */
  readonly unreliable: (random: Random, probability: number, kinds?: typeof faults) => void
  /** Sends the answers that were held. */
  readonly release: () => void
}

const textOf = async (request: IncomingMessage) => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

const send = (response: ServerResponse, { body, headers, status }: Answer) =>
  typeof body === "string"
    ? response.writeHead(status, headers).end(body)
    : response.writeHead(status, { "content-type": "application/json; charset=UTF-8", ...headers })
      .end(JSON.stringify(body))

const proxyError: Answer = {
  status: 502,
  headers: { "content-type": "text/html" },
  body: "<html><head><title>502 Bad Gateway</title></head></html>"
}

/** Starts the HTTP side of an emulated shop. It ends with the scope. */
export const serveShop = (shop: {
  readonly answer: (call: Call) => Answer | Promise<Answer>
  readonly limited: () => Answer
}): Effect.Effect<ShopServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const calls: Array<Call> = []
    const planted: Array<{ readonly part: string; readonly fault: ShopFault }> = []
    const held: Array<() => void> = []
    let chance: (() => ShopFault | undefined) | undefined
    const take = (text: string) => {
      const index = planted.findIndex(({ part }) => text.includes(part))
      return index < 0 ? chance?.() : planted.splice(index, 1)[0]?.fault
    }
    const handle = async (request: IncomingMessage, response: ServerResponse) => {
      const body = await textOf(request)
      const { method = "GET", url: address = "/" } = request
      const { pathname, searchParams } = new URL(address, "http://shop")
      const call = { method, path: pathname, query: searchParams, headers: request.headers, body }
      if (calls.push(call) > 10_000) calls.splice(0, 5_000)
      const fault = take(`${method} ${address} ${body}`)
      if (fault === "drop") return void request.socket.destroy()
      if (fault === "hang") return
      if (fault === "break") return void send(response, proxyError)
      if (fault === "limit") return void send(response, shop.limited())
      const answer = await shop.answer(call)
      if (fault === "hear") return void request.socket.destroy()
      if (fault === "hold") return void held.push(() => send(response, answer))
      return void send(response, answer)
    }
    const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()))
    return {
      url: `http://127.0.0.1:${yield* listening(server)}`,
      calls,
      fault: (part, fault, times = 1) => {
        for (let n = 0; n < times; n++) planted.push({ part, fault })
      },
      unreliable: (random, probability, kinds = faults) => {
        chance = probability > 0 ? () => random.chance(probability) ? random.pick(kinds) : undefined : undefined
      },
      release: () => {
        for (const go of held.splice(0)) go()
      }
    }
  })
