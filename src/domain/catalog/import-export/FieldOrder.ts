import type { StoredEntity, StoredField } from "./CatalogState.ts"

/** A reference that every entity of a type has: to one of `target`, or to anything where that is null. */
export interface NeededReference {
  readonly type: string
  readonly target: string | null
}

/**
 * In which order a file has entities, so that what one of them must name stands before it: types by how many others stand
 * in between, and within that by slug. Types that need one another in a circle, or themselves, cannot be had that way.
 */
export class FieldOrder {
  readonly #needs = new Map<string, Set<string | null>>()

  constructor(needed: ReadonlyArray<NeededReference>) {
    for (const { target, type } of needed) {
      this.#needs.set(type, (this.#needs.get(type) ?? new Set<string | null>()).add(target))
    }
  }

  /** Types that come later than all others, those of one rank together. */
  get later(): ReadonlyArray<ReadonlyArray<string>> {
    const ranked = [...this.#needs.keys()].map((type) => ({ type, rank: this.#rankOf(type) }))
    const ranks = [...new Set(ranked.map(({ rank }) => rank))].toSorted((a, b) => a - b)
    return ranks.map((rank) => ranked.filter((one) => one.rank === rank).map(({ type }) => type))
  }

  /** Whether a value can stand with its entity: what it names has come before. */
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
