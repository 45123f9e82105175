import { Effect, type Scope } from "effect"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"

/**
 * What lies under a path: bytes, or what the host does instead. `endless` sends without end and announces no length,
 * `torn` announces more than it sends and breaks off, `begun` announces more and then falls silent, `hang` never answers.
 */
export type Lying =
  | { readonly bytes: Uint8Array; readonly type?: string }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly redirect: string }
  | { readonly announced: number }
  | "endless"
  | "torn"
  | "begun"
  | "hang"

/** A request as it came over the wire. */
export interface AskedPicture {
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

/** A host of pictures on loopback, as another shop's or its CDN's. */
export interface PictureHost {
  readonly url: string
  readonly port: number
  /** Puts something under a path; 404 where nothing lies. */
  readonly put: (path: string, lying: Lying) => void
  /** Requests in the order in which they came. */
  readonly asked: ReadonlyArray<AskedPicture>
  /** Connections that were ever opened, with or without a request on them. */
  readonly connections: () => number
  /** Connections that are open now. */
  readonly open: () => number
  /** Keeps answers back until what it gives is called. */
  readonly hold: () => () => void
}

const flood = (response: ServerResponse) => {
  const chunk = Buffer.alloc(65_536, 0xff)
  const push = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on("drain", push)
  push()
}

const act = (lying: Lying | undefined, response: ServerResponse) => {
  if (lying === undefined) return response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not found</h1>")
  if (lying === "hang") return undefined
  if (lying === "endless") {
    // It begins as a picture does, so that only its size can be what is wrong with it.
    response.writeHead(200, { "content-type": "image/jpeg" })
    return flood(response)
  }
  if (lying === "torn" || lying === "begun") {
    response.writeHead(200, { "content-type": "image/png", "content-length": 5_000 })
    return response.write(Buffer.alloc(1_000, 0x89), () => lying === "torn" ? response.socket?.destroy() : undefined)
  }
  if ("redirect" in lying) return response.writeHead(302, { location: lying.redirect }).end("elsewhere")
  if ("announced" in lying) return response.writeHead(200, { "content-length": lying.announced }).flushHeaders()
  if ("status" in lying) return response.writeHead(lying.status, lying.headers).end("no")
  return response.writeHead(200, { "content-type": lying.type ?? "image/png", "content-length": lying.bytes.length })
    .end(lying.bytes)
}

const start = async () => {
  const things = new Map<string, Lying>()
  const asked: Array<AskedPicture> = []
  const sockets = new Set<Socket>()
  const held: Array<() => void> = []
  let [connections, holding] = [0, false]
  const server = createServer((request, response) => {
    const path = request.url ?? "/"
    asked.push({ path, headers: request.headers })
    const answer = () => void act(things.get(path), response)
    if (holding) held.push(answer)
    else answer()
  })
  server.on("connection", (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  // A server that listens on TCP has this kind of address.
  const { port } = server.address() as AddressInfo
  const host: PictureHost = {
    url: `http://127.0.0.1:${port}`,
    port,
    put: (path, lying) => void things.set(path, lying),
    asked,
    connections: () => connections,
    open: () => sockets.size,
    hold: () => {
      holding = true
      return () => {
        holding = false
        for (const answer of held.splice(0)) answer()
      }
    }
  }
  const stop = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { host, stop }
}

/** A host of pictures that lives as long as the scope. */
export const pictureHost: Effect.Effect<PictureHost, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(Effect.promise(start), ({ stop }) => Effect.sync(stop)),
  ({ host }) => host
)
