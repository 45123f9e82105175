import type { Effect, Redacted } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import {
  type Conflict,
  InvalidTransition,
  type NotFound,
  type ValidationFailed
} from "../../../domain/platform/errors/ApiErrors.ts"
import { notFound } from "../../../domain/platform/errors/ErrorKinds.ts"
import type { PageOf, PageRequest } from "../../../domain/platform/paging/Paging.ts"
import type { ChangeOf, NewRowOf, RowOf, SecretOf } from "./Table.ts"
import type { Where, Which } from "./TableWhereRepo.ts"

/** In which order: columns from the most important one on, `-` before a name for the largest first. Default `-createdAt`. */
export type OrderOf<T> = ReadonlyArray<keyof RowOf<T> & string | `-${keyof RowOf<T> & string}`>

/**
 * The rows of one table that belong to the organization of the request, and no others: reads do not see them, writes do
 * not reach them, and what is inserted is the organization's. Rows of a child table are those whose parent is. Each
 * write bears its entry in the change log (`<plugin>/<table>.create`, `.update`, `.delete`) in the same statement.
 */
export interface TableHandle<T> {
  /** 409 when a unique value or a range is taken; 422 when a row it refers to does not exist, or a condition of the table is not met. */
  readonly insert: (row: NewRowOf<T>) => Effect.Effect<RowOf<T>, Conflict | ValidationFailed, CurrentActor>
  /** All of them in one statement, or none; gives them in their order. Errors as of `insert`. */
  readonly insertMany: (
    rows: ReadonlyArray<NewRowOf<T>>
  ) => Effect.Effect<ReadonlyArray<RowOf<T>>, Conflict | ValidationFailed, CurrentActor>
  /**
   * Inserts the row, or changes the one that has its values in the columns `on` to what it names. `on` are the columns of
   * a unique of the table. Of several at once each takes effect, one after the other. Errors as of `insert`.
   */
  readonly upsert: (
    row: Omit<NewRowOf<T>, SecretOf<T>>,
    on: ReadonlyArray<keyof NewRowOf<T> & string>
  ) => Effect.Effect<
    { readonly row: RowOf<T>; readonly created: boolean },
    Conflict | ValidationFailed,
    CurrentActor
  >
  /** The row of this id; undefined when the organization has none, or it is not the one that is meant (`Which`). */
  readonly find: (which: Which<T>) => Effect.Effect<RowOf<T> | undefined, never, CurrentActor>
  /** The same; 404 without it. */
  readonly get: (which: Which<T>) => Effect.Effect<RowOf<T>, NotFound, CurrentActor>
  /** Like `get`, with the row locked until the caller's transaction ends. */
  readonly lock: (which: Which<T>) => Effect.Effect<RowOf<T>, NotFound, CurrentActor>
  /** The first row, by the order. */
  readonly first: (where: Where<T>, order?: OrderOf<T>) => Effect.Effect<RowOf<T> | undefined, never, CurrentActor>
  /**
   * All of these rows, or the first `limit`. `lock` locks them in this order until the caller's transaction ends: lock in
   * the same order everywhere, by columns that never change, so that no two transactions wait for each other.
   */
  readonly list: (
    where: Where<T>,
    options?: { readonly order?: OrderOf<T>; readonly limit?: number; readonly lock?: boolean }
  ) => Effect.Effect<ReadonlyArray<RowOf<T>>, never, CurrentActor>
  /** A page and how many rows there are in all. */
  readonly page: (
    where: Where<T>,
    page: PageRequest,
    order?: OrderOf<T>
  ) => Effect.Effect<PageOf<RowOf<T>>, never, CurrentActor>
  readonly count: (where: Where<T>) => Effect.Effect<number, never, CurrentActor>
  /** Changes a row and gives it as it is then. 404 when there is no such row; 409 and 422 as for an insert. */
  readonly update: {
    (which: Which<T>, change: ChangeOf<T>): Effect.Effect<
      RowOf<T>,
      NotFound | Conflict | ValidationFailed,
      CurrentActor
    >
    /**
     * The change happens if the row still meets `only`, which is how a state machine guards itself: of several requests
     * that saw the same state one wins. 422 INVALID_TRANSITION when the row does not meet it.
     */
    (which: Which<T>, change: ChangeOf<T>, only: Where<T>): Effect.Effect<
      RowOf<T>,
      NotFound | InvalidTransition | Conflict | ValidationFailed,
      CurrentActor
    >
  }
  /** Changes all of these rows in one statement and gives them as they are then. Secrets are changed one by one. */
  readonly updateMany: (
    where: Where<T>,
    change: Omit<ChangeOf<T>, SecretOf<T>>
  ) => Effect.Effect<ReadonlyArray<RowOf<T>>, Conflict | ValidationFailed, CurrentActor>
  /**
   * Changes each of these rows, named once by its id, to what it says beside that: one statement, all of them or none.
   * Gives them in their order. A row of a child table keeps its parent. 404 when one is not there; 409 and 422 as for an
   * insert.
   */
  readonly updateEach: (
    rows: ReadonlyArray<Omit<ChangeOf<T>, SecretOf<T>> & { readonly id: string }>
  ) => Effect.Effect<ReadonlyArray<RowOf<T>>, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** Reads a secret of a row, which no row shows; null when it has none. 404 without the row. */
  readonly secret: (
    which: Which<T>,
    column: SecretOf<T>
  ) => Effect.Effect<Redacted.Redacted<string> | null, NotFound, CurrentActor>
  /** 404 without it; 409 when rows of other tables refer to it and do not go with it. */
  readonly delete: (which: Which<T>) => Effect.Effect<RowOf<T>, NotFound | Conflict, CurrentActor>
}

/** 404 of a row that the organization does not have. */
export class RowNotFound extends notFound("Row", "Not found.") {}

/** 422 of a row whose columns do not have the values that a change asks for. */
export const notInState = (row: object, change: object, only: object): InvalidTransition => {
  const said = Object.keys(only).map((name) => {
    const [now, next] = [row, change].map((of) => JSON.stringify(Reflect.get(of, name)))
    return next === undefined ? `${name} is ${now}` : `${name} is ${now} and cannot become ${next}`
  })
  return InvalidTransition.of(`This change is not possible: ${said.join(", ")}.`)
}
