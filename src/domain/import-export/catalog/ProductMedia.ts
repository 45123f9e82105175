import type { CatalogEntity } from "../../catalog/Entity.ts"
import type { AttachedMedium } from "../../media/MediaAsset.ts"
import type { RowBatch } from "../../platform/batching/RowBatch.ts"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import type { Change } from "../../platform/events/Event.ts"
import type { VariantId } from "../../platform/ids/Id.ts"
import type { BatchContext } from "../Upsert.ts"
import { type ProductState, productTables } from "./CatalogImportRepo.ts"
import type { MediumRecord } from "./ProductRecord.ts"
import type { FindVariant } from "./ProductVariants.ts"

export const mediaIssues = (
  media: ReadonlyArray<MediumRecord> | undefined,
  stored: ReadonlyArray<AttachedMedium>,
  assets: ReadonlySet<string>,
  mayAttach: boolean
): ReadonlyArray<Issue> => {
  if (media === undefined || media.length + stored.length === 0) return []
  if (!mayAttach) {
    return [{
      path: "media",
      message: "media can only be attached with the permission media:write.",
      code: "forbidden"
    }]
  }
  const places = new Set<string>()
  return media.flatMap(({ id, options, sku }, index) => {
    const place = JSON.stringify([id, sku, Object.entries(options ?? {})])
    const isTwice = places.has(place)
    places.add(place)
    const path = `media.${index}.id`
    if (!assets.has(id)) return [{ path, message: `${path} names no medium: '${id}'.`, code: "not_found" }]
    return isTwice ? [{ path, message: "must not name a medium twice in one place.", code: "conflict" }] : []
  })
}

const targetOf = (
  { options = {}, sku }: MediumRecord,
  { slug }: CatalogEntity,
  findVariant: FindVariant,
  { skus }: ProductState
): { readonly variantId: VariantId | null } | string => {
  if (sku === undefined && Object.keys(options).length === 0) return { variantId: null }
  const found = findVariant({ options, sku })
  if (found !== undefined) return { variantId: found.id }
  const owners = skus.get(sku ?? "")?.map((owner) => owner.slug) ?? []
  if (owners.length > 0 && !owners.includes(slug)) return `The SKU '${sku}' belongs to '${owners[0]}'.`
  return sku === undefined ? "There is no variant with these options." : `There is no variant with the SKU '${sku}'.`
}

const placeOf = ({ mediaAssetId, variantId }: AttachedMedium): string => `${variantId ?? ""} ${mediaAssetId}`

/**
 * Replaces the media of an entity and its variants. A changed place or role is recorded as attached again. A missing
 * variant refuses the record, whose product is written nevertheless.
 */
export const planMedia = (
  media: ReadonlyArray<MediumRecord>,
  { entity, findVariant }: { readonly entity: CatalogEntity; readonly findVariant: FindVariant },
  stored: ReadonlyArray<AttachedMedium>,
  state: ProductState & BatchContext,
  draft: RowBatch
): void => {
  const [entityId, after] = [entity.id, new Map<string, AttachedMedium>()]
  for (const [index, one] of media.entries()) {
    const { id: mediaAssetId, role = "gallery", sortOrder = index } = one
    const target = targetOf(one, entity, findVariant, state)
    if (typeof target === "string") {
      draft.issues.push({
        path: `media.${index}`,
        message: `media.${index} was not attached. ${target} The product was written.`,
        code: "not_found"
      })
    } else {
      const medium = { entityId, ...target, mediaAssetId, role, sortOrder }
      after.set(placeOf(medium), medium)
    }
  }
  if (draft.issues.length > 0) return
  const of = { entityType: "catalog_entity", entityId } as const
  const before = new Map(stored.map((one) => [placeOf(one), one]))
  // Microseconds apart in the order of the file: media of the same place are shown by when they were attached.
  const attachedAt = (n: number) => state.now.toISOString().replace("Z", `${String(n).padStart(3, "0")}Z`)
  for (const [index, [place, one]] of [...after].entries()) {
    const was = before.get(place)
    if (was?.role === one.role && was.sortOrder === one.sortOrder) continue
    const change: Change = { type: "media.attach", ...of, payload: one }
    draft.put(productTables.media, { ...one, attachedAt: attachedAt(index) })
    draft.change(was === undefined ? change : { ...change, before: was })
  }
  for (const one of stored.filter((one) => !after.has(placeOf(one)))) {
    draft.remove(productTables.media, one)
    draft.change({ type: "media.detach", ...of, payload: { ...one, deleted: true }, before: one })
  }
}
