import { type CellType, readCell, writeCell } from "./Cells.ts"
import { headerProblem, lineReader, type Row, type TableFormat } from "./FileTable.ts"

/** The columns of a table in which each line is a record, named after its fields. */
export interface FlatColumns {
  readonly types: Readonly<Record<string, CellType>>
  /** Columns without which the table makes no sense. */
  readonly needed: ReadonlyArray<string>
  /** Columns whose empty cell clears the field; that of another one leaves it out. */
  readonly clearable: ReadonlyArray<string>
}

/** Categories: `parent` is a slug. */
export const categoryColumns: FlatColumns = {
  types: { slug: "text", parent: "text", sortOrder: "number", status: "text", metadata: "json" },
  needed: ["slug"],
  clearable: ["parent"]
}

/** Brands. */
export const brandColumns: FlatColumns = {
  types: { slug: "text", displayName: "text", metadata: "json" },
  needed: ["slug"],
  clearable: []
}

/** Prices: amounts in minor units. */
export const priceColumns: FlatColumns = {
  types: {
    slug: "text",
    sku: "text",
    options: "json",
    currency: "text",
    amount: "number",
    compareAtAmount: "number",
    customerGroup: "text",
    customerGroupId: "text",
    minQuantity: "number",
    maxQuantity: "number",
    validFrom: "text",
    validUntil: "text",
    metadata: "json"
  },
  needed: ["currency", "amount"],
  clearable: ["compareAtAmount"]
}

/** Stock: units. */
export const stockColumns: FlatColumns = {
  types: {
    slug: "text",
    sku: "text",
    options: "json",
    warehouse: "text",
    onHand: "number",
    reserved: "number",
    available: "number",
    unitCost: "number",
    reorderThreshold: "number",
    reorderQuantity: "number"
  },
  needed: ["onHand"],
  clearable: ["unitCost", "reorderThreshold", "reorderQuantity"]
}

/** Customers. */
export const customerColumns: FlatColumns = {
  types: {
    email: "text",
    firstName: "text",
    lastName: "text",
    phone: "text",
    groups: "list",
    metadata: "json",
    addresses: "json"
  },
  needed: ["email"],
  clearable: ["firstName", "lastName", "phone"]
}

const recordOf = ({ clearable, types }: FlatColumns, header: ReadonlyArray<string>) => {
  const cleared = clearable.filter((name) => header.includes(name))
  return (row: Row) => ({
    ...Object.fromEntries(cleared.map((name) => [name, null])),
    ...(types["groups"] !== undefined && header.includes("groups") ? { groups: [] } : {}),
    ...Object.fromEntries([...row].map(([name, cell]) => [name, readCell(types[name] ?? "text", cell)]))
  })
}

/** Reads such a table. */
export const flatTable = (columns: FlatColumns): TableFormat => ({
  open: (header) => {
    const problem = headerProblem(header, (name) => columns.types[name] !== undefined, columns.needed)
    return problem === undefined ? lineReader(header, recordOf(columns, header)) : { problem }
  }
})

/** The header of such a table. */
export const flatHeader = ({ types }: FlatColumns): ReadonlyArray<string> => Object.keys(types)

/** The line of a record. */
export const flatLine = ({ types }: FlatColumns, record: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.entries(types).map(([name, type]) => writeCell(type, record[name]))

/** A record with its fields in the order of the columns: the database sorts those of its JSON by their lengths. */
export const flatRecord = ({ types }: FlatColumns, record: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.keys(types).map((name) => [name, record[name] ?? null]))
