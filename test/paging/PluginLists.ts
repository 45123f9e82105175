import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Actor } from "../../src/domain/platform/access/Actor.ts"
import type { Plugin } from "../../src/plugins/kit/Plugin.ts"
import { type SampleRows, sampleRows } from "../../src/plugins/kit/testing/SampleRows.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { recording } from "../pricing/Statements.ts"
import { api, testAppLayer } from "../support/TestApp.ts"
import { most, readOf } from "./ListPlans.ts"
import { listRoutes, listRoutesOf } from "./ListRoutes.ts"
import { type Growing, manyRows, ofOne, uuid } from "./ManyRows.ts"

/** How many rows each table has. */
export const rows = Number(process.env["STOA_LIST_ROWS"] ?? 20_000)

/** An id that rows are filtered by. */
export const one = "11111111-1111-4111-8111-111111111111"

/**
 * Rows that a list shows last have one value of a column, and all others another. An index of the order alone finds them only
 * behind all others. `turn` takes the rows before these, for columns that must not have their values together.
 */
export const last = (
  column: string,
  { others = uuid, turn = 0, value = one }: {
    readonly value?: string
    readonly others?: string
    readonly turn?: number
  } = {}
) => {
  const to = rows - turn * ofOne
  return { [column]: `case when n > ${to - ofOne} and n <= ${to} then '${value}' else ${others} end` }
}

/** The same of a column of few different values: the others have that of the row that is repeated. */
export const rare = (column: string, value: string, turn = 0) => last(column, { value, others: `t.${column}`, turn })

/** The same for rows that belong to what the row that is repeated belongs to. */
export const lastOfOne = (column: string) => ({
  [column]: `case when n > ${rows - ofOne} then t.${column} else ${uuid} end`
})

type Ask = readonly [path: string, as: Partial<Actor>]

export interface PluginLists {
  readonly plugins: ReadonlyArray<Plugin>
  /** Statements before there are rows of the plugins. */
  readonly before?: ReadonlyArray<string>
  /** Values of the rows that are repeated. */
  readonly samples: SampleRows
  /** Tables that lists show. */
  readonly growing: Growing
  /** Requests, by the ids of the rows that are repeated. */
  readonly asks: (made: (table: string) => string) => ReadonlyArray<Ask>
  /** Lists, and filters (`/api/things?name`), without requests for 50 pages or that read more, and why. */
  readonly exceptions?: Readonly<Record<string, string>>
  /** Those whose total reads all rows that it counts, and why. */
  readonly totals?: Readonly<Record<string, string>>
}

/** Requests of lists by one actor: each without a filter, and with each of its filters alone. */
export const asked = (as: Partial<Actor>, lists: Readonly<Record<string, ReadonlyArray<string>>>): ReadonlyArray<Ask> =>
  Object.entries(lists).flatMap(([path, filters]) => [
    [path, as] as const,
    ...filters.map((filter) => [`${path}?${filter}`, as] as const)
  ])

const fill = ({ before = [], growing, plugins, samples }: PluginLists) =>
  onDatabase((sql) =>
    Effect.gen(function*() {
      const query = (text: string, values: ReadonlyArray<unknown> = []) =>
        Effect.runPromise(sql.unsafe<Record<string, unknown>>(text, [...values]))
      yield* Effect.forEach(before, (statement) => sql.unsafe(statement))
      const made = yield* Effect.promise(() => sampleRows({ db: { query }, plugins }, "org_default", samples))
      yield* Effect.provideService(manyRows(rows, growing), SqlClient.SqlClient, sql)
      return (table: string) => made.get(table) ?? assert.fail(`no row of ${table}`)
    })
  )

/** The lists of the plugins, `/api/things`, and what can be asked of them alone, `/api/things?name`. */
const everyList = Effect.fnUntraced(function*() {
  const core = new Set(listRoutes.map(({ path }) => path))
  return listRoutesOf((yield* api("GET", "/api/doc")).body).filter(({ path }) => !core.has(path)).flatMap(
    ({ filters, matches, path }) => [
      { name: path, shownBy: (asked: string) => matches(asked) && !asked.includes("?") },
      ...filters.map((filter) => ({
        name: `${path}?${filter}`,
        shownBy: (asked: string) => matches(asked) && new RegExp(`[?]${filter}=[^&]*$`).test(asked)
      }))
    ]
  )
})

/**
 * Every list of the plugins, also with each of its filters alone, on tables of so many rows of one organization: page 1, page
 * 50 and a deep page by a cursor read a bounded number of rows.
 */
export const pluginLists = (title: string, lists: PluginLists) =>
  layer(
    testAppLayer({ plugins: lists.plugins, jobs: { autorun: { enabled: false } } }).pipe(Layer.provide(recording)),
    {
      excludeTestServices: true,
      timeout: "1 hour"
    }
  )(title, (it) => {
    it.effect(
      "read a bounded number of rows for their first and their fiftieth page, their totals, and any page by a cursor",
      () =>
        Effect.gen(function*() {
          const made = yield* fill(lists)
          const every = yield* everyList()
          const [seen, tooMuch] = [new Set(Object.keys(lists.exceptions ?? {})), new Array<string>()]
          const named = [...seen, ...Object.keys(lists.totals ?? {})]
          const unknown = named.filter((name) => every.every((list) => list.name !== name))
          assert.deepStrictEqual(unknown, [], "No list is called so.")
          for (const [path, as] of lists.asks(made)) {
            const { isLong, lines } = yield* readOf(path, as)
            const names = every.filter(({ shownBy }) => shownBy(path)).map(({ name }) => name)
            if (isLong) names.forEach((name) => seen.add(name))
            const isCounted = names.some((name) => lists.totals?.[name] !== undefined)
            tooMuch.push(
              ...lines.flatMap(([sum, line, isTotal]) => sum > most && !(isTotal && isCounted) ? [line] : [])
            )
          }
          assert.deepStrictEqual(tooMuch, [])
          const unseen = every.map(({ name }) => name).filter((name) => !seen.has(name))
          assert.deepStrictEqual(unseen, [], "A list that grows, and each of its filters, needs rows and a request.")
        }),
      3_600_000
    )
  })
