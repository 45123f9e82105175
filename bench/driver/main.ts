import { once } from "node:events"
import { setTimeout as pause } from "node:timers/promises"
import { percentile } from "../measure/Figures.ts"
import { writesOf } from "../measure/ProcessUse.ts"
import { openDriver } from "./Drivers.ts"
import type { DriverJob, FromDriver, ToDriver } from "./Messages.ts"

/* The process of one variant: opens the pool, warms up, waits for `go`, runs, reports, and closes at `end`. */

const tell = (message: FromDriver) => process.send?.(message)

const hear = async (): Promise<ToDriver> => {
  const [message] = await once(process, "message")
  // The parent is this project's own and sends nothing else.
  return message as ToDriver
}

const kept = `select coalesce(sum(generic_plans), 0)::int as generic, coalesce(sum(custom_plans), 0)::int as custom
  from pg_prepared_statements where statement like 'insert%'`

const run = async ({ flows, url, users, variant, warmup }: DriverJob) => {
  const driver = await openDriver(url, variant)
  const atOnce = () => Promise.resolve()
  await driver.run({ users, flows: warmup, turn: atOnce, done: () => undefined })

  const go = hear()
  tell({ _tag: "warm" })
  await go
  const times: Array<number> = []
  const [cpu, writes, began] = [process.cpuUsage(), await writesOf(process.pid), performance.now()]
  const paced = async (n: number) => {
    const wait = began + n * 1000 / variant.rate - performance.now()
    if (wait > 0) await pause(wait)
  }
  await driver.run({ users, flows, turn: variant.rate === 0 ? atOnce : paced, done: (ms) => times.push(ms) })
  const seconds = (performance.now() - began) / 1000
  const { system, user } = process.cpuUsage(cpu)
  const written = await writesOf(process.pid) - writes
  const [plans] = await driver.ask(kept)
  const end = hear()
  tell({
    _tag: "report",
    report: {
      seconds,
      p50: percentile(times.sort((a, b) => a - b), 0.5),
      cpuMs: (system + user) / 1000 / flows,
      writes: written / flows,
      // The two columns of the statement above.
      plans: { generic: 0, custom: 0, ...(plans as Partial<{ generic: number; custom: number }>) }
    }
  })
  await end
  await driver.close()
}

// A benchmark that was killed must not leave its load behind.
process.once("disconnect", () => process.exit())

const first = await hear()
if (first._tag === "job") await run(first.job)
process.disconnect()
