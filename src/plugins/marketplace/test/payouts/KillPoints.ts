import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { listening } from "../../../../../test/support/Listening.ts"
import { reader } from "../../../../../test/support/StatementTap.ts"

/** A proxy between a process and its database, which counts the points at which the process can be killed. */
export interface KillPoints {
  readonly url: string
  /**
   * Counts what reads or changes the marketplace: statements outside of transactions, and commits of transactions about
   * it. Calls `dies` at the one of this number; neither it nor any later one reaches the database. A kill at a statement
   * of a transaction is the same as a kill before its commit.
   */
  readonly arm: (statement: number, dies: () => void) => void
  /** Lets everything pass again; returns the count. */
  readonly disarm: () => number
}

/** Opens one; it is closed with the scope. */
export const killPointsOf = Effect.fnUntraced(function*(databaseUrl: string) {
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
  url.host = `127.0.0.1:${yield* listening(server)}`
  const line: KillPoints = {
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
