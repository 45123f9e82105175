import { Effect } from "effect"
import { driversClash, type JobOptions, jobSettings, wrongNumber } from "./JobOptions.ts"
import { milliseconds, oneOf, refuse } from "./Variables.ts"

/** The queue's settings; a queue is driven by one driver, its own engine or these processes. */
export const jobs = Effect.fnUntraced(function*(options: JobOptions) {
  const asked = yield* oneOf("STOA_JOBS_AUTORUN", ["true", "false", ""], "")
  const environment = {
    autorun: asked === "" ? undefined : asked === "true",
    leaseMs: yield* milliseconds("JOB_REAP_THRESHOLD_MS"),
    reapMs: yield* milliseconds("JOBS_REAPER_INTERVAL_MS")
  }
  const wrong = wrongNumber(options)
  if (wrong !== undefined) {
    return yield* refuse(`jobs.${wrong[0]}`, String(wrong[1]), "a whole number from 1")
  }
  if (driversClash(options, environment)) {
    return yield* refuse(
      "jobs.autorun.enabled",
      "true",
      "false: the push engine of jobs.adapter drives the jobs itself"
    )
  }
  return jobSettings(options, environment)
})
