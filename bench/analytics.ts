import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { Client } from "pg"
import type { AnalyticsQuery } from "../src/domain/analytics/AnalyticsQuery.ts"
import { statementOf } from "../src/domain/analytics/AnalyticsStatementRepo.ts"
import { planOf } from "../src/domain/analytics/QueryPlan.ts"
import { analyticsModels } from "../src/domain/orders/analytics.ts"
import { environment } from "./measure/Environment.ts"
import { median, percentile } from "./measure/Figures.ts"
import { atMost, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { onDatabase, startBenchPostgres } from "./servers/BenchPostgres.ts"
import { startStoa } from "./servers/StoaServer.ts"

const org = "org_default"
const linesPerOrder = 4

/** Orders of three years, four lines each, and in the same tables a tenth as many of other stores. */
const seedLines = async (client: Client, lines: number): Promise<void> => {
  const orders = Math.ceil(lines / linesPerOrder)
  const whose = `case when n <= ${orders} then '${org}' else 'org_' || n % 50 end`
  const each = `from generate_series(1, ${Math.ceil(orders * 1.1)}) n`
  // The rows are whole; checking each reference would only make this take longer.
  await client.query("set session_replication_role = replica")
  await client.query(
    `insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
       shipping_total, discount_total, grand_total, amount_captured, placed_at)
     select md5('o' || n)::uuid, ${whose}, 'ORD-' || n, md5('c' || n % 20000)::uuid, 'confirmed', 'USD', 4000 + n % 1000,
       0, 0, 0, 4000 + n % 1000, 4000 + n % 1000, now() - (n % ${orders}) * interval '3 years' / ${orders} ${each}`
  )
  await client.query(
    `insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, sku, title, quantity,
       unit_price, total_price)
     select md5('l' || n || '-' || p)::uuid, ${whose}, md5('o' || n)::uuid, p, md5('e' || (n + p) % 1000)::uuid, 'product',
       'SKU-' || (n + p) % 1000, 'Product number ' || (n + p) % 1000, 1 + n % 3, 1000, 1000 * (1 + n % 3)
     ${each}, generate_series(1, ${linesPerOrder}) p`
  )
  await client.query("vacuum analyze orders, order_lines")
}

const byMonth = (measure: string, dateRange?: string): AnalyticsQuery => ({
  measures: [measure],
  timeDimensions: [{ dimension: "Orders.placedAt", granularity: "month", ...(dateRange && { dateRange }) }]
})

const questions: ReadonlyArray<readonly [name: string, query: AnalyticsQuery]> = [
  ["revenue of lines by month, all time", byMonth("OrderLineItems.lineItemRevenue")],
  ["revenue of lines by month, last 3 months", byMonth("OrderLineItems.lineItemRevenue", "last 3 months")],
  ["revenue of orders by month, all time", byMonth("Orders.revenue")],
  ["ten best sold titles, all time", {
    measures: ["OrderLineItems.itemsSold"],
    dimensions: ["OrderLineItems.title"],
    order: { "OrderLineItems.itemsSold": "desc" },
    limit: 10
  }]
]

/** The statement that the service sends for a query. */
const statementFor = (url: string, query: AnalyticsQuery) =>
  Effect.runPromise(
    Effect.map(SqlClient.SqlClient, (sql) => {
      const plan = Result.getOrThrow(
        planOf(query, analyticsModels(), { now: new Date(), zone: DateTime.zoneMakeNamedUnsafe("UTC") })
      )
      return statementOf(sql, plan, { organizationId: org, rules: [], vendorId: null, customerId: null }).compile()
    }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
  )

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const askOver = (origin: string, query: AnalyticsQuery) => async () => {
  const response = await fetch(`${origin}/api/analytics/query`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "dev-admin-key" },
    body: JSON.stringify(query)
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}

/**
 * Figures over a million order lines of a store, asked over HTTP, and beside each the same statement sent by the raw driver
 * over a connection with the same settings: the difference is what the service adds. In turn, one at a time.
 */
export const runAnalytics = async (options: Options): Promise<void> => {
  const [lines, rounds] = [options.flows ?? 1_000_000, 10]
  heading(`analytics over ${lines} order lines, ${rounds} rounds`)
  const postgres = await startBenchPostgres()
  try {
    table(["environment", ""], Object.entries(await environment(postgres.admin)))
    const url = await postgres.create("stoa")
    const server = await startStoa({ databaseUrl: url })
    await onDatabase(url, (client) => seedLines(client, lines))
    await onDatabase(url, async (client) => {
      await client.query("set jit = off; set work_mem = '32MB'")
      const found = []
      for (const [name, query] of questions) {
        const [text, parameters] = await statementFor(url, query)
        const ask = askOver(server.origin, query)
        const send = () => client.query(text, [...parameters])
        for (let warm = 0; warm < 2; warm++) await Promise.resolve(ask()).then(send)
        const [stoa, bare]: [Array<number>, Array<number>] = [[], []]
        for (let round = 0; round < rounds; round++) {
          stoa.push(await timed(ask))
          bare.push(await timed(send))
        }
        found.push({
          name,
          stoa: median(stoa),
          worst: percentile(stoa.toSorted((a, b) => a - b), 1),
          bare: median(bare)
        })
      }
      table(
        ["query", "Stoa ms", "slowest", "same statement bare ms", "ratio"],
        found.map(({ bare, name, stoa, worst }) => [name, stoa, worst, bare, stoa / bare])
      )
      record("analytics", { lines, found })
      atMost("revenue by month over all lines", found[0]?.stoa ?? Infinity, 1000, " ms")
      note("bare: the same text and parameters by the driver pg, with jit off and the same work_mem")
    })
    await server.stop()
  } finally {
    await postgres.stop()
  }
}
