import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, ManagedRuntime } from "effect"
import { Jobs } from "../../src/domain/platform/jobs/Jobs.ts"
import { defineTask } from "../../src/domain/platform/tasks/Task.ts"
import { processApp, servicesApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { OpenQueue } from "./Queue.ts"

/** Jobs of one statement: more made it no faster in trials. */
const batch = 5000

const options = { organizationId: "org_default" }

/**
 * Stoa's own queue: a process of the role `runner` for the work, and the services of the role `api` to enqueue, which is
 * how an application uses it. Every job's record and output stay.
 */
export const openStoa: OpenQueue = (url) => {
  let heard: () => void = () => undefined
  const noop = defineTask({ slug: "noop", handler: () => Effect.sync(() => heard()) })
  Object.assign(process.env, { DATABASE_URL: url, STOA_RUNNER_PORT: "0", PORT: "0", STOA_LOG_LEVEL: "error" })
  const settings = Effect.runSync(readSettings({ tasks: [noop] }))
  const tools = ManagedRuntime.make(
    Layer.provide(servicesApp({ ...settings, role: "api" }), NodeServices.layer)
  )
  let worker: { readonly dispose: () => Promise<void> } | undefined
  const add = (count: number) =>
    tools.runPromise(
      Effect.flatMap(
        Jobs,
        (jobs) => jobs.enqueueAll(Array.from({ length: count }, () => ({ task: "noop", input: {}, options })))
      )
    )
  return {
    open:
      "select count(*)::int as open from commerce_jobs where task_slug = 'noop' and status in ('pending', 'processing')",
    prepare: async () => {
      await tools.runPromise(Effect.void)
    },
    enqueue: async (count) => {
      for (let left = count; left > 0; left -= batch) await add(Math.min(batch, left))
    },
    enqueueOne: async () => {
      await add(1)
    },
    start: async (ran) => {
      heard = ran
      const runtime = ManagedRuntime.make(
        Layer.provide(processApp({ ...settings, role: "runner" }), NodeServices.layer)
      )
      worker = runtime
      await runtime.runPromise(Effect.void)
    },
    stop: async () => {
      await worker?.dispose()
      await tools.dispose()
    }
  }
}
