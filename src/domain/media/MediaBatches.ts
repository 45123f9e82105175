import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Change } from "../events/Event.ts"
import type { AttachedMedium } from "./MediaAsset.ts"
import { MediaBatchRepo } from "./MediaBatchRepo.ts"

/** All that an entity and its variants are to show. */
export interface MediaOfEntity {
  readonly entityId: string
  readonly media: ReadonlyArray<AttachedMedium>
}

/** Attaches media to many entities at once, as files bring them (docs/import-export.md). */
export class MediaBatches extends Context.Service<MediaBatches, {
  readonly known: MediaBatchRepo["Service"]["known"]
  readonly attachedTo: MediaBatchRepo["Service"]["attachedTo"]
  readonly showing: MediaBatchRepo["Service"]["showing"]
  /**
   * Replaces the attachments of the entities and returns for each whether anything changed. Call it inside a
   * transaction that has locked the entities and looked up which assets are `known`; two statements.
   */
  readonly replace: (
    entities: ReadonlyArray<MediaOfEntity>
  ) => Effect.Effect<ReadonlyArray<boolean>, never, CurrentActor>
}>()("stoa/domain/media/MediaBatches") {
  static readonly layer = Layer.effect(
    MediaBatches,
    Effect.map(MediaBatchRepo, (repo) => {
      const replace = Effect.fn("MediaBatches.replace")(function*(entities: ReadonlyArray<MediaOfEntity>) {
        if (entities.length === 0) return []
        const attached = Object.groupBy(
          yield* repo.attachedTo(entities.map(({ entityId }) => entityId)),
          ({ entityId }) => entityId
        )
        const plans = entities.map(({ entityId, media }) => difference(attached[entityId] ?? [], media))
        yield* repo.write({
          put: plans.flatMap(({ put }) => put),
          gone: plans.flatMap(({ gone }) => gone),
          changes: plans.flatMap(({ changes }) => changes)
        })
        return plans.map(({ changes }) => changes.length > 0)
      })

      return { known: repo.known, attachedTo: repo.attachedTo, showing: repo.showing, replace }
    })
  )
}

const placeOf = ({ mediaAssetId, variantId }: AttachedMedium): string => `${variantId ?? ""} ${mediaAssetId}`

/** As the change log shows it. */
const shown = ({ entityId, mediaAssetId, role, sortOrder, variantId }: AttachedMedium) => ({
  entityId,
  variantId,
  mediaAssetId,
  role,
  sortOrder
})

/**
 * The change log records attachments in the history of the entity. An attachment whose position changes is recorded as
 * attached again.
 */
const toChange = (type: "media.attach" | "media.detach", at: AttachedMedium, before?: AttachedMedium): Change => ({
  type,
  entityType: "catalog_entity",
  entityId: at.entityId,
  payload: type === "media.attach" ? shown(at) : { ...shown(at), deleted: true },
  ...(before === undefined ? {} : { before: shown(before) })
})

const difference = (before: ReadonlyArray<AttachedMedium>, after: ReadonlyArray<AttachedMedium>) => {
  const known = new Map(before.map((one) => [placeOf(one), one]))
  const put = after.filter((one) => {
    const was = known.get(placeOf(one))
    return was?.role !== one.role || was.sortOrder !== one.sortOrder
  })
  const stays = new Set(after.map(placeOf))
  const gone = before.filter((one) => !stays.has(placeOf(one))).map(shown)
  const changes = [
    ...put.map((one) => toChange("media.attach", one, known.get(placeOf(one)))),
    ...gone.map((one) => toChange("media.detach", one, one))
  ]
  return { put, gone, changes }
}
