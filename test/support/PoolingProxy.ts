import { Effect, type Scope } from "effect"
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { listening } from "./Listening.ts"
import type { Service } from "./Service.ts"

/** A proxy as deployments have it: it keeps connections to processes, and sends nothing to one that is not healthy. */
export interface PoolingProxy {
  readonly url: string
  /** What became of requests that it could not bring to an end: each is one that a shopper has lost. */
  readonly failures: ReadonlyArray<string>
  /** How many connections it has opened, and how many requests it has sent on them. */
  readonly sent: () => { readonly connections: number; readonly requests: number }
  /** Whether it sends requests to this process now. */
  readonly sendsTo: (service: Service) => boolean
}

interface Backend {
  readonly port: number
  readonly agent: Agent
  healthy: boolean
}

/** How a proxy probes its processes, and which requests, by their number, it sends on connections that it keeps. */
export interface ProxyOptions {
  readonly probeEveryMs?: number
  readonly keeps?: (turn: number) => boolean
}

const probe = (backend: Backend) => {
  const asked = request({ port: backend.port, host: "127.0.0.1", path: "/api/health", agent: false }, (answer) => {
    backend.healthy = answer.statusCode === 200
    answer.resume()
  })
  asked.on("error", () => {
    backend.healthy = false
  })
  asked.end()
}

/**
 * Opens one in front of the processes; it ends with the scope. It never repeats a request: what reaches a process that is
 * about to end, or a connection that this one closes at the same moment, is a failure.
 */
export const poolingProxy = (
  services: ReadonlyArray<Service>,
  { keeps = () => true, probeEveryMs = 250 }: ProxyOptions = {}
): Effect.Effect<PoolingProxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const backends = services.map(({ ports }): Backend => ({
      port: ports.http,
      agent: new Agent({ keepAlive: true, maxFreeSockets: 100 }),
      healthy: true
    }))
    const failures: Array<string> = []
    let [turn, requests] = [0, 0]
    const ports = new Set<string>()
    const pass = (incoming: IncomingMessage, outgoing: ServerResponse) => {
      const healthy = backends.filter((backend) => backend.healthy)
      const backend = healthy[turn++ % healthy.length]
      const fail = (why: string) => {
        failures.push(`${incoming.method} ${incoming.url}: ${why}`)
        if (!outgoing.headersSent) outgoing.writeHead(502)
        outgoing.end()
      }
      if (backend === undefined) return fail("no process is healthy")
      requests++
      const { headers, method, url } = incoming
      const { agent, port } = backend
      const way = { host: "127.0.0.1", port, agent: keeps(requests) && agent }
      const passed = request({ ...way, method, path: url, headers }, (answer) => {
        const { connection: _, "keep-alive": __, ...kept } = answer.headers
        outgoing.writeHead(answer.statusCode ?? 502, kept)
        answer.on("error", (error) => fail(String(error)))
        answer.pipe(outgoing)
      })
      passed.on("socket", (socket) => {
        if (socket.connecting) socket.once("connect", () => ports.add(`${port}:${socket.localPort}`))
      })
      passed.on("error", (error) => fail(`${String(error)}${passed.reusedSocket ? " (a kept connection)" : ""}`))
      incoming.pipe(passed)
    }
    const server = createServer(pass)
    const probing = setInterval(() => backends.forEach(probe), probeEveryMs)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        clearInterval(probing)
        for (const { agent } of backends) agent.destroy()
      })
    )
    return {
      url: `http://127.0.0.1:${yield* listening(server)}`,
      failures,
      sent: () => ({ connections: ports.size, requests }),
      sendsTo: ({ ports }) => backends.some(({ healthy, port }) => healthy && port === ports.http)
    }
  })
