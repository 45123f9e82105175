import { Equal, Result } from "effect"
import type { CatalogEntity } from "../../catalog/Entity.ts"
import { sharedSku } from "../../catalog/SharedSku.ts"
import { combinationKey } from "../../catalog/variants/Variant.ts"
import type { OptionValue } from "../../catalog/variants/Variant.ts"
import type { RowBatch } from "../../platform/batching/RowBatch.ts"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import { type EntityId, newId, type OptionTypeId, OptionValueId } from "../../platform/ids/Id.ts"
import { withSent } from "../../platform/resources/RecordService.ts"
import { type BatchContext, refused } from "../Upsert.ts"
import type { ProductState, StoredOption, StoredProduct, StoredVariant } from "./CatalogImportRepo.ts"
import { productTables as tables } from "./CatalogImportRepo.ts"
import type { ProductRecord } from "./ProductRecord.ts"
import { planTaxClass } from "./ProductTax.ts"

type Options = Readonly<Record<string, string>>

interface Axis extends Omit<StoredOption, "values"> {
  readonly isNew: boolean
  readonly values: Map<string, OptionValue>
}

const nextAfter = (list: Iterable<{ readonly sortOrder: number }>): number =>
  Array.from(list).reduce((next, { sortOrder }) => Math.max(next, sortOrder + 1), 0)

/** Missing options and values are appended, and none is ever removed, because variants consist of them. */
class ProductOptions {
  readonly #entityId: EntityId
  readonly #axes: Map<string, Axis>
  readonly #added: Array<OptionValue> = []

  constructor(entityId: EntityId, stored: ReadonlyArray<StoredOption>) {
    this.#entityId = entityId
    this.#axes = new Map(
      stored.map((option) => [
        option.name,
        { ...option, isNew: false, values: new Map(option.values.map((one) => [one.value, one])) }
      ])
    )
  }

  axis(name: string): Axis {
    const found = this.#axes.get(name)
    if (found !== undefined) return found
    const sortOrder = nextAfter(this.#axes.values())
    const values = new Map<string, OptionValue>()
    const axis = {
      id: newId<OptionTypeId>(),
      entityId: this.#entityId,
      name,
      displayName: name,
      sortOrder,
      isNew: true,
      values
    }
    this.#axes.set(name, axis)
    return axis
  }

  idOf(name: string, value: string): string {
    const axis = this.axis(name)
    const found = axis.values.get(value)
    if (found !== undefined) return found.id
    const place = { value, displayValue: value, sortOrder: nextAfter(axis.values.values()), metadata: {} }
    const added = { id: newId<OptionValueId>(), optionTypeId: axis.id, ...place }
    axis.values.set(value, added)
    this.#added.push(added)
    return added.id
  }

  find(options: Options): string | undefined {
    const ids = Object.entries(options).flatMap(([name, value]) => this.#axes.get(name)?.values.get(value)?.id ?? [])
    return ids.length < Object.keys(options).length ? undefined : combinationKey(ids)
  }

  writeTo(draft: RowBatch): void {
    const created = new Set<string>()
    for (const { isNew, values, ...option } of this.#axes.values()) {
      if (!isNew) continue
      created.add(option.id)
      const payload = { ...option, values: [...values.values()] }
      draft.put(tables.options, option)
      draft.change({ type: "options.create", entityType: "option_type", entityId: option.id, payload })
    }
    draft.put(tables.optionValues, ...this.#added)
    for (const payload of this.#added.filter(({ optionTypeId }) => !created.has(optionTypeId))) {
      draft.change({ type: "options.createValue", entityType: "option_value", entityId: payload.id, payload })
    }
  }
}

const shown = ({ organizationId }: CatalogEntity, { combination, uniqueSku: _, ...variant }: StoredVariant) => ({
  ...variant,
  organizationId,
  optionValueIds: combination === "" ? [] : combination.split(",").map((id) => OptionValueId.make(id))
})

const blankVariant = (
  entityId: EntityId,
  sortOrder: number,
  combination: string,
  sourceStoreId: string | null
): StoredVariant => ({
  id: newId(),
  entityId,
  sourceStoreId,
  sku: null,
  barcode: null,
  taxClass: null,
  taxClassId: null,
  manageInventory: null,
  allowBackorder: null,
  backorderLimit: null,
  status: "active",
  sortOrder,
  metadata: {},
  combination,
  uniqueSku: null
})

const putVariant = (
  entity: CatalogEntity,
  before: StoredVariant | undefined,
  after: StoredVariant,
  draft: RowBatch
): void => {
  const payload = shown(entity, after)
  const change = { entityType: "variant", entityId: after.id, payload } as const
  draft.put(tables.variants, after)
  if (before !== undefined) return draft.change({ type: "variants.update", ...change, before: shown(entity, before) })
  draft.change({ type: "variants.create", ...change })
  draft.put(tables.variantValues, ...payload.optionValueIds.map((id) => ({ variantId: after.id, optionValueId: id })))
}

export type FindVariant = (name: { readonly sku?: string | undefined; readonly options?: Options | undefined }) =>
  | StoredVariant
  | undefined

/** Variants of an entity by SKU, which several may share, and by their options. */
class EntityVariants {
  /** By their options, which never change. */
  readonly #all: Map<string, StoredVariant>

  constructor(stored: ReadonlyArray<StoredVariant>) {
    this.#all = new Map(stored.map((variant) => [variant.combination, variant]))
  }

  get nextSortOrder(): number {
    return nextAfter(this.#all.values())
  }

  put(variant: StoredVariant): void {
    this.#all.set(variant.combination, variant)
  }

  with(combination: string): StoredVariant | undefined {
    return this.#all.get(combination)
  }

  withSku(sku: string | null | undefined): ReadonlyArray<StoredVariant> {
    return typeof sku === "string" ? this.#all.values().filter((variant) => variant.sku === sku).toArray() : []
  }
}

/** A variant is named by its options, and without them by a SKU that no other variant of the entity has. */
const named = (
  variants: EntityVariants,
  sku: string | null | undefined,
  combination: string | undefined
): StoredVariant | undefined => {
  if (combination !== undefined) return variants.with(combination)
  const [found, ...others] = variants.withSku(sku)
  return others.length > 0 ? undefined : found
}

/** Says who shares the SKUs of variants, by the paths of those; once for a SKU. */
const sharedSkus = (
  { slug }: CatalogEntity,
  claimed: ReadonlyMap<string, StoredVariant>,
  { skus }: Pick<ProductState, "skus">
): ReadonlyArray<Issue> => {
  const ids = new Set([...claimed.values()].map(({ id }) => id))
  return [...Map.groupBy(claimed, ([, { sku }]) => sku)].flatMap(([sku, variants]) => {
    const others = (skus.get(sku ?? "") ?? []).filter(({ id }) => !ids.has(id)).map((owner) => owner.slug)
    const sharing = [...variants.slice(1).map(() => slug), ...others]
    return sharing.length === 0 ? [] : [sharedSku(variants[0]?.[0] ?? "", sku, sharing)]
  })
}

/** Only a record that is written claims its SKUs: a refused one leaves them to the next. */
const claim = (
  { slug }: CatalogEntity,
  claimed: ReadonlyMap<string, StoredVariant>,
  { skus }: Pick<ProductState, "skus">
): void => {
  for (const { id, sku } of claimed.values()) {
    if (sku === null) continue
    const others = (skus.get(sku) ?? []).filter((owner) => owner.id !== id)
    skus.set(sku, [...others, { id, sku, slug }])
  }
}

export const planVariants = (
  entity: CatalogEntity,
  stored: StoredProduct | undefined,
  record: ProductRecord,
  state: Pick<ProductState, "skus" | "taxClasses"> & Pick<BatchContext, "source"> & { readonly uniqueSkus: boolean },
  draft: RowBatch
): Result.Result<FindVariant, ReadonlyArray<Issue>> => {
  const options = new ProductOptions(entity.id, stored?.options ?? [])
  const variants = new EntityVariants(stored?.variants ?? [])
  for (const { name, values } of record.options ?? []) {
    options.axis(name)
    for (const value of values) options.idOf(name, value)
  }
  const seen = new Set<string>()
  const claimed = new Map<string, StoredVariant>()
  for (const [index, { options: chosen, taxClass, ...sent }] of (record.variants ?? []).entries()) {
    const path = `variants.${index}`
    const combination = combinationKey(Object.entries(chosen ?? {}).map(([name, value]) => options.idOf(name, value)))
    if (chosen === undefined && variants.withSku(sent.sku).length > 1) {
      return refused(`${path}.sku`, `Several variants of this product have the SKU '${sent.sku}': name their options.`)
    }
    const isNamed = chosen !== undefined || variants.withSku(sent.sku).length === 0
    const before = named(variants, sent.sku, isNamed ? combination : undefined)
    if (before !== undefined && seen.has(before.id)) {
      return refused(path, "must not name a variant of this record again.", "duplicate")
    }
    const base = before ?? blankVariant(entity.id, variants.nextSortOrder, combination, state.source)
    const taxed = planTaxClass(`${path}.taxClass`, taxClass, base, state)
    if (Result.isFailure(taxed)) return Result.fail(taxed.failure)
    const after = withSent(base, { ...sent, ...taxed.success })
    seen.add(after.id)
    if (after.sku !== null) claimed.set(`${path}.sku`, after)
    if (Equal.equals(after, before)) continue
    const written = { ...after, uniqueSku: state.uniqueSkus ? after.sku : null }
    variants.put(written)
    putVariant(entity, before, written, draft)
  }
  const shared = sharedSkus(entity, claimed, state)
  if (state.uniqueSkus && shared.length > 0) return Result.fail(shared)
  draft.warnings.push(...shared)
  claim(entity, claimed, state)
  options.writeTo(draft)
  return Result.succeed(({ options: chosen = {}, sku }) => {
    const isNamed = sku === undefined || Object.keys(chosen).length > 0
    const found = named(variants, sku, isNamed ? options.find(chosen) ?? "none" : undefined)
    return sku === undefined || found?.sku === sku ? found : undefined
  })
}
