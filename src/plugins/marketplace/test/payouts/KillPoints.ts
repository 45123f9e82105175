import { Effect } from "effect"
import { tapOn } from "../../../../../test/support/StatementTap.ts"

/**
 * A way of a process to its database that counts the points at which the process can be killed: statements about the
 * marketplace outside of transactions, and commits of transactions about it. A kill at a statement of a transaction is the
 * same as a kill before its commit.
 */
export const killPointsOf = Effect.fnUntraced(function*(databaseUrl: string) {
  /** Connections in a transaction, and whether it is about the marketplace. */
  const transactions = new Map<number, boolean>()
  let [counted, armed]: [number, { readonly at: number; readonly dies: () => void } | undefined] = [0, undefined]
  const tap = yield* tapOn(databaseUrl, (text, connection) => {
    const [isEnd, isAbout] = [/^(commit|rollback)/i.test(text.trim()), text.includes("marketplace_")]
    const transaction = transactions.get(connection)
    const isPoint = transaction === undefined ? isAbout : isEnd && transaction
    if (isPoint && armed !== undefined && ++counted === armed.at) {
      armed.dies()
      tap.cut()
    }
    if (isEnd) transactions.delete(connection)
    else if (transaction !== undefined || /^begin/i.test(text.trim())) {
      transactions.set(connection, transaction === true || isAbout)
    }
  })
  return {
    url: tap.url,
    /** Calls `dies` at the point of this number; what is sent then does not reach the database. */
    arm: (at: number, dies: () => void) => {
      ;[counted, armed] = [0, { at, dies }]
    },
    disarm: () => {
      armed = undefined
    }
  }
})
