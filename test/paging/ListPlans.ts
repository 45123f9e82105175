import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { recording, statementsOf } from "../pricing/Statements.ts"
import { api, at, testAppLayer } from "../support/TestApp.ts"
import { askerOf, filled, type Probe, reads } from "../tenancy/Probes.ts"
import { aStore } from "../tenancy/Stores.ts"
import { listRoutes } from "./ListRoutes.ts"
import { manyRows } from "./ManyRows.ts"

/** Rows that a statement may read for a page and its total: what belongs to one order, seven times. */
export const most = 8_700

const more = (path: string, own = false): Probe => ({ method: "GET", path, body: undefined, own })

/** Requests for lists beside those of `reads`: filters that counters know, and what only these show rows of. */
const requests: ReadonlyArray<Probe> = [
  ...reads,
  more("/api/catalog/categories?includeArchived=true"),
  more("/api/media?contentType=image/png"),
  more("/api/admin/compensation-failures?status=open"),
  more("/api/orders/{order}/notes")
]

/** Lists that stay short, and why. */
const short: Readonly<Record<string, string>> = {
  "/api/catalog/entities/:id/revisions": "at most 100 are kept of each entity",
  "/api/admin/entity-field-definitions": "an entity type has a limit of fields",
  "/api/orders/lookup": "the first hits, without pages",
  "/api/webhooks": "an organization has a limit of endpoints",
  "/api/admin/staff/roles": "roles are configuration",
  "/api/admin/staff/invitations": "open ones, which expire within days"
}

const Plan = Schema.Struct({
  "QUERY PLAN": Schema.NonEmptyArray(Schema.Struct({ Plan: Schema.Unknown, "Execution Time": Schema.Number }))
})

/** Whether a statement may run again: what the process does beside the request may write. */
const onlyReads = (text: string): boolean =>
  /^\s*(select|with)\b/i.test(text) && !/\b(insert into|update|delete from)\b/i.test(text)

const numberAt = (node: unknown, key: string): number => Number(at(node, key) ?? 0)

/** What the nodes of a plan read from tables, in rows, with those that were read in vain: a line for each. */
const readBy = (node: unknown): ReadonlyArray<readonly [rows: number, what: string]> => {
  const inside = at(node, "Plans")
  const below = Array.isArray(inside) ? inside.flatMap(readBy) : []
  if (at(node, "Relation Name") === undefined) return below
  const each = numberAt(node, "Actual Rows") + numberAt(node, "Rows Removed by Filter") +
    numberAt(node, "Rows Removed by Index Recheck")
  const what = ["Node Type", "Relation Name", "Index Name"].map((key) => at(node, key) ?? "").join(" ")
  return [[each * numberAt(node, "Actual Loops"), what], ...below]
}

/** Runs a statement of a list again, and gives what it read and how long it took. */
const explained = (text: string, parameters: ReadonlyArray<unknown>) =>
  onDatabase((sql) =>
    Effect.map(sql.unsafe(`explain (analyze, format json) ${text}`, parameters), (rows) => {
      const [plan] = Schema.decodeUnknownSync(Schema.Array(Plan))(rows)[0]?.["QUERY PLAN"] ?? assert.fail("no plan")
      const nodes = readBy(plan.Plan)
      return { nodes, ms: plan["Execution Time"], sum: nodes.reduce((sum, [rows]) => sum + rows, 0) }
    })
  )

type Who = ReturnType<typeof askerOf>

/** A page of a list, by its number or a cursor: the rows that it shows, the cursor after it, and the statements that make it. */
const pageOf = Effect.fnUntraced(function*(path: string, as: Who, page: number | string) {
  const place = typeof page === "number" ? `page=${page}` : `cursor=${page}`
  const url = `${path}${path.includes("?") ? "&" : "?"}limit=20&${place}`
  let shown: ReadonlyArray<unknown> = []
  let cursor: unknown
  const request = Effect.map(api("GET", url, { as }), (answer) => {
    const data = [answer.at("data"), answer.at("data.prices"), answer.at("data.items")].find(Array.isArray)
    shown = data ?? []
    cursor = answer.at("meta.pagination.nextCursor")
    assert.strictEqual(answer.status, 200, url)
    const before = shown.length === 0 ? 0 : (answer.number("meta.pagination.page") - 1) * 20
    assert.isAtLeast(answer.number("meta.pagination.total"), before + shown.length, url)
  })
  const statements = (yield* statementsOf(request)).filter(([text]) => onlyReads(text))
  return { cursor: typeof cursor === "string" ? [cursor] : [], shown, statements }
})

/**
 * Reads the first and the fiftieth page of a list, and by a cursor one that is deeper than a page may read rows, which has
 * the rows of its number: whether the fiftieth has rows, and a line for what each statement read.
 */
export const readOf = Effect.fnUntraced(function*(path: string, as: Who) {
  const lines: Array<readonly [rows: number, line: string, isTotal: boolean]> = []
  let isLong = false
  const { cursor } = yield* pageOf(path, as, 900)
  for (const page of [1, 50, ...cursor]) {
    const { shown, statements } = yield* pageOf(path, as, page)
    if (page === 50) isLong = shown.length > 0
    if (typeof page === "string") assert.deepStrictEqual(shown, (yield* pageOf(path, as, 901)).shown, path)
    for (const [text, parameters] of statements) {
      const { ms, nodes, sum } = yield* explained(text, parameters)
      const plan = nodes.map(([rows, what]) => `${what} ${Math.round(rows)}`).join(", ")
      const line = `${path} page ${page}: ${Math.round(sum)} rows, ${ms} ms, ${plan}`
      lines.push([sum, line, / as total\s*$/.test(text)])
    }
  }
  return { isLong, lines }
})

/** A store whose tables have so many rows of each kind. */
const aLargeStore = Effect.fnUntraced(function*(rows: number) {
  const store = yield* aStore("org_default")
  const { as } = store
  yield* api("POST", `/api/orders/${store.order}/notes`, { as, body: { text: "Here.", visibility: "customer" } })
  yield* api("POST", `/api/customers/groups/${store.group}/members/${store.customer}`, { as })
  yield* onDatabase((sql) => Effect.provideService(manyRows(rows), SqlClient.SqlClient, sql))
  return store
})

const app = testAppLayer({ jobs: { autorun: { enabled: false } }, email: { send: async () => {} } }).pipe(
  Layer.provide(recording)
)

/**
 * Every list route, on tables of so many rows of one organization: page 1 and page 50 read a bounded number of rows, by
 * plans that PostgreSQL makes for real rows with real statistics. `note` gets a line for each statement.
 */
export const listPlans = (rows: number, note: (line: string) => void = () => {}) =>
  layer(app, { excludeTestServices: true, timeout: "1 hour" })(`lists among ${rows} rows`, (it) => {
    it.effect(
      "every list reads a bounded number of rows for its first and its fiftieth page, their totals, and any page by a cursor",
      () =>
        Effect.gen(function*() {
          const store = yield* aLargeStore(rows)
          const long = new Set(Object.keys(short))
          const tooMuch: Array<string> = []
          for (const probe of requests) {
            const route = listRoutes.find(({ matches }) => matches(probe.path))
            if (probe.method !== "GET" || route === undefined) continue
            const { isLong, lines } = yield* readOf(filled(probe, store).path, askerOf(probe, store))
            if (isLong) long.add(route.path)
            for (const [, line] of lines) note(line)
            tooMuch.push(...lines.flatMap(([sum, line]) => sum > most ? [line] : []))
          }
          assert.deepStrictEqual(tooMuch, [])
          const unseen = listRoutes.map(({ path }) => path).filter((path) => !long.has(path))
          assert.deepStrictEqual(unseen, [], "A list that grows needs rows (ManyRows.ts) and a request (Probes.ts).")
        }),
      3_600_000
    )
  })
