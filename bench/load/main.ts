import { setTimeout as pause } from "node:timers/promises"
import { flows } from "./Flows.ts"
import type { FromLoad, LoadJob, ToLoad } from "./Messages.ts"
import { Recorder } from "./Recorder.ts"
import { Shopper } from "./Shopper.ts"

/*
 * The load process: closed loop, one process for all shoppers, apart from the benchmark so that its CPU can be separated
 * from the servers'. It warms up, lets every shopper finish, waits for `go`, and measures until the window is over and
 * every shopper has finished again; so what the database counts meanwhile belongs to whole flows.
 */

const tell = (message: FromLoad) => process.send?.(message)

const next = <Tag extends ToLoad["_tag"]>(tag: Tag): Promise<Extract<ToLoad, { readonly _tag: Tag }>> =>
  new Promise((resolve) => {
    const hear = (message: ToLoad) => {
      if (message._tag !== tag) return
      process.off("message", hear)
      // The tag was just compared, which the compiler does not carry to a generic.
      resolve(message as Extract<ToLoad, { readonly _tag: Tag }>)
    }
    process.on("message", hear)
  })

const run = async (job: LoadJob) => {
  const recorder = new Recorder()
  const shoppers = Array.from(
    { length: job.users },
    (_, number) => new Shopper(job.origins[number % job.origins.length] ?? "", number, recorder, job.headers)
  )
  let turn = 0

  const shop = async (shopper: Shopper, until: number, limit: number) => {
    while (performance.now() < until && turn < limit) {
      const started = performance.now()
      const mine = turn++
      try {
        await flows[job.flow](shopper, { job, turn: mine, recorder })
        recorder.done(performance.now() - started)
      } catch (error) {
        recorder.failed(error instanceof Error ? error.message : String(error))
        // A server that refuses at once must not turn the load process into an endless loop.
        await pause(5)
      }
    }
  }

  const phase = (seconds: number, limit: number) => {
    const until = seconds === 0 ? Infinity : performance.now() + seconds * 1000
    return Promise.all(shoppers.map((shopper) => shop(shopper, until, limit)))
  }

  if (job.warmup > 0) await phase(job.warmup, Infinity)
  const go = next("go")
  tell({ _tag: "warm" })
  await go
  recorder.begin()
  await phase(job.seconds, job.flows === 0 ? Infinity : turn + job.flows)
  tell({ _tag: "report", report: recorder.report(job.seconds * 1000) })
  await Promise.all(shoppers.map((shopper) => shopper.close()))
}

// A benchmark that was killed must not leave its load behind.
process.once("disconnect", () => process.exit())

const { job } = await next("job")
await run(job)
process.disconnect()
