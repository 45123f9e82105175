import { Equal, Result } from "effect"
import type { Issue } from "../../errors/ApiErrors.ts"
import { newId } from "../../ids/Id.ts"
import type { CatalogEntity } from "../Entity.ts"
import { combinationKey } from "../variants/CombinationRules.ts"
import type { CatalogRecord, RecordVariant } from "./CatalogRecord.ts"
import type { CatalogState, StoredEntity, StoredVariant } from "./CatalogState.ts"
import { type CatalogWrites, noWrites } from "./CatalogWrites.ts"
import { OptionPlan } from "./OptionPlan.ts"

const over = <A>(sent: A | undefined, before: A): A => sent === undefined ? before : sent

/** A variant in the change log. */
const shown = (entity: CatalogEntity, { combination, ...variant }: StoredVariant) => ({
  ...variant,
  entityId: entity.id,
  organizationId: entity.organizationId,
  sourceStoreId: null,
  optionValueIds: combination === "" ? [] : combination.split(",")
})

/** The variants of one entity during an import. */
class Variants {
  readonly #bySku = new Map<string, StoredVariant>()
  readonly #byCombination = new Map<string, StoredVariant>()
  #next = 0

  constructor(stored: ReadonlyArray<StoredVariant>) {
    for (const variant of stored) this.put(variant)
  }

  put(variant: StoredVariant): void {
    if (variant.sku !== null) this.#bySku.set(variant.sku, variant)
    this.#byCombination.set(variant.combination, variant)
    this.#next = Math.max(this.#next, variant.sortOrder + 1)
  }

  find(sku: string | null | undefined, combination: string): StoredVariant | undefined {
    const known = sku === null || sku === undefined ? undefined : this.#bySku.get(sku)
    return known ?? this.#byCombination.get(combination)
  }

  blank(combination: string): StoredVariant {
    return {
      id: newId(),
      sku: null,
      barcode: null,
      taxClass: null,
      status: "active",
      sortOrder: this.#next,
      metadata: {},
      combination
    }
  }
}

const changed = (before: StoredVariant, sent: RecordVariant): StoredVariant => {
  const after = {
    ...before,
    sku: over(sent.sku, before.sku),
    barcode: over(sent.barcode, before.barcode),
    taxClass: over(sent.taxClass, before.taxClass),
    status: over(sent.status, before.status),
    metadata: over(sent.metadata, before.metadata)
  }
  return Equal.equals(after, before) ? before : after
}

const write = (
  writes: CatalogWrites,
  entity: CatalogEntity,
  before: StoredVariant | undefined,
  after: StoredVariant
) => {
  const row = { ...after, entityId: entity.id }
  const payload = shown(entity, after)
  if (before !== undefined) {
    writes.changedVariants.push(row)
    const change = { type: "variants.update", entityType: "variant", entityId: after.id } as const
    writes.changes.push({ ...change, payload, before: shown(entity, before) })
    return
  }
  writes.newVariants.push(row)
  writes.changes.push({ type: "variants.create", entityType: "variant", entityId: after.id, payload })
  for (const optionValueId of payload.optionValueIds) writes.variantValues.push({ variantId: after.id, optionValueId })
}

const refused = (index: number, field: string, message: string): Result.Result<never, ReadonlyArray<Issue>> =>
  Result.fail([{ path: `variants.${index}.${field}`, message, code: "invalid" }])

/** Options and variants that a record adds or changes; others stay unchanged. */
export const planVariants = (
  entity: CatalogEntity,
  stored: StoredEntity | undefined,
  record: CatalogRecord,
  state: CatalogState
): Result.Result<CatalogWrites, ReadonlyArray<Issue>> => {
  const writes = noWrites()
  const options = new OptionPlan(stored?.options ?? [])
  const variants = new Variants(stored?.variants ?? [])
  options.add(record.options)
  const taken: Array<string> = []
  const seen = new Set<string>()
  for (const [index, sent] of (record.variants ?? []).entries()) {
    const named = Object.entries(sent.options ?? {}).map(([name, value]) => options.idOf(name, value))
    const combination = combinationKey(named)
    const before = variants.find(sent.sku, combination)
    if (before !== undefined && sent.options !== undefined && before.combination !== combination) {
      return refused(index, "options", "A variant with this SKU has other options, and those cannot change.")
    }
    if (before !== undefined && seen.has(before.id)) {
      return refused(index, "sku", "names a variant of this record again.")
    }
    const after = changed(before ?? variants.blank(combination), sent)
    seen.add(after.id)
    if (after === before) continue
    const owner = after.sku === null ? undefined : state.skus.get(after.sku)
    if (owner !== undefined && (owner !== entity.id || after.sku !== before?.sku)) {
      return refused(index, "sku", `The SKU '${after.sku}' belongs to another variant.`)
    }
    if (after.sku !== null) taken.push(after.sku)
    variants.put(after)
    write(writes, entity, before, after)
  }
  // Only a record that is written claims its SKUs: a refused one leaves them to the next.
  for (const sku of taken) state.skus.set(sku, entity.id)
  options.writeTo(writes, entity.id)
  return Result.succeed(writes)
}
