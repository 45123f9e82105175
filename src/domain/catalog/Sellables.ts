import { Context, Effect, Layer, Schema } from "effect"
import type { EntityId, VariantId } from "../platform/ids/Id.ts"
import { maybe } from "../platform/text/Fields.ts"
import { keyText } from "../platform/text/Storable.ts"
import { Slug } from "./Entity.ts"
import { type NamedEntity, SellableRepo } from "./SellableRepo.ts"

const Label = keyText(255)

/**
 * Names a variant by SKU or by slug and options, an entity by slug. A slug next to a SKU must be that of its entity.
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
  sku ?? [
    slug ?? "",
    ...Object.entries(options ?? {}).map(([name, value]) => `${name}=${value}`).toSorted()
  ].join(" ")

/** Resolves the sellable items that files name. */
export class Sellables extends Context.Service<Sellables>()("stoa/domain/catalog/Sellables", {
  make: Effect.map(SellableRepo, (repo) => ({
    find: Effect.fn("Sellables.find")(function*(names: ReadonlyArray<SellableName>) {
      const { entities, variants } = yield* repo.named(texts(names, "slug"), texts(names, "sku"))
      return names.map((name): FoundSellable | string => {
        if (typeof name.sku === "string") {
          const found = variants.get(name.sku)
          if (found === undefined) return `There is no variant with the SKU '${name.sku}'.`
          if (typeof name.slug === "string" && found.slug !== name.slug) {
            return `The SKU '${name.sku}' belongs to '${found.slug}'.`
          }
          const { counted, entityId, variantId } = found
          return { entityId, variantId, counted }
        }
        const entity = typeof name.slug === "string" ? entities.get(name.slug) : undefined
        if (typeof name.slug !== "string") return "A slug or a SKU is needed."
        if (entity === undefined) return `There is no entity with the slug '${name.slug}'.`
        return byOptions(entity, name.options ?? {})
      })
    })
  }))
}) {
  static readonly layer = Layer.effect(Sellables, Sellables.make)
}

const texts = (names: ReadonlyArray<SellableName>, field: "slug" | "sku"): ReadonlyArray<string> => [
  ...new Set(names.flatMap((name) => name[field] ?? []))
]

/** The variant with these options; the entity when no options are given. */
const byOptions = (entity: NamedEntity, options: Readonly<Record<string, string>>): FoundSellable | string => {
  const wanted = Object.entries(options)
  if (wanted.length === 0) return { entityId: entity.id, variantId: null, counted: entity.counted }
  const found = entity.variants.find((variant) =>
    Object.keys(variant.options).length === wanted.length &&
    wanted.every(([name, value]) => variant.options[name] === value)
  )
  return found === undefined
    ? "There is no variant with these options."
    : { entityId: entity.id, variantId: found.id, counted: found.counted ?? entity.counted }
}
