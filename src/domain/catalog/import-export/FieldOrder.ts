import type { StoredEntity, StoredField } from "./CatalogState.ts"

/** A required reference of a type: to entities of `target`, or of any type where that is null. */
export interface NeededReference {
  readonly type: string
  readonly target: string | null
}

/**
 * The order of entities in a file, so that required references precede their users: types by their depth of
 * dependencies, then entities by slug. Types with circular or self references cannot be ordered.
 */
export class FieldOrder {
  readonly #needs = new Map<string, Set<string | null>>()

  constructor(needed: ReadonlyArray<NeededReference>) {
    for (const { target, type } of needed) {
      this.#needs.set(type, (this.#needs.get(type) ?? new Set<string | null>()).add(target))
    }
  }

  /** Types with dependencies, grouped by rank. */
  get later(): ReadonlyArray<ReadonlyArray<string>> {
    const ranked = [...this.#needs.keys()].map((type) => ({ type, rank: this.#rankOf(type) }))
    const ranks = [...new Set(ranked.map(({ rank }) => rank))].toSorted((a, b) => a - b)
    return ranks.map((rank) => ranked.filter((one) => one.rank === rank).map(({ type }) => type))
  }

  /** Whether a value can be written with its entity: the referenced entity comes earlier. */
  isKnown({ entity }: Pick<StoredEntity, "entity">, { target }: StoredField): boolean {
    if (target === null || target.slug === entity.slug) return true
    const [own, others] = [this.#rankOf(entity.type), this.#rankOf(target.type)]
    return others < own || (others === own && target.isEarlier)
  }

  #rankOf(type: string | null, above: ReadonlySet<string> = new Set()): number {
    const needs = type === null || above.has(type) ? undefined : this.#needs.get(type)
    if (type === null || needs === undefined) return 0
    const ranks = [...needs].map((target) => this.#rankOf(target, new Set([...above, type])))
    return 1 + Math.max(...ranks)
  }
}
