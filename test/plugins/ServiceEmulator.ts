import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request as the emulator got it. */
export interface Received {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** What the emulator does with a request: answers, or breaks the connection off. */
export type Answer = (response: ServerResponse) => void

export const answering =
  (status: number, body = "", headers: Readonly<Record<string, string>> = {}): Answer => (response) =>
    response.writeHead(status, headers).end(body)

/** A server on loopback that answers by the script, then with 200, and keeps what it was sent. */
export const serviceEmulator = Effect.acquireRelease(
  Effect.promise(async () => {
    const received: Array<Received> = []
    const script: Array<Answer> = []
    const server = createServer(async (request, response) => {
      const chunks: Array<Buffer> = []
      for await (const chunk of request) chunks.push(Buffer.from(chunk))
      const { headers, method, url } = request
      received.push({ method, path: url, headers, body: Buffer.concat(chunks).toString("utf8") })
      const next = script.shift() ?? answering(200, `{"ok":true}`)
      next(response)
    })
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    // A listening server has an address of this kind.
    const { port } = server.address() as AddressInfo
    return { origin: `http://127.0.0.1:${port}`, received, script, server }
  }),
  ({ server }) =>
    Effect.promise(() => {
      server.closeAllConnections()
      return new Promise((done) => server.close(done))
    })
)
