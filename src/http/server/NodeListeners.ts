import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { errorText } from "./Failure.ts"

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

/** Requests that a connection may have unanswered. Browsers and proxies have one; clients that send on have a few. */
const maxWaiting = 32

/**
 * Listens to the requests of a server and ends a connection with more of them than it may have unanswered: their answers
 * would be made all at once, however large, and all other clients would wait.
 */
export const limitWaiting = () => {
  const waiting = new WeakMap<Socket, number>()
  return ({ socket }: IncomingMessage, response: ServerResponse): void => {
    const count = (waiting.get(socket) ?? 0) + 1
    waiting.set(socket, count)
    response.once("close", () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    if (count > maxWaiting) socket.destroy()
  }
}
