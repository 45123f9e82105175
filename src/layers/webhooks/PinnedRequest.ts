import { Data, Effect } from "effect"
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import { isIP, type LookupFunction } from "node:net"
import type { ResolvedTarget } from "./TargetGuard.ts"

const snippetBytes = 1_024

const bodyLimit = "2 seconds"

export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly message: string }> {}

const pinnedTo = (addresses: ReadonlyArray<string>): LookupFunction => (_host, { all }, callback) => {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  if (all === true) callback(null, answers)
  else callback(null, answers[0]?.address ?? "", answers[0]?.family)
}

const reason = (error: Error & { readonly code?: string }): string =>
  `No answer: ${error.code ?? error.message}`.slice(0, 500)

export const prepareRequest = (
  { addresses, host, port, url }: ResolvedTarget,
  { headers, method }: { readonly method: string; readonly headers: Readonly<Record<string, string | number>> }
): ClientRequest => {
  const secure = url.protocol === "https:"
  const request = (secure ? httpsRequest : httpRequest)({
    method,
    host,
    port,
    path: `${url.pathname}${url.search}`,
    // Not the address: it serves many names.
    headers: { ...headers, host: url.host, connection: "close" },
    lookup: pinnedTo(addresses),
    // Checked even if the environment turns it off.
    ...(secure ? { rejectUnauthorized: true } : {}),
    ...(secure && isIP(host) === 0 ? { servername: host } : {}),
    agent: false
  })
  // An error without a listener would end the process.
  return request.on("error", () => undefined)
}

export const responseTo = (request: ClientRequest, body?: string) =>
  Effect.callback<IncomingMessage, NoAnswer>((resume) => {
    request.on("response", (response) => resume(Effect.succeed(response)))
    request.on("error", (error) => resume(Effect.fail(new NoAnswer({ message: reason(error) }))))
    request.on("upgrade", (_response, socket) => {
      socket.destroy()
      resume(Effect.fail(new NoAnswer({ message: "No answer: the receiver changed the protocol" })))
    })
    request.end(body)
  })

const textOf = (chunks: ReadonlyArray<Uint8Array>): string => {
  const text = Buffer.concat(chunks).subarray(0, snippetBytes).toString("utf8").replaceAll("\0", "\ufffd")
  const bytes = Buffer.from(text)
  return bytes.length <= snippetBytes
    ? text
    : new TextDecoder().decode(bytes.subarray(0, snippetBytes), { stream: true })
}

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
 * Posts a body, reads 1 kB of the response and closes the connection; follows no redirect. Limits only the body's time.
 */
export const post = (target: ResolvedTarget, headers: Readonly<Record<string, string>>, body: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      prepareRequest(target, { method: "POST", headers: { ...headers, "content-length": Buffer.byteLength(body) } })
    ),
    (request) =>
      Effect.gen(function*() {
        const response = yield* responseTo(request, body)
        return { statusCode: response.statusCode ?? 0, snippet: yield* readSnippet(response) }
      }),
    (request) => Effect.sync(() => request.destroy())
  )
