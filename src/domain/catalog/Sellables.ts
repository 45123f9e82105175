import { Context, Effect, Layer, Schema } from "effect"
import type { EntityId, VariantId } from "../platform/ids/Id.ts"
import { maybe } from "../platform/text/Fields.ts"
import { keyText } from "../platform/text/Storable.ts"
import { Slug } from "./Entity.ts"
import { type NamedEntity, type NamedVariant, SellableRepo } from "./SellableRepo.ts"
import { listed } from "./SharedSku.ts"

const Label = keyText(255)

/**
 * Names a variant by SKU or by slug and options, an entity by slug. A slug next to a SKU must be that of its entity. Slug
 * and options tell variants apart that share a SKU.
 */
export const sellableFields = {
  slug: maybe(Slug),
  sku: maybe(Label),
  options: maybe(Schema.Record(Label, Label))
}

const SellableName = Schema.Struct(sellableFields)
export type SellableName = typeof SellableName.Type

export interface Sellable {
  readonly entityId: EntityId
  readonly variantId: VariantId | null
}

/** A sellable item as a file names it. */
export interface FoundSellable extends Sellable {
  readonly counted: boolean
}

/** A readable key, equal for the same item. */
export const sellableKey = ({ options, sku, slug }: SellableName): string =>
  [
    sku ?? [],
    slug ?? [],
    Object.entries(options ?? {}).map(([name, value]) => `${name}=${value}`).toSorted()
  ].flat().join(" ")

type Options = Readonly<Record<string, string>>

/** Resolves the sellable items that files name. */
export class Sellables extends Context.Service<Sellables>()("stoa/domain/catalog/Sellables", {
  make: Effect.map(SellableRepo, (repo) => {
    const finder = (isSold: boolean) =>
      Effect.fn("Sellables.find")(function*(names: ReadonlyArray<SellableName>) {
        const { entities, variants } = yield* repo.named(texts(names, "slug"), texts(names, "sku"))
        return names.map((name): FoundSellable | string => {
          const options = name.options ?? {}
          const withSku = variants.get(name.sku ?? "") ?? []
          const isBySlug = isSold && withSku.length === 0 && typeof name.slug === "string"
          if (typeof name.sku === "string" && !isBySlug) return bySku(name.sku, name.slug, options, withSku)
          const entity = typeof name.slug === "string" ? entities.get(name.slug) : undefined
          if (typeof name.slug !== "string") return "A slug or a SKU is needed."
          if (entity === undefined) return `There is no entity with the slug '${name.slug}'.`
          return byOptions(entity, options)
        })
      })
    return {
      find: finder(false),
      /** A SKU that no variant has may be that of an entity without variants: the slug names it then. */
      findSold: finder(true)
    }
  })
}) {
  static readonly layer = Layer.effect(Sellables, Sellables.make)
}

const texts = (names: ReadonlyArray<SellableName>, field: "slug" | "sku"): ReadonlyArray<string> => [
  ...new Set(names.flatMap((name) => name[field] ?? []))
]

export const hasOptions = (variant: { readonly options: Options }, wanted: Options): boolean =>
  Object.keys(variant.options).length === Object.keys(wanted).length &&
  Object.entries(wanted).every(([name, value]) => variant.options[name] === value)

/** "'shirt' (Size: M, Colour: navy)" */
const named = ({ options, slug }: NamedVariant): string => {
  const chosen = Object.entries(options).map(([name, value]) => `${name}: ${value}`)
  return chosen.length === 0 ? `'${slug}'` : `'${slug}' (${chosen.join(", ")})`
}

/** The only variant with this SKU; of several the one that slug and options tell from the others. */
const bySku = (
  sku: string,
  slug: string | null | undefined,
  options: Options,
  all: ReadonlyArray<NamedVariant>
): FoundSellable | string => {
  if (all.length === 0) return `There is no variant with the SKU '${sku}'.`
  const ofEntity = typeof slug === "string" ? all.filter((one) => one.slug === slug) : all
  if (ofEntity.length === 0) {
    return `The SKU '${sku}' belongs to ${listed([...new Set(all.map((one) => `'${one.slug}'`))])}.`
  }
  const isNamed = typeof slug === "string" || Object.keys(options).length > 0
  const [found, ...others] = ofEntity.length > 1 && isNamed
    ? ofEntity.filter((one) => hasOptions(one, options))
    : ofEntity
  if (found === undefined || others.length > 0) {
    return `Several variants have the SKU '${sku}': ${
      listed(ofEntity.map(named))
    }. Name the slug and the options of one.`
  }
  const { counted, entityId, variantId } = found
  return { entityId, variantId, counted }
}

/** The variant with these options; the entity when no options are given. */
const byOptions = (entity: NamedEntity, options: Options): FoundSellable | string => {
  if (Object.keys(options).length === 0) return { entityId: entity.id, variantId: null, counted: entity.counted }
  const found = entity.variants.find((variant) => hasOptions(variant, options))
  return found === undefined
    ? "There is no variant with these options."
    : { entityId: entity.id, variantId: found.id, counted: found.counted ?? entity.counted }
}
