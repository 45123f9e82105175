import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { reader } from "../../../../../test/support/StatementTap.ts"

/** The way of a process to its database, on which it dies. */
export interface DeathLine {
  readonly url: string
  /**
   * From now on what changes or reads the marketplace for good is counted: statements outside of transactions, and the
   * commits of transactions about it. `dies` is called when the one of this number is on its way, and neither it nor any
   * other reaches the database. Death at a statement of a transaction would be the same as death before its commit.
   */
  readonly arm: (statement: number, dies: () => void) => void
  /** Lets everything pass again; gives how many were counted. */
  readonly disarm: () => number
}

/** Opens one; it is closed with the scope. */
export const deathLineTo = Effect.fnUntraced(function*(databaseUrl: string) {
  const url = new URL(databaseUrl)
  const target = { host: url.hostname, port: Number(url.port) }
  const open = new Set<Socket>()
  let armed: { readonly at: number; readonly dies: () => void } | undefined
  let [counted, isDead] = [0, false]

  const count = () => {
    if (armed === undefined || ++counted !== armed.at) return
    isDead = true
    armed.dies()
    for (const socket of open) socket.destroy()
  }

  const server = createServer((client) => {
    const database = connect(target)
    let [inMarket, inTransaction] = [false, false]
    const read = reader((text) => {
      const [isEnd, isAbout] = [/^(commit|rollback)/i.test(text.trim()), text.includes("marketplace_")]
      if (inTransaction ? isEnd && inMarket : isAbout) count()
      inTransaction = /^begin/i.test(text.trim()) || inTransaction && !isEnd
      inMarket = inTransaction && (inMarket || isAbout)
    })
    for (const [from, to] of [[client, database], [database, client]] as const) {
      open.add(from)
      from.on("data", (chunk) => {
        if (from === client) read(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
        if (!isDead) to.write(chunk)
      })
      from.on("error", () => to.destroy())
      from.on("close", () => {
        open.delete(from)
        to.destroy()
      })
    }
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(() => {
        for (const socket of open) socket.destroy()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      })
  )
  const address = server.address()
  url.host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const line: DeathLine = {
    url: url.href,
    arm: (at, dies) => {
      ;[counted, isDead, armed] = [0, false, { at, dies }]
    },
    disarm: () => {
      ;[isDead, armed] = [false, undefined]
      return counted
    }
  }
  return line
})
