import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Requests that a connection may have unanswered. Browsers and proxies have one; clients that send on have a few. */
const maxWaiting = 32

/**
 * Listens to the requests of a server and ends a connection with more of them than it may have unanswered: their answers
 * would be made all at once, however large, and everybody else would wait.
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
