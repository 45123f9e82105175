import { Effect, type Scope } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { at } from "./TestApp.ts"

/** One request as it came over the wire. */
export interface Received {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names in lower case; a header that came twice is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** The bytes of the body as text, untouched: what a signature is over. */
  readonly raw: string
  /** When it was complete, in milliseconds since 1970. */
  readonly receivedAt: number
  /** What stands at a dotted path of the body; undefined when it is not JSON. */
  readonly at: (path: string) => unknown
}

/** How a path answers: a status with headers and a body, or not at all (`hang`), or by hanging up (`reset`). */
export type Reply =
  | {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  | "hang"
  | "reset"

/** Somebody's server on loopback that deliveries are sent to; it keeps every request. */
export interface ScriptedReceiver {
  /** Without a slash at its end. */
  readonly url: string
  readonly port: number
  /** Everything that came, or what came to a path, oldest first. */
  readonly received: (path?: string) => ReadonlyArray<Received>
  /** From now on a path answers so; `replies` are taken in turn and the last one stays. Default: 204. */
  readonly reply: (path: string, ...replies: readonly [Reply, ...ReadonlyArray<Reply>]) => void
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer) // a request without an encoding yields buffers
  return Buffer.concat(chunks).toString("utf8")
}

const parsed = (raw: string): unknown => {
  try {
    return JSON.parse(raw)
  } catch {
    return undefined
  }
}

const received = (request: IncomingMessage, raw: string): Received => {
  const body = parsed(raw)
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    raw,
    receivedAt: Date.now(),
    at: (path) => at(body, path)
  }
}

const say = (reply: Reply, request: IncomingMessage, response: ServerResponse) => {
  if (reply === "reset") request.socket.destroy()
  else if (reply !== "hang") response.writeHead(reply.status, reply.headers).end(reply.body)
}

/** Starts a receiver; it ends with the scope. */
export const startReceiver: Effect.Effect<ScriptedReceiver, never, Scope.Scope> = Effect.gen(function*() {
  const kept: Array<Received> = []
  const scripts = new Map<string, Array<Reply>>()
  const nextReply = (path: string): Reply => {
    const script = scripts.get(path) ?? [{ status: 204 }]
    return (script.length > 1 ? script.shift() : script[0]) ?? { status: 204 }
  }
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const one = received(request, await textOf(request))
    kept.push(one)
    say(nextReply(one.path), request, response)
  }
  const server = createServer((request, response) => void serve(request, response))
  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
      server.closeAllConnections()
    })
  )
  yield* Effect.callback<void>((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.void))
  })
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received: (path) => kept.filter((one) => path === undefined || one.path === path),
    reply: (path, ...replies) => {
      scripts.set(path, [...replies])
    }
  }
})

/** The key of a Standard Webhooks secret: the bytes behind `whsec_`, else the bytes of the text itself. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret, "utf8")

/** The signature that Standard Webhooks asks for, made from what came and from nothing of the service. */
export const standardSignature = ({ headers, raw }: Received, secret: string): string =>
  `v1,${
    createHmac("sha256", keyOf(secret)).update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${raw}`)
      .digest("base64")
  }`

/** The older signature: lower-case hex over the body alone, keyed by the secret as it is written. */
export const plainSignature = ({ raw }: Received, secret: string): string =>
  createHmac("sha256", secret).update(raw).digest("hex")

const same = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Whether one of the signatures of a delivery was made with the secret, as a receiver of Standard Webhooks looks. */
export const isSignedWith = (delivery: Received, secret: string): boolean =>
  (delivery.headers["webhook-signature"] ?? "").split(" ").some((one) => same(one, standardSignature(delivery, secret)))
