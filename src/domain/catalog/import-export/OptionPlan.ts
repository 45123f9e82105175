import { newId } from "../../ids/Id.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"
import type { StoredOption } from "./CatalogState.ts"
import type { CatalogWrites, OptionValueRow } from "./CatalogWrites.ts"

interface Axis {
  readonly id: string
  readonly values: Map<string, string>
  next: number
}

interface NewAxis {
  readonly id: string
  readonly name: string
  readonly sortOrder: number
  readonly values: Array<OptionValueRow>
}

const valueShown = ({ id, optionTypeId, sortOrder, value }: OptionValueRow) => ({
  id,
  optionTypeId,
  value,
  displayValue: value,
  sortOrder,
  metadata: {}
})

/**
 * The options of an entity during an import. Missing options and values are appended, and none is ever removed, because
 * variants consist of them.
 */
export class OptionPlan {
  readonly #axes = new Map<string, Axis>()
  readonly #added: Array<NewAxis> = []
  readonly #values: Array<OptionValueRow> = []
  #next = 0

  constructor(stored: ReadonlyArray<StoredOption>) {
    for (const { id, name, sortOrder, values } of stored) {
      const next = values.reduce((last, value) => Math.max(last, value.sortOrder + 1), 0)
      this.#axes.set(name, { id, values: new Map(values.map((value) => [value.value, value.id])), next })
      this.#next = Math.max(this.#next, sortOrder + 1)
    }
  }

  /** The id of a value of an option. */
  idOf(name: string, value: string): string {
    const axis = this.#axisOf(name)
    const known = axis.values.get(value)
    if (known !== undefined) return known
    const row = { id: newId(), optionTypeId: axis.id, value, sortOrder: axis.next++ }
    axis.values.set(value, row.id)
    const made = this.#added.find(({ id }) => id === axis.id)
    if (made === undefined) this.#values.push(row)
    else made.values.push(row)
    return row.id
  }

  /** Adds the options of a record in their order. */
  add(options: CatalogRecord["options"]): void {
    for (const { name, values } of options ?? []) {
      this.#axisOf(name)
      for (const value of values) this.idOf(name, value)
    }
  }

  /** Adds the new options to the writes and the change log. */
  writeTo(writes: CatalogWrites, entityId: string): void {
    for (const { id, name, sortOrder, values } of this.#added) {
      writes.optionTypes.push({ id, entityId, name, sortOrder })
      writes.optionValues.push(...values)
      const payload = { id, entityId, name, displayName: name, sortOrder, values: values.map(valueShown) }
      writes.changes.push({ type: "options.create", entityType: "option_type", entityId: id, payload })
    }
    for (const row of this.#values) {
      writes.optionValues.push(row)
      const payload = valueShown(row)
      writes.changes.push({ type: "options.createValue", entityType: "option_value", entityId: row.id, payload })
    }
  }

  #axisOf(name: string): Axis {
    const known = this.#axes.get(name)
    if (known !== undefined) return known
    const axis: Axis = { id: newId(), values: new Map(), next: 0 }
    this.#axes.set(name, axis)
    this.#added.push({ id: axis.id, name, sortOrder: this.#next++, values: [] })
    return axis
  }
}
