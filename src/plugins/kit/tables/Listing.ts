import type { Facts } from "./Column.ts"

/**
 * How a list shows rows of a table. Routes declare it (`listOf`, `resource`), and the table's indexes and counters follow from
 * it.
 */
export interface Listing {
  /** Name of the table. */
  readonly table: string
  /** Columns that are parameters of the list. */
  readonly filters: ReadonlyArray<string>
  /** As of `OrderOf`. */
  readonly order: ReadonlyArray<string>
  readonly visible: VisibleBy
}

/** Which columns decide what an actor sees. */
export interface VisibleBy {
  readonly columns: ReadonlyArray<string>
  /** Some actors see all rows. */
  readonly seesAll: boolean
  /** An actor's own rows are few, so that a filter among them needs no index. */
  readonly isFew: boolean
}

const mostValues = 100

/**
 * Whether a column has few different values in an organization: words, flags, ranges of at most 100 whole numbers, ids of
 * warehouses, and what says so itself (`fewValues`). The database counts rows by each of them. Ids of customers, orders or
 * rows, free texts, times and unique values are not counted: each value would be a counter of one or a few rows, which an
 * index finds as fast.
 */
export const hasFewValues = ({ among, bounds, isFew, isList, kind, uniqueness }: Facts): boolean =>
  !isList && uniqueness === undefined &&
  (isFew || among !== undefined || kind === "bool" ||
    bounds !== undefined && bounds[1] - bounds[0] < mostValues)

/** The columns that the rows of an index are equal in, one index an entry: of each filter alone, and of what actors see. */
export const equalColumns = (
  { filters, visible: { columns, isFew, seesAll } }: Listing,
  factsOf: (column: string) => Facts
): ReadonlyArray<ReadonlyArray<string>> => [
  ...(columns.length === 0 || seesAll ? [[]] : []),
  ...(columns.length === 0 ? [] : [columns]),
  ...filters.flatMap((filter) => {
    const facts = factsOf(filter)
    // A unique value has its index, and entries of a list are no order.
    if (facts.uniqueness !== undefined || facts.isList) return []
    // A value that few rows have finds them without the other columns.
    if (!hasFewValues(facts)) return [[filter]]
    return isFew ? seesAll ? [[filter]] : [] : [[...columns, filter]]
  })
]
