import { Cause, Effect } from "effect"
import { HttpServerError, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import type { Duplex } from "node:stream"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { isWorthRepeating } from "../../domain/platform/errors/Transience.ts"

const codes: Readonly<Record<number, readonly [code: string, message: string]>> = {
  400: ["BAD_REQUEST", "The request could not be read."],
  404: ["NOT_FOUND", "Not found."],
  405: ["METHOD_NOT_ALLOWED", "This path does not answer to that method."],
  408: ["REQUEST_TIMEOUT", "The request did not arrive in time."],
  413: ["PAYLOAD_TOO_LARGE", "The body exceeds the limit of 1 MB."],
  421: [
    "MISDIRECTED_REQUEST",
    "Outside of production this service answers to localhost and to the host of STOA_PUBLIC_URL only."
  ],
  426: ["UPGRADE_REQUIRED", "This path speaks WebSocket to GET and JSON to POST."],
  415: ["UNSUPPORTED_MEDIA_TYPE", "The content type is not supported; send application/json."],
  416: ["RANGE_NOT_SATISFIABLE", "The file has no such part."],
  429: ["TOO_MANY_REQUESTS", "Too many requests, please try again later."],
  431: ["HEADERS_TOO_LARGE", "The headers of the request are too large."],
  499: ["CLIENT_CLOSED_REQUEST", "The client closed the connection."],
  503: ["SERVICE_UNAVAILABLE", "The service is not available. Try again shortly."]
}

const bodyOf = (status: number, instead?: string) => {
  const [code, message] = codes[status] ?? ["INTERNAL_ERROR", "An unexpected error occurred."]
  return { error: { code, message: instead ?? message } }
}

export const errorText = (status: number): string => JSON.stringify(bodyOf(status))

/** The error envelope for a status that no handler gave a body; without detail of what went wrong inside, unless a message is given. */
export const envelope = (
  status: number,
  headers: Record<string, string> = {},
  message?: string
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(bodyOf(status, message), {
    status: codes[status] === undefined ? 500 : status,
    headers
  })

/** SQLSTATEs of text that PostgreSQL cannot hold: the character NUL, half a surrogate pair (422). */
const unstorable = /"code":"(22021|22P05)"/

export const isUnstorable = (defect: unknown): boolean =>
  typeof defect === "object" && defect !== null && "_tag" in defect && defect._tag === "SqlError" &&
  unstorable.test(JSON.stringify(defect))

export class UnstorableText
  extends invalid("UnstorableText", "", "The request holds text that cannot be stored: NUL or broken Unicode.")
{}

/** Turns what escaped the routes into an answer; defects are logged with the request id and never shown. */
export const answerFailure = (cause: Cause.Cause<unknown>) =>
  Effect.gen(function*() {
    const [response] = yield* HttpServerError.causeResponse(cause)
    if (isWorthRepeating(Cause.squash(cause))) {
      yield* Effect.logWarning("request refused: try again", cause)
      return envelope(503, { "retry-after": "1" })
    }
    if (isUnstorable(Cause.squash(cause))) {
      return HttpServerResponse.jsonUnsafe({ error: new UnstorableText().error }, { status: 422 })
    }
    if (response.status >= 500 && response.status !== 503) yield* Effect.logError("request failed", cause)
    // What is left of a body that was too large stays unread, so the connection cannot serve another request.
    return envelope(response.status, response.status === 413 ? { connection: "close" } : {})
  })

const statusOf = (code: string | undefined): number =>
  code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : code === "HPE_HEADER_OVERFLOW" ? 431 : 400

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large"
}

/** Whether an answer has begun on this connection: nothing may be written into the middle of it. */
const isBeingAnswered = (socket: Duplex): boolean => {
  const answer: unknown = Reflect.get(socket, "_httpMessage")
  return typeof answer === "object" && answer !== null && Reflect.get(answer, "headersSent") === true
}

/**
 * Answers what the server could not read as a request, in the envelope: broken HTTP, headers that are too large or that
 * do not come. No route, no middleware and no edge see it; the connection ends.
 */
export const answerBrokenRequest = (error: Error & { readonly code?: string }, socket: Duplex): void => {
  if (socket.writable && error.code !== "ECONNRESET" && !isBeingAnswered(socket)) {
    const status = statusOf(error.code)
    const body = errorText(status)
    socket.write([
      `HTTP/1.1 ${status} ${reasons[status] ?? ""}`,
      "Connection: close",
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "X-Content-Type-Options: nosniff",
      `X-Request-Id: ${randomUUID()}`,
      "",
      body
    ].join("\r\n"))
  }
  socket.destroy()
}
