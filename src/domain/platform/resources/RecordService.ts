import { DateTime, Effect } from "effect"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { NotFound } from "../errors/ApiErrors.ts"
import { notFound } from "../errors/ErrorKinds.ts"
import { newId } from "../ids/Id.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { RecordRepo } from "./RecordRepo.ts"

class RecordNotFound extends notFound("Record", (name: string) => `${name} not found.`) {}

export interface RecordService<A extends NewRecord, New, Change, E> {
  readonly get: (id: A["id"]) => Effect.Effect<A, NotFound, CurrentActor>
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<A>, never, CurrentActor>
  readonly create: (sent: New) => Effect.Effect<A, E, CurrentActor>
  readonly change: (id: A["id"], sent: Change) => Effect.Effect<A, NotFound | E, CurrentActor>
  readonly remove: (id: A["id"]) => Effect.Effect<void, NotFound | E, CurrentActor>
}

export interface NewRecord<Id extends string = string> {
  readonly id: Id
  readonly organizationId: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

export const withSent = <A extends object>(
  before: A,
  sent: { readonly [Field in keyof A]?: A[Field] | undefined }
): A => ({ ...before, ...Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) })

export interface RecordRules<A extends NewRecord, New, Change, E> {
  readonly name: string
  readonly made: (sent: New, record: NewRecord<A["id"]>) => Effect.Effect<A, E>
  readonly changed: (before: A, sent: Change) => Effect.Effect<A, E>
}

/** `forget` empties a cache after each change; other processes follow a moment later. */
export const recordService = <A extends NewRecord, New, Change, E, E2>(
  { changed, made, name }: RecordRules<A, New, Change, E>,
  repo: RecordRepo<A, E2>,
  forget: Effect.Effect<void, never, CurrentActor>
): RecordService<A, New, Change, E | E2> => {
  const unknown = new RecordNotFound(name)
  const clock = Effect.map(DateTime.now, DateTime.toDateUtc)
  return {
    list: repo.list,
    get: Effect.fn("RecordService.get")(function*(id: A["id"]) {
      return (yield* repo.find(id)) ?? (yield* unknown)
    }),
    create: Effect.fn("RecordService.create")(function*(sent: New) {
      const now = yield* clock
      const organizationId = yield* currentOrganization
      const record = yield* made(sent, { id: newId(), organizationId, createdAt: now, updatedAt: now })
      yield* repo.insert(record)
      yield* forget
      return record
    }),
    change: Effect.fn("RecordService.change")(function*(id: A["id"], sent: Change) {
      const updatedAt = yield* clock
      const record = yield* repo.change(
        id,
        (before) => Effect.map(changed(before, sent), (after) => ({ ...after, updatedAt }))
      )
      yield* forget
      return record ?? (yield* unknown)
    }),
    remove: Effect.fn("RecordService.remove")(function*(id: A["id"]) {
      if (!(yield* repo.remove(id))) return yield* unknown
      yield* forget
    })
  }
}
