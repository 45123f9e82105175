import { Effect, type Scope } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { forward } from "./Forwarding.ts"
import { listening } from "./Listening.ts"

/** A statement that was run, and on which of the service's connections. */
export interface SentStatement {
  readonly connection: number
  readonly text: string
}

/** A proxy to a database that shows a test every statement that the service sends, from each of its connections. */
export interface StatementTap {
  /** What the service has to be given to come this way. */
  readonly url: string
  /** The statements that were run since the last time somebody asked, in their order. */
  readonly take: () => ReadonlyArray<SentStatement>
  /** Ends all connections: what is on its way does not reach the database. */
  readonly cut: () => void
}

const requestsBeforeStart = [80_877_103, 80_877_104]

/** Reads what a client sends: PostgreSQL's protocol, as far as it says which statement is run. */
export const reader = (run: (text: string) => void) => {
  let rest = Buffer.alloc(0)
  let started = false
  const [prepared, bound] = [new Map<string, string>(), new Map<string, string>()]
  const read = (type: string, body: Buffer) => {
    const [first = "", second = ""] = body.toString("utf8").split("\0", 2)
    if (type === "P") prepared.set(first, second)
    else if (type === "B") bound.set(first, prepared.get(second) ?? "")
    else if (type === "E") run(bound.get(first) ?? "")
    else if (type === "Q") run(first)
  }
  return (sent: Buffer) => {
    rest = Buffer.concat([rest, sent])
    for (;;) {
      const head = started ? 1 : 0
      if (rest.length < head + 4) return
      const end = head + rest.readInt32BE(head)
      if (rest.length < end) return
      if (started) read(String.fromCharCode(rest[0] ?? 0), rest.subarray(5, end))
      else started = !requestsBeforeStart.includes(rest.readInt32BE(4))
      rest = rest.subarray(end)
    }
  }
}

/**
 * Opens one; it is closed with the scope. `before` is called with each statement before it reaches the database; `cut` ends the
 * connection that it came by, as the end of its process would.
 */
export const tapOn = (
  databaseUrl: string,
  before: (text: string, connection: number, cut: () => void) => void = () => {}
): Effect.Effect<StatementTap, never, Scope.Scope> =>
  Effect.gen(function*() {
    const url = new URL(databaseUrl)
    const target = { host: url.hostname, port: Number(url.port) }
    let [sent, connections]: [Array<SentStatement>, number] = [[], 0]
    const open = new Set<Socket>()
    const server = createServer((client) => {
      const database = connect(target)
      const connection = ++connections
      const read = reader((text) => {
        before(text, connection, () => client.destroy())
        sent.push({ connection, text: text.replaceAll(/\s+/g, " ").trim() })
      })
      client.on("data", (chunk) => read(typeof chunk === "string" ? Buffer.from(chunk) : chunk))
      forward(client, database, open)
    })
    url.host = `127.0.0.1:${yield* listening(server)}`
    const take = () => {
      const taken = sent
      sent = []
      return taken
    }
    const cut = () => open.forEach((socket) => socket.destroy())
    return { url: url.href, take, cut }
  })
