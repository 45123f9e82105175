import type { AnyColumn, CoreRecord, Facts } from "./Column.ts"

/** The part of a table that the export of a customer's data (`GET /api/me/export`) has. */
interface Exported<Name extends string> {
  /** Columns that the export leaves out: digests and codes, and what concerns other people. Secrets are never in it. */
  readonly withholds?: ReadonlyArray<Name>
}

/** How a table says that its rows are about customers, and when what they say of them goes. */
export interface PersonalRows<Name extends string = string> extends Exported<Name> {
  /**
   * The column that says about whom: a customer or an order of theirs (`existing` or `idOf` of the column), or `{ user }`: the
   * id of a login. Of a column that `references` another table, rows are about the customer of that row. A child table may
   * leave it out: its rows are about the customer of their parent.
   */
  readonly of?: Name | { readonly user: Name }
  /** Deletes the rows of an erased customer, or blanks these columns: null, their default, or an empty text or list. */
  readonly onErase: "delete" | readonly [Name, ...ReadonlyArray<Name>]
  /** Columns of texts that say nothing of a person, such as a currency: they stay. */
  readonly keeps?: ReadonlyArray<Name>
  /** Does the same to every row after so many days, counted from `since`. */
  readonly keepDays?: number
  /** A column with a time. Default `createdAt`. */
  readonly since?: Name
}

/** Why the kit erases nothing of a table that names customers. Its rows are exported. */
export interface NotErased<Name extends string = string> extends Exported<Name> {
  readonly exempt: string
  /** The column that says about whom; default: the only one that names a customer. */
  readonly of?: PersonalRows<Name>["of"]
}

export type Personal<Name extends string = string> = PersonalRows<Name> | NotErased<Name>

/** About whom a row is. */
export type Subject =
  & { readonly column: string }
  & (
    | { readonly kind: "customer" | "order" | "user" }
    /** The customer of a row of this table. */
    | { readonly kind: "row"; readonly table: string }
  )

/** The kind of record of the core that a column names. */
export const namedRecord = ({ existing, record }: Facts): CoreRecord | undefined => existing ?? record

/** An SQL expression for a column without a value; undefined: it cannot be without one. */
export const blankOf = ({ among, fallback, form, isList, kind, nullable, uniqueness }: Facts): string | undefined => {
  if (nullable) return "null"
  if (fallback !== undefined) return fallback
  if (isList) return "'{}'"
  return kind === "text" && (among ?? form ?? uniqueness) === undefined ? "''" : undefined
}

type Columns = Readonly<Record<string, AnyColumn>>

interface Declaring {
  readonly name: string
  readonly kind: "organization" | "child"
  readonly columns: Columns
  readonly options: { readonly personal?: Personal }
}

/** About whom the rows are by a column. */
export const subjectOf = (columns: Columns, of: PersonalRows["of"]): Subject | undefined => {
  if (of === undefined) return undefined
  if (typeof of !== "string") return { kind: "user", column: of.user }
  const facts = columns[of]?.facts
  const kind = facts === undefined ? undefined : namedRecord(facts)
  if (kind === "customer" || kind === "order") return { kind, column: of }
  return facts?.reference === undefined ? undefined : { kind: "row", column: of, table: facts.reference.table }
}

/** The columns that name customers. */
export const customersIn = ({ columns }: Pick<Declaring, "columns">): ReadonlyArray<string> =>
  Object.keys(columns).filter((name) => {
    const facts = columns[name]?.facts
    return facts !== undefined && namedRecord(facts) === "customer"
  })

/** About whom the rows of a table are; undefined: the customer of their parent, or none. */
export const subjectIn = ({ columns, options: { personal } }: Declaring): Subject | undefined =>
  personal === undefined ? undefined : subjectOf(
    columns,
    personal.of ?? ("exempt" in personal ? customersIn({ columns })[0] : undefined)
  )

/** The declaration of a table of which the kit erases something. */
export const declared = ({ options: { personal } }: Pick<Declaring, "options">): PersonalRows | undefined =>
  personal === undefined || "exempt" in personal ? undefined : personal

/** Refuses a declaration that cannot be carried out, where the table is written. */
export const checkPersonal = <T extends Declaring>(table: T): T => {
  const { columns, kind, name, options: { personal } } = table
  if (personal === undefined) return table
  const { of, withholds = [] } = personal
  const refuse = (what: string) => {
    throw new Error(`Table "${name}": ${what}`)
  }
  const isClear = "exempt" in personal ? customersIn(table).length === 1 : kind === "child"
  if (of === undefined && !isClear) refuse("`personal` needs `of`, the column that names the customer.")
  if (of !== undefined && subjectOf(columns, of) === undefined) {
    refuse(
      `column "${
        String(of)
      }" names neither a customer nor an order, nor a row that does. Say \`existing("customer")\`, ` +
        "`idOf(CustomerId)`, `idOf(OrderId)`, or `of: { user }` for the id of a login."
    )
  }
  const shown = Object.keys(columns).filter((column) =>
    columns[column]?.facts.isSecret !== true && !withholds.includes(column)
  )
  const key = shown.find((column) => looksSecret.test(column))
  if (key !== undefined) {
    refuse(`column "${key}" must be a \`secret\`, or stand in \`withholds\`: customers would read it in their export.`)
  }
  const isEmpty = withholds.length > 0 && shown.every((column) => column === subjectIn(table)?.column)
  if (isEmpty) refuse("`withholds` leaves nothing to export.")
  return "exempt" in personal ? table : checkErasure(table, personal)
}

/** Names of values that give access, or are made of them. */
const looksSecret = /(digest|hash|token|password|secret)$/i

const checkErasure = <T extends Declaring>(table: T, { keepDays, onErase, since = "createdAt" }: PersonalRows): T => {
  const { columns, name } = table
  const refuse = (what: string) => {
    throw new Error(`Table "${name}": ${what}`)
  }
  const unclear = onErase === "delete" ? [] : onErase.filter((column) => {
    const facts = columns[column]?.facts
    return facts === undefined || blankOf(facts) === undefined
  })
  if (unclear.length > 0) refuse(`column "${unclear[0]}" cannot be blanked. Make it nullable or give it a default.`)
  if (since !== "createdAt" && columns[since]?.facts.kind !== "timestamptz") {
    refuse(`"${since}" is no column of a time.`)
  }
  if (keepDays !== undefined && !(Number.isInteger(keepDays) && keepDays > 0)) {
    refuse("`keepDays` must be a whole number of days above 0.")
  }
  return table
}
