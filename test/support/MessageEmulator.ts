import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"

/** A request of a message as it came over the wire. */
export interface MessageRequest {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

type Behaviour = (response: ServerResponse, request: MessageRequest) => void

/**
 * A provider of SMS or push over HTTP on loopback. It takes a message of an `Idempotency-Key` once, and answers by the
 * behaviours in turn, then with 201; `lost` takes the message and breaks the connection off.
 */
export const messageEmulator = async () => {
  const requests: Array<MessageRequest> = []
  const taken = new Map<string, unknown>()
  const behaviours: Array<Behaviour> = []
  const take = ({ body, headers }: MessageRequest) => {
    const key = String(headers["idempotency-key"])
    if (!taken.has(key)) taken.set(key, body)
    return key
  }
  const accept: Behaviour = (response, request) =>
    response.writeHead(201, { "content-type": "application/json" }).end(
      JSON.stringify({ data: { id: `m-${take(request)}` } })
    )
  const server = createServer(async (incoming, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"))
    const request = { method: incoming.method, path: incoming.url, headers: incoming.headers, body }
    requests.push(request)
    const behave = behaviours.shift() ?? accept
    behave(response, request)
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/v1/messages`,
    requests,
    taken,
    answer: (...statuses: ReadonlyArray<number>) =>
      void behaviours.push(...statuses.map((status): Behaviour => (response) => response.writeHead(status).end("no"))),
    lose: () =>
      void behaviours.push((response, request) => {
        take(request)
        response.destroy()
      }),
    hang: () => void behaviours.push(() => undefined),
    close: () => {
      server.closeAllConnections()
      return new Promise((done) => server.close(done))
    }
  }
}

export type MessageEmulator = Awaited<ReturnType<typeof messageEmulator>>
