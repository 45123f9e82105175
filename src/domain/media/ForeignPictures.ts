import { Context, Effect, Layer } from "effect"
import { CurrentActor, holds, requireAnyOf } from "../access/Actor.ts"
import { type Forbidden, type Unauthorized, ValidationFailed } from "../errors/ApiErrors.ts"
import { Jobs } from "../jobs/Jobs.ts"
import { ForeignPictureRepo } from "./ForeignPictureRepo.ts"
import { MediaStorage } from "./MediaStorage.ts"

/** Slug of the job that fetches a picture. */
export const fetchPictureSlug = "media/fetch-picture"

/** A picture as another shop's file describes it. */
export interface ShownPicture {
  readonly src: string
  readonly alt?: string | undefined
}

/** The pictures of an entity in their order. */
export interface PicturesOfEntity {
  readonly entityId: string
  readonly pictures: ReadonlyArray<ShownPicture>
}

const longestAlt = 1_000

/** An address listed twice is one picture, at its first position. */
const named = ({ entityId, pictures }: PicturesOfEntity) => {
  const first = new Map(pictures.map(({ src }, index) => [src, index] as const).toReversed())
  return pictures.flatMap(({ alt, src }, position) =>
    first.get(src) === position
      ? [{ entityId, url: src, position, alt: alt?.slice(0, longestAlt).toWellFormed() ?? null }]
      : []
  )
}

/** Pictures hosted by another shop (docs/import-export.md). */
export class ForeignPictures extends Context.Service<ForeignPictures, {
  /**
   * Whether to fetch the pictures of a file. By default yes, if the caller can upload media and storage is configured.
   * An explicit request fails otherwise: 403, 422.
   */
  readonly admit: (
    asked: boolean | undefined
  ) => Effect.Effect<boolean, Unauthorized | Forbidden | ValidationFailed, CurrentActor>
  /** Has pictures fetched that were not yet. To be called inside of the transaction that writes the entities. */
  readonly expect: (entities: ReadonlyArray<PicturesOfEntity>) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/media/ForeignPictures") {
  static readonly layer = Layer.effect(
    ForeignPictures,
    Effect.gen(function*() {
      const [repo, jobs, { isConfigured }] = [yield* ForeignPictureRepo, yield* Jobs, yield* MediaStorage]

      const admit = Effect.fn("ForeignPictures.admit")(function*(asked: boolean | undefined) {
        const actor = yield* CurrentActor
        if (asked === undefined) return isConfigured && holds(actor, "media:write")
        if (!asked) return false
        yield* requireAnyOf(actor, ["media:write"])
        return isConfigured || (yield* ValidationFailed.of("pictures", "cannot be fetched where no files are kept"))
      })

      const expect = Effect.fn("ForeignPictures.expect")(function*(entities: ReadonlyArray<PicturesOfEntity>) {
        const { organizationId } = yield* CurrentActor
        const ids = yield* repo.expect(entities.flatMap(named))
        if (ids.length === 0) return
        yield* Effect.catch(
          jobs.enqueueAll(ids.map((pictureId) => ({
            task: fetchPictureSlug,
            input: { pictureId },
            options: { organizationId }
          }))),
          Effect.die
        )
      })

      return { admit, expect }
    })
  )
}
