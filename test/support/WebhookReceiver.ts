import { Effect, type Scope } from "effect"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"

/** A request as it came over the wire. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly path: string
}

/**
 * What the receiver does with a request: answers with a status (and headers), or misbehaves. `hang` never answers,
 * `slow headers` sends the head of its answer byte by byte without end, `drip` answers 200 and then a byte at a time,
 * `endless` answers 200 and sends as fast as it can, `reset` breaks the connection.
 */
export type Reaction =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | "hang"
  | "slow headers"
  | "drip"
  | "endless"
  | "reset"

/** A receiver of webhooks on loopback. */
export interface WebhookReceiver {
  readonly url: string
  readonly port: number
  readonly received: ReadonlyArray<Received>
  /** Connections that were ever opened, with or without a request on them. */
  readonly connections: () => number
  /** Connections that are open now. */
  readonly open: () => number
  /** Bytes that were handed to the system to send, answers' heads included. */
  readonly sent: () => number
  /** Breaks all connections. */
  readonly hangUp: () => void
  /** Keeps the answer with this status to the next requests back until what it gives is called. */
  readonly hold: (status: number) => () => void
  /** Decides what is done with the requests from now on; 204 until it is called. */
  readonly react: (reaction: Reaction | ((request: Received) => Reaction)) => void
}

const drip = (response: ServerResponse, chunk: string) => {
  const timer = setInterval(() => response.write(chunk), 5)
  response.on("close", () => clearInterval(timer))
}

const flood = (response: ServerResponse) => {
  const chunk = "x".repeat(65_536)
  const push = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on("drain", push)
  push()
}

const dripHead = (socket: Socket) => {
  socket.write("HTTP/1.1 200 OK\r\n")
  const timer = setInterval(() => socket.write("x-more: y\r\n"), 5)
  socket.on("close", () => clearInterval(timer))
}

const act = (reaction: Reaction, response: ServerResponse) => {
  const socket = response.socket
  if (typeof reaction === "object") return response.writeHead(reaction.status, reaction.headers).end(reaction.body)
  if (reaction === "drip" || reaction === "endless") response.writeHead(200)
  if (reaction === "drip") return drip(response, ".")
  if (reaction === "endless") return flood(response)
  if (reaction === "slow headers" && socket !== null) return dripHead(socket)
  if (reaction === "reset") return socket?.resetAndDestroy()
  return undefined
}

const bodyOf = async (request: IncomingMessage) => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

const start = async (host: string) => {
  const received: Array<Received> = []
  const sockets = new Set<Socket>()
  const held = new Set<ServerResponse>()
  let connections = 0
  let sent = 0
  let reaction: Reaction | ((request: Received) => Reaction) = { status: 204 }
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const one = { headers: request.headers, body, path: request.url ?? "" }
      received.push(one)
      if (reaction === "hang") held.add(response)
      act(typeof reaction === "function" ? reaction(one) : reaction, response)
    }, () => undefined)
  })
  server.on("connection", (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => {
      sent += socket.bytesWritten
      sockets.delete(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  // A server that listens on TCP has this kind of address.
  const { port } = server.address() as AddressInfo
  const hangUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  const receiver: WebhookReceiver = {
    hangUp,
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}/hook`,
    port,
    received,
    connections: () => connections,
    open: () => sockets.size,
    sent: () => sent + [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    react: (next) => {
      reaction = next
    },
    hold: (status) => {
      reaction = "hang"
      return () => {
        for (const response of held) response.writeHead(status).end()
      }
    }
  }
  const stop = () => {
    hangUp()
    server.close()
  }
  return { receiver, stop }
}

/** A receiver that lives as long as the scope. */
export const webhookReceiver = (host = "127.0.0.1"): Effect.Effect<WebhookReceiver, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.promise(() => start(host)), ({ stop }) => Effect.sync(stop)).pipe(
    Effect.map(({ receiver }) => receiver)
  )
