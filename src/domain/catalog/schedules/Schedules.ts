import { Clock, Context, Effect, Layer } from "effect"
import { CurrentActor, systemActor } from "../../platform/access/Actor.ts"
import { type Conflict, type Issue, type NotFound, ValidationFailed } from "../../platform/errors/ApiErrors.ts"
import type { EntityId } from "../../platform/ids/Id.ts"
import { windowIssues } from "../../platform/text/Time.ts"
import { CatalogTransactionRepo } from "../CatalogChangeRepo.ts"
import type { EntityChange } from "../Entity.ts"
import { EntityChanges } from "../EntityChanges.ts"
import type { DueChange, ScheduleBody } from "./Schedule.ts"
import { type Moments, ScheduleRepo } from "./ScheduleRepo.ts"

/** Publishes and archives entities at scheduled times (docs/catalog.md). */
export class Schedules extends Context.Service<Schedules>()("stoa/domain/catalog/schedules/Schedules", {
  make: Effect.gen(function*() {
    const repo = yield* ScheduleRepo
    const changes = yield* EntityChanges
    const transaction = yield* CatalogTransactionRepo

    /** 404, and 422 for a past time or an end before the start. */
    const set = Effect.fn("Schedules.set")(function*(id: EntityId, body: ScheduleBody) {
      const moments = { publishAt: body.publishAt ?? null, unpublishAt: body.unpublishAt ?? null }
      const issues = scheduleIssues(moments, new Date(yield* Clock.currentTimeMillis))
      if (issues.length > 0) return yield* ValidationFailed.issues(issues)
      return yield* repo.set(id, moments)
    })

    // Claims the time in the transaction that changes the entity: the change is made once, also after a crash.
    const changed = Effect.fnUntraced(function*(due: DueChange, change: EntityChange) {
      if (!(yield* repo.claim(due))) return undefined
      return yield* changes.write(due.entityId, { ...change, publish: due.change === "publish" })
    })

    const run = Effect.fnUntraced(function*(due: DueChange) {
      const { change, old } = yield* changes.beforeUpdate(due.entityId, statuses[due.change])
      const entity = yield* transaction.run(changed(due, change))
      if (entity === undefined) return 0
      yield* changes.afterUpdate(entity, old)
      return 1
    })

    const refused = (due: DueChange) => (refusal: NotFound | Conflict | ValidationFailed) =>
      Effect.as(repo.refuse(due, refusal.error.message), 0)

    const runAsSystem = (due: DueChange) =>
      run(due).pipe(
        Effect.catch(refused(due)),
        Effect.provideService(CurrentActor, systemActor(due.organizationId, "system:schedule"))
      )

    /** Makes the due changes of every organization; returns their number. */
    const runDue = Effect.gen(function*() {
      const now = new Date(yield* Clock.currentTimeMillis)
      let done = 0
      for (let found = batchSize; found === batchSize;) {
        const due = yield* repo.due(now, batchSize)
        found = due.length
        // In order: an entity whose end is also due is published first.
        for (const one of due) done += yield* runAsSystem(one)
      }
      return done
    }).pipe(Effect.withSpan("Schedules.runDue"))

    return { get: repo.find, set, runDue }
  })
}) {
  static readonly layer = Layer.effect(Schedules, Schedules.make)
}

const batchSize = 100

const statuses: Readonly<Record<DueChange["change"], EntityChange>> = {
  publish: { status: "active", isVisible: true },
  unpublish: { status: "archived" }
}

const past = (path: string): Issue => ({ path, message: "must lie in the future.", code: "past" })

const scheduleIssues = ({ publishAt, unpublishAt }: Moments, now: Date): ReadonlyArray<Issue> => [
  ...publishAt !== null && publishAt <= now ? [past("publishAt")] : [],
  ...unpublishAt !== null && unpublishAt <= now ? [past("unpublishAt")] : [],
  ...windowIssues({ publishAt, unpublishAt }, "publishAt", "unpublishAt")
]
