import { Clock, Context, Effect, Layer } from "effect"
import { CurrentActor, systemActor } from "../../access/Actor.ts"
import { type Conflict, type Issue, NotFound, ValidationFailed } from "../../errors/ApiErrors.ts"
import { CatalogTransactionRepo } from "../CatalogTransactionRepo.ts"
import type { EntityChange } from "../Entity.ts"
import { EntityChanges } from "../EntityChanges.ts"
import type { DueChange, PublishingSchedule, ScheduleBody, ScheduledChange } from "./Schedule.ts"
import { type Moments, ScheduleRepo } from "./ScheduleRepo.ts"

/** Entities that become public, and stop being so, when their time comes (docs/catalog.md). */
export class Schedules extends Context.Service<Schedules, {
  /** 404 for the entity; without moments where nothing is scheduled. */
  readonly get: (id: string) => Effect.Effect<PublishingSchedule, NotFound, CurrentActor>
  /** Replaces the schedule. 404, and 422 for a moment that has passed or an end that comes before the begin. */
  readonly set: (
    id: string,
    body: ScheduleBody
  ) => Effect.Effect<PublishingSchedule, NotFound | ValidationFailed, CurrentActor>
  /** Carries out what is due in every organization, in the order of its time; gives how many changes were made. */
  readonly runDue: Effect.Effect<number>
}>()("stoa/domain/catalog/schedules/Schedules") {
  static readonly layer = Layer.effect(
    Schedules,
    Effect.gen(function*() {
      const repo = yield* ScheduleRepo
      const changes = yield* EntityChanges
      const transaction = yield* CatalogTransactionRepo

      const get = Effect.fn("Schedules.get")(function*(id: string) {
        return (yield* repo.find(id)) ?? (yield* unknownEntity)
      })

      const set = Effect.fn("Schedules.set")(function*(id: string, body: ScheduleBody) {
        const moments = { publishAt: body.publishAt ?? null, unpublishAt: body.unpublishAt ?? null }
        const issues = scheduleIssues(moments, new Date(yield* Clock.currentTimeMillis))
        if (issues.length > 0) return yield* ValidationFailed.issues(issues)
        return (yield* repo.set(id, moments)) ?? (yield* unknownEntity)
      })

      /**
       * The moment is taken away in the transaction that changes the entity, which is what everybody reads and what the
       * index of search follows: of several processes, or after a crash, one carries it out, and once.
       */
      const changed = Effect.fnUntraced(function*(due: DueChange, change: EntityChange) {
        if (!(yield* repo.claim(due))) return undefined
        return yield* changes.write(due.entityId, { ...change, publish: due.change === "publish" })
      })

      const carryOut = Effect.fnUntraced(function*(due: DueChange) {
        const { change, old } = yield* changes.consider(due.entityId, statuses[due.change])
        const entity = yield* transaction.run(changed(due, change))
        if (entity === undefined) return 0
        yield* changes.updated(entity, old)
        return 1
      })

      const refused = (due: DueChange) => (refusal: NotFound | Conflict | ValidationFailed) =>
        Effect.as(repo.refuse(due, refusal.error.message), 0)

      const byItself = (due: DueChange) =>
        carryOut(due).pipe(
          Effect.catch(refused(due)),
          Effect.provideService(CurrentActor, systemActor(due.organizationId, "system:schedule"))
        )

      const runDue = Effect.gen(function*() {
        const now = new Date(yield* Clock.currentTimeMillis)
        let done = 0
        for (let found = perLook; found === perLook;) {
          const due = yield* repo.due(now, perLook)
          found = due.length
          // One after another: an entity whose end is due as well is published first.
          for (const one of due) done += yield* byItself(one)
        }
        return done
      }).pipe(Effect.withSpan("Schedules.runDue"))

      return { get, set, runDue }
    })
  )
}

/** Changes of one look; what is due beyond is found by the next one, which follows at once. */
const perLook = 100

const statuses: Readonly<Record<ScheduledChange, EntityChange>> = {
  publish: { status: "active", isVisible: true },
  unpublish: { status: "archived" }
}

const unknownEntity = NotFound.of("Catalog entity not found.")

const past = (path: string): Issue => ({ path, message: "must lie in the future", code: "past" })

/** What a schedule asks for that can never be. */
const scheduleIssues = ({ publishAt, unpublishAt }: Moments, now: Date): ReadonlyArray<Issue> => [
  ...publishAt !== null && publishAt <= now ? [past("publishAt")] : [],
  ...unpublishAt !== null && unpublishAt <= now ? [past("unpublishAt")] : [],
  ...publishAt !== null && unpublishAt !== null && unpublishAt <= publishAt
    ? [{ path: "unpublishAt", message: "must be after publishAt", code: "invalid" }]
    : []
]
