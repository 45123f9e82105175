import { fork } from "node:child_process"
import { once } from "node:events"
import { Client } from "pg"
import type { FromQueue, ToQueue } from "./jobs/Messages.ts"
import { type QueueName, queueNames } from "./jobs/Queue.ts"
import { environment } from "./measure/Environment.ts"
import { median, percentile } from "./measure/Figures.ts"
import { atLeast, atMost, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { type BenchPostgres, onDatabase, startBenchPostgres } from "./servers/BenchPostgres.ts"

/** A queue's process: asks it to do something and gives what it measured. */
const openProcess = async (queue: QueueName, url: string) => {
  const child = fork(new URL("jobs/main.ts", import.meta.url), { stdio: "inherit" })
  const left = once(child, "exit").then(() => Promise.reject(new Error(`The process of ${queue} ended early.`)))
  // A caller that waits for an answer sees it; at the end no one waits.
  left.catch(() => undefined)
  const ask = async (message: ToQueue) => {
    child.send(message)
    const [answer] = await Promise.race([once(child, "message"), left])
    // The child is this project's own and sends nothing else.
    return (answer as FromQueue).times
  }
  await ask({ _tag: "open", queue, url })
  const close = async () => {
    const exit = once(child, "exit")
    await ask({ _tag: "stop" })
    await ask({ _tag: "end" })
    await exit
  }
  return { ask, close }
}

let databases = 0

/** Each measurement has a fresh database: no queue cleans up what another queue or measurement left. */
const withQueue = async <A>(
  postgres: BenchPostgres,
  queue: QueueName,
  work: (ask: (message: ToQueue) => Promise<ReadonlyArray<number>>, url: string) => Promise<A>
): Promise<A> => {
  const url = await postgres.create(`jobs_${++databases}`)
  const { ask, close } = await openProcess(queue, url)
  await ask({ _tag: "prepare" })
  const found = await work(ask, url)
  await close()
  return found
}

/** Jobs a second into the table, and from the table to the last record of their success. */
const throughput = (postgres: BenchPostgres, queue: QueueName, count: number) =>
  withQueue(postgres, queue, async (ask) => {
    const [enqueueMs = Infinity] = await ask({ _tag: "enqueue", count })
    const [drainMs = Infinity] = await ask({ _tag: "drain", count })
    return { enqueued: count / enqueueMs * 1000, done: count / drainMs * 1000 }
  })

const pickup = (postgres: BenchPostgres, queue: QueueName) =>
  withQueue(postgres, queue, async (ask) => {
    const times = [...await ask({ _tag: "pickup", count: 300, pauseMs: 20 })].sort((a, b) => a - b)
    return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
  })

const databaseOf = (url: string) => new URL(url).pathname.slice(1)

/** What the claims of a database cost for each claimed job, by `pg_stat_statements`. */
const claimsOf = async (postgres: BenchPostgres, url: string) => {
  const { rows } = await postgres.admin.query<{ perJob: number; perCall: number; jobs: number }>(
    `select coalesce(sum(total_exec_time) / nullif(sum(rows), 0), 0) as "perJob",
       coalesce(sum(total_exec_time) / nullif(sum(calls), 0), 0) as "perCall",
       coalesce(sum(rows) / nullif(sum(calls), 0), 0)::float8 as jobs
     from pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname = $1 and s.query ilike '%for update%skip locked%parked%lease_token%'`,
    [databaseOf(url)]
  )
  return rows[0] ?? { perJob: 0, perCall: 0, jobs: 0 }
}

/** The state in which a table is that was not filled a moment ago; what was asked until now does not count. */
const settled = async (postgres: BenchPostgres, url: string) => {
  await onDatabase(url, (client) => client.query("vacuum analyze"))
  await postgres.admin.query("checkpoint")
  await postgres.admin.query(
    "select pg_stat_statements_reset(0, oid) from pg_database where datname = $1",
    [databaseOf(url)]
  )
}

/** Jobs that wait in every measurement, so that claims of all depths find enough for a whole batch. */
const least = 5000

/** What a claim of Stoa costs PostgreSQL while so many jobs wait. */
const claimCost = (postgres: BenchPostgres, depth: number, seconds: number) =>
  withQueue(postgres, "stoa", async (ask, url) => {
    const pending = depth + least
    await ask({ _tag: "enqueue", count: pending })
    await settled(postgres, url)
    const perSecond = await ask({ _tag: "steady", pending, already: pending, seconds })
    return { ...await claimsOf(postgres, url), rate: median(perSecond) }
  })

/** Jobs a second at the end of some seconds during which an old snapshot was open, and without one. */
const underSnapshot = (postgres: BenchPostgres, queue: QueueName, seconds: number, open: boolean) =>
  withQueue(postgres, queue, async (ask, url) => {
    const old = new Client({ connectionString: url })
    await old.connect()
    if (open) await old.query("begin isolation level repeatable read; select 1 from pg_class limit 1")
    const perSecond = await ask({ _tag: "steady", pending: least, already: 0, seconds })
    await old.end()
    return median(perSecond.slice(-Math.ceil(seconds / 3)))
  })

/**
 * The job queue beside graphile-worker and pg-boss, each in a separate process on the same PostgreSQL, one after the
 * other: no-op jobs a second with the record kept, bulk enqueue, pick-up when idle, claims by depth, and what a long
 * transaction costs.
 */
export const runJobs = async (options: Options): Promise<void> => {
  const names = queueNames.filter((name) => name.includes(options.only ?? ""))
  const [count, seconds] = [options.flows ?? 100_000, options.seconds ?? 20]
  heading(`job queues: ${count} no-op jobs, ${options.windows} runs each`)
  const postgres = await startBenchPostgres()
  try {
    table(["environment", ""], Object.entries(await environment(postgres.admin)))
    const found = names.map((name) => ({ name, runs: new Array<Awaited<ReturnType<typeof throughput>>>() }))
    for (let round = 0; round < options.windows; round++) {
      for (const { name, runs } of found) runs.push(await throughput(postgres, name, count))
    }
    const waits = new Map<QueueName, Awaited<ReturnType<typeof pickup>>>()
    for (const name of names) waits.set(name, await pickup(postgres, name))
    const rows = found.map(({ name, runs }) => ({
      name,
      done: median(runs.map((run) => run.done)),
      enqueued: median(runs.map((run) => run.enqueued)),
      ...waits.get(name) ?? { p50: Infinity, p99: Infinity }
    }))
    table(
      ["every run", "jobs/s", "enqueued/s"],
      found.flatMap(({ name, runs }) => runs.map(({ done, enqueued }) => [name, done, enqueued]))
    )
    heading("medians")
    table(
      ["queue", "jobs/s", "enqueued/s", "pick-up p50 ms", "p99 ms"],
      rows.map(({ done, enqueued, name, p50, p99 }) => [name, done, enqueued, p50, p99])
    )
    record("jobs", { found, waits: [...waits] })
    const [own, ...peers] = rows
    if (own === undefined || own.name !== "stoa") return
    heading("claims by depth (Stoa)")
    const depths = []
    for (const depth of [0, 100_000, 1_000_000]) depths.push({ depth, ...await claimCost(postgres, depth, 5) })
    table(
      ["pending", "claim, µs per job", "ms per claim", "jobs per claim", "jobs/s"],
      depths.map(({ depth, jobs, perCall, perJob, rate }) => [`${depth}`, perJob * 1000, perCall, jobs, rate])
    )
    heading("a transaction that stays open (Stoa)")
    const [free, held] = [
      await underSnapshot(postgres, "stoa", seconds, false),
      await underSnapshot(postgres, "stoa", seconds, true)
    ]
    table(["", "jobs/s"], [["none", free], ["open", held]])
    record("jobs depth", { depths, free, held })
    if (peers.length > 0) {
      atLeast(
        "no-op jobs/s over the best peer",
        own.done / Math.max(...peers.map(({ done }) => done)),
        1
      )
    }
    atLeast("bulk enqueue/s", own.enqueued, 100_000)
    atMost("pick-up p50", own.p50, 3, " ms")
    atMost("pick-up p99", own.p99, 10, " ms")
    atMost("claim of a job at 1,000,000 over one at none", (depths[2]?.perJob ?? 0) / (depths[0]?.perJob ?? 1), 2)
    atMost("loss under an open transaction", 1 - held / free, 0.15)
    note("peers keep less: graphile-worker deletes finished jobs; pg-boss keeps them, without their output")
  } finally {
    await postgres.stop()
  }
}
