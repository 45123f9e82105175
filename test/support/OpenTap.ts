import { assert, inject } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import type { PluginTestApp } from "../../src/plugins/kit/testing/StoaTesting.ts"
import { tapOn } from "./StatementTap.ts"
import { waitFor } from "./waitFor.ts"

/** A tap on the database of the tests that is open until it is closed. */
export const openTap = async (before?: Parameters<typeof tapOn>[1]) => {
  const scope = Scope.makeUnsafe()
  const { template, url } = inject("postgres")
  const tap = await Effect.runPromise(Scope.provide(tapOn(url, before), scope))
  return { ...tap, template, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

export type OpenTap = Awaited<ReturnType<typeof openTap>>

/** More than any request sends, with what begins and ends transactions. */
const most = 40

/**
 * A tap that ends the connection of a request before one of its statements: of those on its first connection, counted from its
 * first one about `tables`, or of those about `tables` on any connection.
 */
export const openCutter = async (tables: RegExp, counted: "one connection" | "any connection" = "one connection") => {
  let left = 0
  let own: number | undefined
  const tap = await openTap((text, connection, cut) => {
    if (left > 0 && own === undefined && tables.test(text)) own = connection
    const isCounted = counted === "one connection" ? connection === own : tables.test(text)
    if (isCounted && left > 0 && --left === 0) cut()
  })
  /**
   * Sends a request that is cut off before each of its statements in turn, until it is whole or was made before it was
   * cut off and its answer says so; `check` looks at what is there each time. How often it was sent.
   */
  const cutOff = async (
    { db }: Pick<PluginTestApp, "db">,
    ends: ReadonlyArray<number>,
    send: () => Promise<{ readonly status: number }>,
    check: () => Promise<void>
  ) => {
    for (let at = 1; at <= most; at++) {
      own = undefined
      left = at
      const { status } = await send()
      const isWhole = left > 0
      left = 0
      // A commit whose answer was cut off may still be under way.
      const open = `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and xact_start is not null`
      await waitFor("the end of its transaction", async () => (await db.query(open)).length === 0)
      await check()
      // On any connection it may be work that the request began which is cut off.
      if (!isWhole && (status >= 500 || counted === "any connection")) continue
      assert.include(ends, status)
      return at
    }
    return assert.fail("It is not done.")
  }
  return { ...tap, cutOff }
}

export type Cutter = Awaited<ReturnType<typeof openCutter>>
