import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor, PluginDatabase, systemActor } from "stoa/plugin"
import { payoutSchedules } from "../vendors/VendorTables.ts"
import { periodStart } from "./PayoutPeriods.ts"
import { PayoutRuns } from "./PayoutRuns.ts"
import { scheduleRepo } from "./ScheduleRepo.ts"

const make = Effect.gen(function*() {
  const repo = scheduleRepo(yield* PluginDatabase)
  const runs = yield* PayoutRuns

  /** The note comes last: after a crash before it the same vendors are processed again, and paid once. */
  const ofOrganization = Effect.fn("ScheduledPayouts.ofOrganization")(function*(now: Date) {
    const periods = payoutSchedules.flatMap((schedule) => {
      const start = periodStart(schedule, now)
      return start === undefined ? [] : [{ schedule, start }]
    })
    const vendorIds = yield* repo.due(periods)
    if (vendorIds.length === 0) return 0
    // A vendor that was suspended a moment ago is an error of the whole call; the next tick leaves it out.
    const made = yield* Effect.orElseSucceed(runs.run({ vendorIds }), () => undefined)
    if (made === undefined) return 0
    yield* repo.note(vendorIds, periods)
    return made.length
  })

  /** Pays vendors of all organizations that are due; returns the number of payouts. For the scheduler. */
  const runDue = Effect.gen(function*() {
    const now = yield* DateTime.nowAsDate
    let count = 0
    for (const organizationId of yield* repo.organizations) {
      count += yield* Effect.provideService(ofOrganization(now), CurrentActor, systemActor(organizationId))
    }
    return count
  })

  return { runDue }
})

/** Payouts by the schedule of each vendor (contract, plugins §1.8). */
export class ScheduledPayouts
  extends Context.Service<ScheduledPayouts>()("stoa/plugins/marketplace/payouts/ScheduledPayouts", {
    make
  })
{
  static readonly layer = Layer.effect(ScheduledPayouts, ScheduledPayouts.make)
}
