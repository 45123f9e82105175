import { Logger, makeWorkerUtils, run, type Runner, type WorkerUtils } from "graphile-worker"
import type { OpenQueue } from "./Queue.ts"

/** Jobs of one statement: more made it slower in trials. */
const batch = 1000

/** The settings with which it was fastest in trials on this kind of machine. */
const preset = { worker: { concurrentJobs: 500, localQueue: { size: 2000 }, completeJobBatchDelay: 0 } }

/** graphile-worker 0.18: finished jobs are deleted, no output is kept. */
export const openGraphileWorker: OpenQueue = (url) => {
  const logger = new Logger(() => () => undefined)
  let tools: WorkerUtils | undefined
  let runner: Runner | undefined
  const utils = async () => tools ??= await makeWorkerUtils({ connectionString: url, logger })
  return {
    open: "select count(*)::int as open from graphile_worker._private_jobs",
    prepare: async () => (await utils()).migrate(),
    enqueue: async (count) => {
      const { addJobs } = await utils()
      for (let left = count; left > 0; left -= batch) {
        await addJobs(Array.from({ length: Math.min(batch, left) }, () => ({ identifier: "noop", payload: {} })))
      }
    },
    enqueueOne: async () => {
      await (await utils()).addJob("noop", {})
    },
    start: async (ran) => {
      runner = await run({ connectionString: url, logger, noHandleSignals: true, preset, taskList: { noop: ran } })
    },
    stop: async () => {
      await runner?.stop()
      await tools?.release()
    }
  }
}
