import { Effect } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { PageOf } from "../../../domain/platform/paging/Paging.ts"
import type { RouteError } from "../routes/RouteTools.ts"
import type { RowOf, Table } from "../tables/Table.ts"
import type { OrderOf } from "../tables/TableHandle.ts"
import type { Where } from "../tables/TableWhereRepo.ts"
import type { ListCall } from "./ListOf.ts"
import { withNoun } from "./Noun.ts"
import type { AnyCall, Visible } from "./Visible.ts"

/** The row that others belong to, such as the provider of breaks. */
export interface Parent<P, Column extends string> {
  readonly table: P
  /** What its 404 calls it: "provider". */
  readonly noun: string
  /** The column that names it; a child table says it itself. */
  readonly column?: Column
  /**
   * Locks it in the transaction of every write: for rules about all rows of one parent, such as how many there are. Several
   * writes follow one another.
   */
  readonly lock?: boolean
}

/** The column of a child table that names its parent. */
export type ParentColumn<T> = T extends { readonly parent: { readonly column: infer K extends string } } ? K : never

/** The row that a path names; undefined in a resource that is no part of one. */
export type ParentRow<P> = [P] extends [never] ? undefined : RowOf<P>

/** The column of a table that refers to another one; a table that has none ends the start. */
export const referenceTo = (table: Table, owner: Table, column = table.parent?.column): string => {
  if (column !== undefined && table.columns[column]?.facts.reference?.table === owner.name) return column
  throw new Error(`No column of "${table.name}" refers to "${owner.name}".`)
}

/** What the routes of a resource ask of the parent that their path names. */
export const partOf = <P extends Table>(
  path: string,
  table: Table,
  rowId: string,
  of: Parent<P, string> | undefined
) => {
  if (of === undefined) return undefined
  const { lock = false, noun, table: owner } = of
  const [column, param] = [referenceTo(table, owner, of.column), [...path.matchAll(/[:{](\w+)/g)].at(-1)?.[1]]
  if (param === undefined || param === rowId) {
    throw new Error(`The resource "${path}" needs its ${noun} in the path, and a \`rowId\` of another name.`)
  }
  const idOf = ({ params }: AnyCall): string => params[param] ?? ""
  const keyOf = <T>(call: AnyCall) => ({ [column]: idOf(call) }) as Where<T>
  const find = (call: AnyCall) => withNoun(noun, call.db.table(owner).get(idOf(call)))
  return {
    column,
    keyOf,
    find,
    /** Locks the parent until the caller's transaction ends. */
    lock: lock ? (call: AnyCall) => withNoun(noun, call.db.table(owner).lock(idOf(call))) : undefined,
    /** Adds to what the actor may see that rows are of the parent. */
    visible: <T, See>(own: Visible<T, See> | undefined): Visible<T, See> => ({
      columns: [column, ...own === undefined || own.seesAll ? [] : own.columns],
      seesAll: false,
      isFew: false,
      whereOf: (call) =>
        own === undefined
          ? Effect.succeed(keyOf(call))
          : Effect.map(own.whereOf(call), (where) => ({ ...where, ...keyOf(call) }))
    }),
    /** A page of its rows; the parent is looked for where there are none. */
    page: <T extends Table>(rows: T, order: OrderOf<T> | undefined) => (call: ListCall<T>) =>
      Effect.tap(
        call.db.table(rows).page(call.where, call.page, order),
        ({ total }: PageOf<RowOf<T>>) => total > 0 ? Effect.void : find(call)
      )
  }
}

export type Part<P extends Table> = ReturnType<typeof partOf<P>>

/** Does work with the parent, which it holds where that is locked; without it where the work does not need it. */
export const withParent = <P extends Table, A, R>(
  part: Part<P>,
  call: AnyCall,
  isNeeded: boolean,
  work: (parent: ParentRow<P>) => Effect.Effect<A, RouteError, R | CurrentActor>
): Effect.Effect<A, RouteError, R | CurrentActor> => {
  // Handlers of a resource without parents have none, by their type.
  const given = (parent?: RowOf<P>) => work(parent as ParentRow<P>)
  return part?.lock !== undefined
    ? call.db.transaction(Effect.flatMap(part.lock(call), given))
    : part !== undefined && isNeeded
    ? Effect.flatMap(part.find(call), given)
    : given()
}
