import { Result } from "effect"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import type { EntityId, VariantId } from "../../platform/ids/Id.ts"
import { slugOf } from "../../platform/text/SlugText.ts"
import type { Import } from "../Import.ts"
import { refused } from "../Upsert.ts"
import type { DraftProduct } from "./ExternalFormat.ts"
import type { Known, KnownEntity } from "./ExternalImportRepo.ts"

/** A product of a store elsewhere. */
export interface SentProduct {
  readonly externalId: string
  /** The slug of a new entity; where it is taken, the external id follows it. */
  readonly slug: string
  /** The entity that it is here, once that is known. */
  readonly entityId?: EntityId | null | undefined
  readonly draft: DraftProduct
}

export interface SentOptions extends Partial<Pick<Import, "dryRun" | "pictures" | "warehouse">> {
  /** The store elsewhere: `sourceStoreId` of new entities and variants. */
  readonly source: string
  readonly currency: string
  /** A product that is not known yet is the entity here to which all its SKUs belong. */
  readonly linkBySku?: boolean | undefined
  /** Changes a price, which is in minor units. */
  readonly priced?: ((amount: number) => number) | undefined
}

export interface TakenProduct {
  readonly externalId: string
  /** `linked`: the entity has another source, and nothing of it was changed. */
  readonly result: "created" | "updated" | "unchanged" | "linked" | "refused"
  /** Why it was refused. */
  readonly issues: ReadonlyArray<Issue>
  readonly warnings: ReadonlyArray<Issue>
  /** Null when there is none: a new product was refused, and not only its prices. */
  readonly entityId: EntityId | null
  /** One for each line that is sold, in their order; null: the entity itself. */
  readonly variantIds: ReadonlyArray<VariantId | null>
}

/** The entity or the free slug that a product gets. */
export interface Place {
  readonly slug: string
  readonly entityId: EntityId | null
  readonly isLinked: boolean
}

export const skusOf = ({ draft }: SentProduct): ReadonlyArray<string> => [
  ...new Set(draft.sold.flatMap(({ variant: { sku } }) => typeof sku === "string" && sku !== "" ? [sku] : []))
]

export const slugsOf = ({ externalId, slug }: SentProduct): readonly [string, string] => [
  slug,
  `${slug}-${slugOf(externalId)}`
]

/** The one entity that has all these SKUs, each once. */
const ownerOf = (skus: ReadonlyArray<string>, { owners }: Known): KnownEntity | undefined => {
  const found = skus.map((sku) => owners.filter((owner) => owner.sku === sku))
  const [first] = found[0] ?? []
  return found.every(([owner, ...others]) => owner?.id === first?.id && others.length === 0) ? first : undefined
}

/** Finds the entity of each product, or a slug that no other entity has. */
export const placesOf = (
  sent: ReadonlyArray<SentProduct>,
  known: Known,
  { linkBySku = false, source }: SentOptions
): ReadonlyArray<Result.Result<Place, ReadonlyArray<Issue>>> => {
  const byId = new Map<string, KnownEntity>(known.entities.map((one) => [one.id, one]))
  const taken = new Set(known.entities.map(({ slug }) => slug))
  const placed = new Set<string>()
  return sent.map((one) => {
    const found = byId.get(one.entityId ?? "") ?? (linkBySku ? ownerOf(skusOf(one), known) : undefined)
    if (found !== undefined && found.sourceStoreId !== source) {
      return Result.succeed({ slug: found.slug, entityId: found.id, isLinked: true })
    }
    const slug = found?.slug ?? slugsOf(one).find((name) => !taken.has(name))
    if (slug === undefined) {
      const [wanted, other] = slugsOf(one)
      return refused("slug", `Other products have the slugs '${wanted}' and '${other}'.`, "already_exists")
    }
    if (placed.has(slug)) return refused("", "Another product of this batch is the same one here.", "conflict")
    placed.add(slug)
    taken.add(slug)
    return Result.succeed({ slug, entityId: found?.id ?? null, isLinked: false })
  })
}
