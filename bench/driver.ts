import { fork } from "node:child_process"
import { once } from "node:events"
import type { Client } from "pg"
import { tables } from "./driver/Flow.ts"
import type { DriverJob, DriverReport, FromDriver, ToDriver } from "./driver/Messages.ts"
import { type Variant, variants } from "./driver/Variant.ts"
import { databaseWindow } from "./measure/DatabaseUse.ts"
import { environment } from "./measure/Environment.ts"
import { median } from "./measure/Figures.ts"
import { lessUse, treeUseOf } from "./measure/ProcessUse.ts"
import { heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { type BenchPostgres, onDatabase, startBenchPostgres } from "./servers/BenchPostgres.ts"

/** Times the log was forced to disk, of the whole server; processes report theirs at their end. */
const syncs = async (client: Client): Promise<number> => {
  const version = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version"
  )
  const text = (version.rows[0]?.version ?? 0) >= 180_000
    ? "select coalesce(sum(fsyncs), 0)::int as syncs from pg_stat_io where object = 'wal'"
    : "select wal_sync::int as syncs from pg_stat_wal"
  const { rows } = await client.query<{ syncs: number }>(text)
  return rows[0]?.syncs ?? 0
}

const planning = async (client: Client): Promise<number> => {
  const { rows } = await client.query<{ ms: number }>(
    `select coalesce(sum(total_plan_time), 0) as ms from pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname = 'driver'`
  )
  return rows[0]?.ms ?? 0
}

const heard = async (child: ReturnType<typeof fork>): Promise<FromDriver> => {
  const gone = new AbortController()
  const left = once(child, "exit", { signal: gone.signal }).then(
    () => Promise.reject(new Error("The process of a driver ended early.")),
    () => new Promise<never>(() => undefined)
  )
  try {
    const [message] = await Promise.race([once(child, "message"), left])
    // The child is this project's own and sends nothing else.
    return message as FromDriver
  } finally {
    gone.abort()
  }
}

/** One run of one variant; figures are per flow of three statements. */
const measure = async (postgres: BenchPostgres, job: DriverJob) => {
  const { admin, pid } = postgres
  const syncsBefore = await syncs(admin)
  const child = fork(new URL("driver/main.ts", import.meta.url), { stdio: "inherit" })
  const send = (message: ToDriver) => child.send(message)
  const warm = heard(child)
  send({ _tag: "job", job })
  await warm
  const ended = await databaseWindow(admin, "driver")
  const before = await treeUseOf(pid)
  const answer = heard(child)
  send({ _tag: "go" })
  const message = await answer
  const used = lessUse(await treeUseOf(pid), before)
  const database = await ended()
  const planMs = await planning(admin)
  const exit = once(child, "exit")
  send({ _tag: "end" })
  await exit
  // Backends report their share of the syncs when they end, a moment after their clients.
  for (let left = 1; left > 0;) {
    const { rows } = await admin.query<{ left: number }>(
      "select count(*)::int as left from pg_stat_activity where datname = 'driver'"
    )
    left = rows[0]?.left ?? 0
  }
  if (message._tag !== "report") throw new Error("The process of a driver reported nothing.")
  const report: DriverReport = message.report
  return {
    rate: job.flows / report.seconds,
    p50: report.p50,
    postgresMs: used.cpuMs / job.flows,
    clientMs: report.cpuMs,
    sleeps: used.waits / job.flows,
    writes: report.writes,
    planMs: planMs / job.flows,
    execMs: database.statements.reduce((sum, { calls, meanMs }) => sum + calls * meanMs, 0) / job.flows,
    syncs: (await syncs(admin) - syncsBefore) / (job.flows + job.warmup),
    walKb: database.walKb / job.flows,
    plans: report.plans
  }
}

type Measured = Awaited<ReturnType<typeof measure>>

const middle = (runs: ReadonlyArray<Measured>, of: (run: Measured) => number) => median(runs.map(of))

const print = (found: ReadonlyArray<readonly [Variant, ReadonlyArray<Measured>]>) => {
  const columns = [
    "flows/s",
    "p50 ms",
    "cpu pg",
    "cpu client",
    "sleeps",
    "writes",
    "plan ms",
    "exec ms",
    "syncs",
    "wal kB"
  ]
  table(
    ["variant", ...columns, "generic/custom"],
    found.map(([variant, runs]) => [
      variant.name,
      middle(runs, (run) => run.rate),
      middle(runs, (run) => run.p50),
      middle(runs, (run) => run.postgresMs),
      middle(runs, (run) => run.clientMs),
      middle(runs, (run) => run.sleeps),
      middle(runs, (run) => run.writes),
      middle(runs, (run) => run.planMs),
      middle(runs, (run) => run.execMs),
      middle(runs, (run) => run.syncs),
      middle(runs, (run) => run.walKb),
      runs[0] === undefined ? "-" : `${runs[0].plans.generic}/${runs[0].plans.custom}`
    ])
  )
}

/**
 * What three single-row inserts cost PostgreSQL through `pg` and through `@effect/sql-pg`, and which switch changes it.
 * Variants alternate, the figure is the median. `--only TEXT` runs those whose name contains the text.
 */
export const runDriver = async (options: Options): Promise<void> => {
  const chosen = variants.filter(({ name }) => name.includes(options.only ?? ""))
  const [flows, users] = [options.flows ?? 4000, options.users ?? 16]
  heading(`a cart with two adds through two drivers: ${flows} flows, ${users} at once, ${options.windows} runs each`)
  // Planning is counted apart; it costs every variant the same.
  const postgres = await startBenchPostgres({ "pg_stat_statements.track_planning": "on" })
  try {
    table(["environment", ""], Object.entries(await environment(postgres.admin)))
    const url = await postgres.create("driver")
    await onDatabase(url, (client) => client.query(tables))
    const found = chosen.map((variant) => [variant, new Array<Measured>()] as const)
    for (let round = 0; round < options.windows; round++) {
      for (const [variant, runs] of found) {
        // A paced variant takes as long as its rate says; a quarter of the flows is enough for it.
        const share = variant.rate === 0 ? 1 : 0.25
        const job = { variant, url, users, flows: Math.ceil(flows * share), warmup: Math.ceil(flows * share / 4) }
        runs.push(await measure(postgres, job))
        await onDatabase(url, (client) => client.query("truncate carts, cart_lines"))
      }
    }
    print(found)
    note(
      "cpu, sleeps, writes, plan, exec, syncs, wal: per flow; generic/custom: plans of one connection's kept statements"
    )
    record("driver", { runs: found.map(([variant, runs]) => ({ variant, runs })) })
  } finally {
    await postgres.stop()
  }
}
