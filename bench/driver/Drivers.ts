import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Pool } from "pg"
import { steps } from "./Flow.ts"
import type { Variant } from "./Variant.ts"

/** `flows` flows with `users` of them at once; `turn` waits for a flow's moment where flows come at a rate. */
export interface Batch {
  readonly users: number
  readonly flows: number
  readonly turn: (n: number) => Promise<void>
  readonly done: (ms: number) => void
}

/** A driver with its pool. */
export interface Driver {
  readonly run: (batch: Batch) => Promise<void>
  /** Rows of one statement without parameters. */
  readonly ask: (text: string) => Promise<ReadonlyArray<object>>
  readonly close: () => Promise<void>
}

const openPg = (url: string, { connections, prepare, settings }: Variant): Driver => {
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`).join(" ")
  const pool = new Pool({ connectionString: url, max: connections, ...(options === "" ? {} : { options }) })
  return {
    run: async ({ done, flows, turn, users }) => {
      let next = 0
      const user = async () => {
        for (let mine = next++; mine < flows; mine = next++) {
          await turn(mine)
          const started = performance.now()
          for (const { name, text, values } of steps()) {
            await pool.query({ ...(prepare ? { name } : {}), text, values: [...values] })
          }
          done(performance.now() - started)
        }
      }
      await Promise.all(Array.from({ length: users }, user))
    },
    ask: async (text) => (await pool.query<object>(text)).rows,
    close: () => pool.end()
  }
}

const openSqlPg = async (url: string, { connections, multiplex, prepare, settings }: Variant): Promise<Driver> => {
  let close = () => {}
  const closed = new Promise<void>((resolve) => {
    close = resolve
  })
  const opened = Promise.withResolvers<PgClient.PgClient>()
  const ended = Effect.runPromise(
    Effect.gen(function*() {
      opened.resolve(yield* PgClient.PgClient)
      yield* Effect.promise(() => closed)
    }).pipe(Effect.provide(PgClient.layer({
      url: Redacted.make(url),
      maxConnections: connections,
      multiplex,
      prepare,
      startupParameters: settings
    })))
  )
  ended.catch(opened.reject)
  const sql = await opened.promise
  return {
    // Fibers as in the service: one per user, no promise between the statements of a flow.
    run: ({ done, flows, turn, users }) => {
      let next = 0
      const user = Effect.gen(function*() {
        for (let mine = next++; mine < flows; mine = next++) {
          const number = mine
          yield* Effect.promise(() => turn(number))
          const started = performance.now()
          for (const { text, values } of steps()) yield* sql.unsafe(text, values)
          done(performance.now() - started)
        }
      })
      return Effect.runPromise(
        Effect.asVoid(Effect.all(Array.from({ length: users }, () => user), { concurrency: "unbounded" }))
      )
    },
    ask: (text) => Effect.runPromise(sql.unsafe<object>(text)),
    close: () => {
      close()
      return ended
    }
  }
}

export const openDriver = async (url: string, variant: Variant): Promise<Driver> =>
  variant.driver === "pg" ? openPg(url, variant) : openSqlPg(url, variant)
