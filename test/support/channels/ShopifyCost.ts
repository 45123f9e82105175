import { type DocumentNode, type FieldNode, Kind, type SelectionSetNode } from "graphql"

const transparent = new Set(["edges", "node", "nodes", "pageInfo", "userErrors"])

/** Points of a document: an object costs 1, a connection its size times the cost of a node, a mutation 10. */
export const requestedCost = (document: DocumentNode, variables: Readonly<Record<string, unknown>>): number => {
  const fragments = new Map(
    document.definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one.selectionSet]] : []
    )
  )
  const sizeOf = (field: FieldNode) => {
    const value = field.arguments?.find(({ name }) => ["first", "last"].includes(name.value))?.value
    if (value?.kind === Kind.INT) return Number(value.value)
    return value?.kind === Kind.VARIABLE ? Number(variables[value.name.value] ?? 0) : undefined
  }
  const costOf = (set: SelectionSetNode | undefined): number =>
    (set?.selections ?? []).reduce((sum, one) => {
      if (one.kind === Kind.FRAGMENT_SPREAD) return sum + costOf(fragments.get(one.name.value))
      if (one.kind === Kind.INLINE_FRAGMENT) return sum + costOf(one.selectionSet)
      if (one.selectionSet === undefined) return sum
      const inner = costOf(one.selectionSet)
      const size = sizeOf(one)
      return sum + (transparent.has(one.name.value) ? inner : size === undefined ? 1 + inner : 2 + size * (1 + inner))
    }, 0)
  return document.definitions.reduce((sum, one) => {
    if (one.kind !== Kind.OPERATION_DEFINITION) return sum
    return sum + (one.operation === "mutation" ? 10 * one.selectionSet.selections.length : costOf(one.selectionSet))
  }, 0)
}

/** The leaky bucket of an app and shop. */
export class CostBucket {
  maximum = 2_000
  perSecond = 100
  private level = 0
  private at = 0
  private readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  /** Takes points if there are enough. */
  take(points: number): boolean {
    const free = this.status().currentlyAvailable
    if (points > free) return false
    this.level = this.maximum - free + points
    this.at = this.now()
    return true
  }

  status() {
    const level = Math.max(0, this.level - (this.now() - this.at) / 1000 * this.perSecond)
    return {
      maximumAvailable: this.maximum,
      currentlyAvailable: Math.floor(this.maximum - level),
      restoreRate: this.perSecond
    }
  }
}
