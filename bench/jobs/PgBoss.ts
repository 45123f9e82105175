import { PgBoss } from "pg-boss"
import type { OpenQueue } from "./Queue.ts"

const queue = "noop"
/** Jobs of one statement, when they are made and when they are fetched: the best of trials. */
const batch = 1000

/** pg-boss 12: finished jobs are kept, as Stoa keeps them. Workers are woken by NOTIFY. */
export const openPgBoss: OpenQueue = (url) => {
  const boss = new PgBoss({ connectionString: url, useListenNotify: true })
  // A queue that ends while it polls reports that; the figures would show what is wrong.
  boss.on("error", () => undefined)
  let started: Promise<PgBoss> | undefined
  const ready = () => started ??= boss.start()
  return {
    open: "select count(*)::int as open from pgboss.job where name = 'noop' and state < 'completed'",
    prepare: async () => {
      await ready()
      await boss.createQueue(queue, { notify: true })
    },
    enqueue: async (count) => {
      await ready()
      for (let left = count; left > 0; left -= batch) {
        await boss.insert(queue, Array.from({ length: Math.min(batch, left) }, () => ({ data: {} })))
      }
    },
    enqueueOne: async () => {
      await ready()
      await boss.send(queue, {})
    },
    start: async (ran) => {
      await ready()
      const options = { batchSize: batch, localConcurrency: 2, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true }
      await boss.work(queue, options, async (jobs) => {
        for (const _ of jobs) ran()
      })
    },
    stop: () => boss.stop({ graceful: true, close: true })
  }
}
