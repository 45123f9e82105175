import { Equal } from "effect"
import type { Difference } from "./Revision.ts"

type Tree = Readonly<Record<string, unknown>>

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value)

const sides = (before: Tree, after: Tree, key: string) => ({
  ...key in before ? { before: before[key] } : {},
  ...key in after ? { after: after[key] } : {}
})

/**
 * What is different between two records, by dotted path in order: objects are compared key by key, lists as a whole. A
 * key that contains a point reads like two.
 */
export const differences = (before: Tree, after: Tree, within = ""): ReadonlyArray<Difference> =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted().flatMap((key) => {
    const [old, young] = [before[key], after[key]]
    const path = `${within}${key}`
    if (isTree(old) && isTree(young)) return differences(old, young, `${path}.`)
    return Equal.equals(old, young) && key in before === key in after ? [] : [{ path, ...sides(before, after, key) }]
  })
