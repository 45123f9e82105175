import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { MediaRemovalRepo } from "./MediaRemovalRepo.ts"
import { MediaStorage } from "./MediaStorage.ts"

/** Files that are removed at the same time. */
const atOnce = 4

/** Removes files whose rows are deleted or were never written. Touches only files on the database's removal list. */
export class MediaRemovals extends Context.Service<MediaRemovals, {
  /** Removes the files of a deleted record. Files that cannot be removed now stay on the list; it never fails. */
  readonly now: (storageKeys: ReadonlyArray<string>) => Effect.Effect<void, never, CurrentActor>
  /** Up to `limit` files that are due. Gives how many were tried, which is less than the limit when none is left. */
  readonly sweep: (limit: number) => Effect.Effect<number>
}>()("stoa/domain/media/MediaRemovals") {
  static readonly layer = Layer.effect(
    MediaRemovals,
    Effect.gen(function*() {
      const [repo, storage] = [yield* MediaRemovalRepo, yield* MediaStorage]

      const one = (key: string) =>
        storage.remove(key).pipe(
          Effect.timeout("30 seconds"),
          Effect.matchEffect({
            onSuccess: () => Effect.succeed([key]),
            onFailure: (failure) =>
              Effect.as(Effect.logWarning(`a file of media could not be removed: ${key}`, failure), [])
          })
        )

      /** Claim first and forget last: a process that dies in between leaves the files to the next run. */
      const removing = Effect.fnUntraced(function*(keys: ReadonlyArray<string>) {
        const gone = yield* Effect.forEach(keys, one, { concurrency: atOnce })
        yield* repo.removed(gone.flat())
      })

      const now = Effect.fn("MediaRemovals.now")((keys: ReadonlyArray<string>) =>
        storage.isConfigured ? Effect.flatMap(repo.take(keys), removing) : Effect.void
      )

      const sweep = Effect.fn("MediaRemovals.sweep")(function*(limit: number) {
        if (!storage.isConfigured) return 0
        const keys = yield* repo.due(limit)
        yield* removing(keys)
        return keys.length
      })

      return { now, sweep }
    })
  )
}
