import { Effect } from "effect"
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import { isIP, type LookupFunction } from "node:net"
import { NoAnswer, type Post, type PostAnswer } from "../../domain/webhooks/WebhookTransport.ts"
import type { Target } from "./TargetRules.ts"

/** Bytes of an answer that are read, whatever it goes on to send. */
const snippetBytes = 1_024

/** The status is known before the body; a receiver that dawdles over its body is not waited for longer. */
const bodyLimit = "2 seconds"

/** Answers every look-up of the connection with the addresses that were checked, and asks nobody. */
const pinnedTo = (addresses: ReadonlyArray<string>): LookupFunction => (_host, { all }, callback) => {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  if (all === true) callback(null, answers)
  else callback(null, answers[0]?.address ?? "", answers[0]?.family)
}

const reason = (error: Error & { readonly code?: string }): string =>
  `No answer: ${error.code ?? error.message}`.slice(0, 500)

/**
 * A request that has not been sent, over a connection of its own to one of the addresses, all of which were checked. To be
 * destroyed by whoever has it.
 */
export const prepared = (
  { host, port, url }: Target,
  addresses: ReadonlyArray<string>,
  { headers, method }: { readonly method: "GET" | "POST"; readonly headers: Readonly<Record<string, string | number>> }
): ClientRequest => {
  const secure = url.protocol === "https:"
  const request = (secure ? httpsRequest : httpRequest)({
    method,
    host,
    port,
    path: `${url.pathname}${url.search}`,
    // The URL's own host: the address that is connected to serves many names.
    headers: { ...headers, host: url.host, connection: "close" },
    lookup: pinnedTo(addresses),
    // Its certificate must be that of the host, whatever the address is and whatever the environment says.
    ...(secure ? { rejectUnauthorized: true } : {}),
    ...(secure && isIP(host) === 0 ? { servername: host } : {}),
    // A connection of its own: none that another name has opened is used.
    agent: false
  })
  // From its first moment on: one that is given up before anybody waits for it tells its error to nobody, which would end
  // the process.
  return request.on("error", () => undefined)
}

/** Sends a request and waits for the head of its answer. */
export const answered = (request: ClientRequest, body?: string) =>
  Effect.callback<IncomingMessage, NoAnswer>((resume) => {
    request.on("response", (response) => resume(Effect.succeed(response)))
    request.on("error", (error) => resume(Effect.fail(new NoAnswer({ message: reason(error) }))))
    request.on("upgrade", (_response, socket) => {
      socket.destroy()
      resume(Effect.fail(new NoAnswer({ message: "No answer: the receiver changed the protocol" })))
    })
    request.end(body)
  })

/** What the database can hold of the bytes of a stranger: at most 1 kB of text without NUL. */
const textOf = (chunks: ReadonlyArray<Uint8Array>): string => {
  const text = Buffer.concat(chunks).subarray(0, snippetBytes).toString("utf8").replaceAll("\0", "\ufffd")
  const bytes = Buffer.from(text)
  return bytes.length <= snippetBytes
    ? text
    : new TextDecoder().decode(bytes.subarray(0, snippetBytes), { stream: true })
}

/** The beginning of the answer's body, or what came of it before it broke off. */
const readSnippet = (response: IncomingMessage) => {
  const chunks: Array<Uint8Array> = []
  return Effect.callback<void>((resume) => {
    let read = 0
    const done = () => resume(Effect.void)
    response.on("data", (chunk: Uint8Array) => {
      chunks.push(chunk)
      read += chunk.length
      if (read < snippetBytes) return
      response.pause()
      done()
    })
    response.on("end", done)
    response.on("error", done)
    response.on("close", done)
  }).pipe(Effect.timeoutOption(bodyLimit), Effect.map(() => textOf(chunks)))
}

/**
 * One request over a connection of its own to one of the addresses, all of which were checked. Reads 1 kB of the answer
 * and then hangs up; follows no redirect. Without time limit, but for the body of the answer.
 */
export const exchange = (
  target: Target,
  addresses: ReadonlyArray<string>,
  post: Post
): Effect.Effect<PostAnswer, NoAnswer> =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      prepared(target, addresses, {
        method: "POST",
        headers: { ...post.headers, "content-length": Buffer.byteLength(post.body) }
      })
    ),
    (request) =>
      Effect.gen(function*() {
        const response = yield* answered(request, post.body)
        return { statusCode: response.statusCode ?? 0, snippet: yield* readSnippet(response) }
      }),
    (request) => Effect.sync(() => request.destroy())
  )
