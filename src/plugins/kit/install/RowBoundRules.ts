import type { Plugin } from "../Plugin.ts"
import { equalColumns } from "../tables/Listing.ts"
import { boundsOf } from "../tables/RowBounds.ts"
import type { Table } from "../tables/Table.ts"
import { columnFacts } from "../tables/TableRowsRepo.ts"

/** Whether an index of the table begins with the column. */
export const isLookedUpBy = (table: Table, column: string): boolean => {
  const { columns, lists = [], options: { indexes = [], unique = [] } } = table
  return columns[column]?.facts.uniqueness !== undefined ||
    [...unique, ...indexes].some(({ columns: [first], where }) => first === column && where === undefined) ||
    lists.some((one) => equalColumns(one, (name) => columnFacts(table, name)).some(([first]) => first === column))
}

/** Each insert counts the rows of its value. */
export const ofRowBounds = ({ id, tables }: Plugin): ReadonlyArray<string> =>
  tables.flatMap((table) =>
    boundsOf(table).filter(({ per }) => !isLookedUpBy(table, per)).map(({ per }) =>
      `Plugin "${id}": table "${table.name}" has a bound per "${per}": make that the first column of an index.`
    )
  )
