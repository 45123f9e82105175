import { Array as Chunks, Context, Effect, Layer, Schema } from "effect"
import { currentOrganization } from "../platform/access/Actor.ts"
import { EntityId } from "../platform/ids/Id.ts"
import { type Input, Jobs } from "../platform/jobs/Jobs.ts"
import { defineTask, type Retries } from "../platform/tasks/Task.ts"
import { SearchAdditionRepo } from "./SearchAdditionRepo.ts"
import { searchFields } from "./SearchFields.ts"

const slug = "search/update"

const pageSize = 500

const retries = {
  attempts: 12,
  backoff: { type: "exponential", delay: 1_000, jitter: 0.2, ceiling: 3_600_000 }
} as const satisfies Retries

const Asked = Schema.Union([
  Schema.Struct({ ids: Schema.Array(EntityId) }),
  Schema.Struct({ after: Schema.NullOr(EntityId) })
])
const decode = Schema.decodeUnknownEffect(Asked)

/** Updates the values that plugins add to search documents (`SearchField`). */
export class SearchUpdates extends Context.Service<SearchUpdates>()("stoa/domain/search/SearchUpdates", {
  make: Effect.gen(function*() {
    const jobs = yield* Jobs

    const enqueue = Effect.fnUntraced(function*(inputs: ReadonlyArray<Input>) {
      const organizationId = yield* currentOrganization
      yield* jobs.enqueueAll(inputs.map((input) => ({ task: slug, input, options: { organizationId } })))
    }, Effect.catchTag("ValidationFailed", Effect.die))

    return {
      /** Enqueues an update of these entities: inside a transaction exactly if that commits. Ignores unknown ids. */
      changed: Effect.fn("SearchUpdates.changed")((ids: ReadonlyArray<EntityId>) =>
        enqueue(Chunks.chunksOf([...new Set(ids)], pageSize).map((some) => ({ ids: some })))
      ),
      /** Updates all entities, page by page. */
      changedAll: Effect.fn("SearchUpdates.changedAll")(() => enqueue([{ after: null }]))
    }
  })
}) {
  static readonly layer = Layer.effect(SearchUpdates, SearchUpdates.make)
}

/** Runs twice safely: it stores the values of its time. */
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
        yield* ctx.jobs.enqueue(slug, { after }, { idempotencyKey: `after ${job.id}` })
      }
      return { output: { entities: ids.length } }
    })
  })
})

/**
 * Updates all entities when the plugins of this start add other fields than those of the last one. Runs at the start,
 * once all plugins have registered.
 */
export const updateForFields = Effect.gen(function*() {
  const [repo, jobs, fields] = yield* Effect.all([SearchAdditionRepo, Jobs, searchFields])
  yield* repo.declare(fields.declared(), (organizations) =>
    jobs.enqueueAll(
      organizations.map((organizationId) => ({ task: slug, input: { after: null }, options: { organizationId } }))
    ))
}).pipe(Effect.catchTag("ValidationFailed", Effect.die))
