import { Context, Effect, Layer } from "effect"
import { CurrentActor, holds } from "../access/Actor.ts"
import { CatalogBatches } from "../catalog/import-export/CatalogBatches.ts"
import { type Sellable, Sellables } from "../catalog/Sellables.ts"
import type { Issue } from "../errors/ApiErrors.ts"
import type { ShownMedium } from "../media/MediaAsset.ts"
import { MediaBatches, type MediaOfEntity } from "../media/MediaBatches.ts"
import type { FiledProduct, RecordMedium } from "./FiledProduct.ts"
import type { BatchResult, ImportResult } from "./ImportBatch.ts"

/** Records of a catalog's file: the catalog first, then what its entities show. */
export class FiledProducts extends Context.Service<FiledProducts, {
  readonly apply: (records: ReadonlyArray<FiledProduct>) => Effect.Effect<BatchResult, never, CurrentActor>
}>()("stoa/domain/import-export/FiledProducts") {
  static readonly layer = Layer.effect(
    FiledProducts,
    Effect.gen(function*() {
      const catalog = yield* CatalogBatches
      const sellables = yield* Sellables
      const media = yield* MediaBatches

      /**
       * Drops an empty media list if the entity shows no media, as in most exports: it changes nothing, so needs no
       * further look-up.
       */
      const settled = Effect.fnUntraced(function*(records: ReadonlyArray<FiledProduct>) {
        const empty = records.flatMap(({ media, slug }) => media?.length === 0 ? [slug] : [])
        if (empty.length === 0) return records
        const showing = yield* media.showing(empty)
        return records.map((record): FiledProduct => {
          const { media, ...rest } = record
          return media?.length === 0 && !showing.has(record.slug) ? rest : record
        })
      })

      /** Why records cannot show what they name, by their index. */
      const strays = Effect.fnUntraced(function*(records: ReadonlyArray<FiledProduct>) {
        const named = records.flatMap((record) => record.media ?? [])
        const known = named.length === 0 ? new Set<string>() : yield* media.known(named.map(({ id }) => id))
        const mayAttach = holds(yield* CurrentActor, "media:write")
        return new Map(records.flatMap((record, index) => {
          const issues = mayAttach || record.media === undefined ? wrongMedia(record.media ?? [], known) : [forbidden]
          return issues.length === 0 ? [] : [[index, issues] as const]
        }))
      })

      /** Attaches the media of the records and returns the result for each. */
      const show = Effect.fnUntraced(function*(
        records: ReadonlyArray<FiledProduct>,
        results: ReadonlyArray<ImportResult>
      ) {
        const shown = records.flatMap((record, index) =>
          record.media === undefined || results[index]?._tag === "refused"
            ? []
            : [{ index, slug: record.slug, media: record.media }]
        )
        if (shown.length === 0) return results
        const names = shown.flatMap(({ media, slug }) => [{ slug }, ...media.map((one) => nameOf(slug, one))])
        const targets = (yield* sellables.find(names)).values()
        const next = (): Sellable | string => targets.next().value ?? ""
        const placed = shown.map(({ index, media }) => ({ index, ...placedMedia(media, next) }))
        const right = placed.filter(({ issues }) => issues.length === 0)
        const changed = yield* media.replace(right.map(({ of }) => of))
        const result = [...results]
        for (const { index, issues } of placed) if (issues.length > 0) result[index] = { _tag: "refused", issues }
        for (const [at, { index }] of right.entries()) {
          if (changed[at] === true && result[index]?._tag === "unchanged") result[index] = { _tag: "updated" }
        }
        return result
      })

      const apply = Effect.fn("FiledProducts.apply")(function*(sent: ReadonlyArray<FiledProduct>) {
        const records = yield* settled(sent)
        const wrong = yield* strays(records)
        const right = records.filter((_, index) => !wrong.has(index))
        const made = yield* catalog.apply(right.map(({ media: _, ...record }) => record))
        const results = (yield* show(right, made.results)).values()
        const all = records.map((_, index): ImportResult => {
          const issues = wrong.get(index)
          return issues === undefined ? results.next().value ?? { _tag: "unchanged" } : { _tag: "refused", issues }
        })
        const result: BatchResult = { results: all, afterCommit: made.afterCommit }
        return result
      })

      return { apply }
    })
  )
}

const forbidden: Issue = {
  path: "media",
  message: "It takes the right media:write to attach media.",
  code: "forbidden"
}

const placeOf = ({ id, options, sku }: RecordMedium): string => JSON.stringify([id, sku, Object.entries(options ?? {})])

const wrongMedia = (media: ReadonlyArray<RecordMedium>, known: ReadonlySet<string>): ReadonlyArray<Issue> => {
  const places = new Set<string>()
  return media.flatMap((one, index) => {
    const isTwice = places.has(placeOf(one))
    places.add(placeOf(one))
    const path = `media.${index}.id`
    if (!known.has(one.id)) return [{ path, message: `There is no medium '${one.id}'.`, code: "not_found" }]
    return isTwice ? [{ path, message: "This medium is shown there already.", code: "conflict" }] : []
  })
}

const nameOf = (slug: string, { options, sku }: RecordMedium) =>
  sku === undefined ? { slug, ...(options === undefined ? {} : { options }) } : { slug, sku }

/** A medium as a file carries it. */
export const asRecord = ({ mediaAssetId, options, role, sku, sortOrder, variantId }: ShownMedium): RecordMedium => ({
  id: mediaAssetId,
  role,
  sortOrder,
  ...(variantId === null ? {} : sku === null ? { options } : { sku })
})

/** The media of an entity with attachment ids, taken from `next` in order: the entity's media first. */
const placedMedia = (
  media: ReadonlyArray<RecordMedium>,
  next: () => Sellable | string
): { readonly of: MediaOfEntity; readonly issues: ReadonlyArray<Issue> } => {
  const entity = next()
  const entityId = typeof entity === "string" ? "" : entity.entityId
  const issues: Array<Issue> = []
  const placed = media.flatMap(({ id, role = "gallery", sortOrder }, index) => {
    const target = next()
    if (typeof target !== "string") {
      return [{ entityId, variantId: target.variantId, mediaAssetId: id, role, sortOrder: sortOrder ?? index }]
    }
    issues.push({ path: `media.${index}`, message: `${target} (the product was written)`, code: "not_found" })
    return []
  })
  return { of: { entityId, media: placed }, issues }
}
