import { Array as Chunks, Context, Effect, Layer, Schema } from "effect"
import { currentOrganization } from "../platform/access/Actor.ts"
import { EntityId } from "../platform/ids/Id.ts"
import { type Input, Jobs } from "../platform/jobs/Jobs.ts"
import { defineTask, type Retries } from "../platform/tasks/Task.ts"
import { SearchAdditionRepo } from "./SearchAdditionRepo.ts"
import { searchFields } from "./SearchFields.ts"

const slug = "search/update"

/** Entities of one job: its transaction holds their documents. */
const pageSize = 500

const retries = {
  attempts: 12,
  backoff: { type: "exponential", delay: 1_000, jitter: 0.2, ceiling: 3_600_000 }
} as const satisfies Retries

/** Entities by ids, or all behind an id. */
const Asked = Schema.Union([
  Schema.Struct({ ids: Schema.Array(EntityId) }),
  Schema.Struct({ after: Schema.NullOr(EntityId) })
])
const decode = Schema.decodeUnknownEffect(Asked)

/** Has the values asked for again that plugins add to search documents (`SearchField`), in the actor's organization. */
export class SearchUpdates extends Context.Service<SearchUpdates>()("stoa/domain/search/SearchUpdates", {
  make: Effect.gen(function*() {
    const jobs = yield* Jobs

    const enqueue = Effect.fnUntraced(function*(inputs: ReadonlyArray<Input>) {
      const organizationId = yield* currentOrganization
      yield* jobs.enqueueAll(inputs.map((input) => ({ task: slug, input, options: { organizationId } })))
    }, Effect.catchTag("ValidationFailed", Effect.die))

    return {
      /**
       * The values of these entities have changed. A background job asks for them: inside a transaction exactly if that
       * commits. Ids of other organizations and unknown ones are passed over.
       */
      changed: Effect.fn("SearchUpdates.changed")((ids: ReadonlyArray<EntityId>) =>
        enqueue(Chunks.chunksOf([...new Set(ids)], pageSize).map((some) => ({ ids: some })))
      ),
      /** The same for all entities, page by page: after what a field says of them all has changed. */
      changedAll: Effect.fn("SearchUpdates.changedAll")(() => enqueue([{ after: null }]))
    }
  })
}) {
  static readonly layer = Layer.effect(SearchUpdates, SearchUpdates.make)
}

/** The task `search/update`. It may run twice for a job: it stores what is true when it runs. */
export const updateSearch = Effect.gen(function*() {
  const repo = yield* SearchAdditionRepo
  const fields = yield* searchFields
  return defineTask({
    slug,
    retries,
    handler: Effect.fnUntraced(function*({ ctx, input, job }) {
      const asked = yield* decode(input)
      const ids = yield* repo.update("ids" in asked ? asked : { ...asked, limit: pageSize }, fields)
      const after = ids.at(-1)
      if ("after" in asked && after !== undefined && ids.length === pageSize) {
        // One next page, however often this job runs.
        yield* ctx.jobs.enqueue(slug, { after }, { idempotencyKey: `after ${job.id}` })
      }
      return { output: { entities: ids.length } }
    })
  })
})

/**
 * Has the values of all entities asked for again, in each organization, when the plugins of this start add other fields than
 * those of the last one. For the start of a process, once all plugins have registered theirs.
 */
export const updateForFields = Effect.gen(function*() {
  const [repo, jobs, fields] = yield* Effect.all([SearchAdditionRepo, Jobs, searchFields])
  yield* repo.declare(fields.declared(), (organizations) =>
    jobs.enqueueAll(
      organizations.map((organizationId) => ({ task: slug, input: { after: null }, options: { organizationId } }))
    ))
}).pipe(Effect.catchTag("ValidationFailed", Effect.die))
