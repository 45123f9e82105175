import { Equal, Result } from "effect"
import type { CatalogEntity } from "../../catalog/Entity.ts"
import { combinationKey } from "../../catalog/variants/Variant.ts"
import type { OptionValue } from "../../catalog/variants/Variant.ts"
import type { RowBatch } from "../../platform/batching/RowBatch.ts"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import { type EntityId, newId, type OptionTypeId, OptionValueId } from "../../platform/ids/Id.ts"
import { withSent } from "../../platform/resources/RecordService.ts"
import { refused } from "../Upsert.ts"
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

const shown = ({ organizationId }: CatalogEntity, { combination, ...variant }: StoredVariant) => ({
  ...variant,
  organizationId,
  sourceStoreId: null,
  optionValueIds: combination === "" ? [] : combination.split(",").map((id) => OptionValueId.make(id))
})

const blankVariant = (entityId: EntityId, sortOrder: number, combination: string): StoredVariant => ({
  id: newId(),
  entityId,
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
  combination
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

export const planVariants = (
  entity: CatalogEntity,
  stored: StoredProduct | undefined,
  record: ProductRecord,
  { skus, taxClasses }: Pick<ProductState, "skus" | "taxClasses">,
  draft: RowBatch
): Result.Result<FindVariant, ReadonlyArray<Issue>> => {
  const options = new ProductOptions(entity.id, stored?.options ?? [])
  const variants = new Map(stored?.variants.map((variant) => [variant.id, variant]))
  const bySku = new Map(stored?.variants.flatMap(({ id, sku }) => sku === null ? [] : [[sku, id] as const]))
  const byCombination = new Map(stored?.variants.map(({ combination, id }) => [combination, id]))
  const find = (sku: string | null | undefined, combination: string | undefined) => {
    const id = bySku.get(sku ?? "") ?? byCombination.get(combination ?? "none")
    return id === undefined ? undefined : variants.get(id)
  }
  for (const { name, values } of record.options ?? []) {
    options.axis(name)
    for (const value of values) options.idOf(name, value)
  }
  const seen = new Set<string>()
  const claimed: Array<string> = []
  for (const [index, { options: named, taxClass, ...sent }] of (record.variants ?? []).entries()) {
    const path = `variants.${index}`
    const combination = combinationKey(Object.entries(named ?? {}).map(([name, value]) => options.idOf(name, value)))
    const before = find(sent.sku, combination)
    if (before !== undefined && named !== undefined && before.combination !== combination) {
      return refused(`${path}.options`, "A variant with this SKU has other options, and those cannot change.")
    }
    if (before !== undefined && seen.has(before.id)) {
      return refused(`${path}.sku`, "names a variant of this record again.")
    }
    const base = before ?? blankVariant(entity.id, nextAfter(variants.values()), combination)
    const taxed = planTaxClass(`${path}.taxClass`, taxClass, base, { taxClasses })
    if (Result.isFailure(taxed)) return Result.fail(taxed.failure)
    const after = withSent(base, { ...sent, ...taxed.success })
    seen.add(after.id)
    if (Equal.equals(after, before)) continue
    const owner = after.sku === null ? undefined : skus.get(after.sku)
    if (owner !== undefined && (owner.id !== entity.id || after.sku !== before?.sku)) {
      return refused(`${path}.sku`, `The SKU '${after.sku}' belongs to another variant.`)
    }
    if (after.sku !== null) {
      claimed.push(after.sku)
      bySku.set(after.sku, after.id)
    }
    byCombination.set(after.combination, after.id)
    variants.set(after.id, after)
    putVariant(entity, before, after, draft)
  }
  // Only a record that is written claims its SKUs: a refused one leaves them to the next.
  for (const sku of claimed) skus.set(sku, entity)
  options.writeTo(draft)
  return Result.succeed(({ options: named = {}, sku }) => {
    const found = find(sku, sku === undefined ? options.find(named) : undefined)
    return sku === undefined || found?.sku === sku ? found : undefined
  })
}
