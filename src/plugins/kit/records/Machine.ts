import { DateTime, Effect } from "effect"
import { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type {
  Conflict,
  InvalidTransition,
  NotFound,
  ValidationFailed
} from "../../../domain/platform/errors/ApiErrors.ts"
import type { PluginDatabase, Usable } from "../tables/PluginDatabase.ts"
import type { ChangeOf, ColumnsOf, RowOf, Table } from "../tables/Table.ts"
import { notInState } from "../tables/TableHandle.ts"
import type { Where, Which } from "../tables/TableWhereRepo.ts"
import { withNoun } from "./Noun.ts"

type Keys<T> = keyof ColumnsOf<T> & keyof RowOf<T> & string

/** Names of the columns of one word out of several. */
export type StateColumnOf<T> = {
  [K in Keys<T>]: RowOf<T>[K] extends string ? string extends RowOf<T>[K] ? never : K : never
}[Keys<T>]

type StampOf<T> = { [K in Keys<T>]: Date extends RowOf<T>[K] ? K : never }[Keys<T>]

type PersonOf<T> = {
  [K in Keys<T>]: null extends RowOf<T>[K] ? string extends RowOf<T>[K] ? K : never : never
}[Keys<T>]

/** A way from some states to another one. */
export interface Move<State, Stamp, Person> {
  readonly from: readonly [State, ...ReadonlyArray<State>]
  readonly to: State
  /** Becomes the time of the move. */
  readonly stamp?: Stamp
  /** Becomes the id of the user or API key that makes the move. */
  readonly by?: Person
  /** An event of the manifest, with the row. */
  readonly emits?: string
}

/** Moves between the words of a column. */
export type MovesOf<T, Column extends keyof RowOf<T>> = Readonly<
  Record<string, Move<RowOf<T>[Column] & string, StampOf<T>, PersonOf<T>>>
>

type Refused = NotFound | InvalidTransition | Conflict | ValidationFailed

/** Moves of rows on a database. */
export interface Moves<T, Name extends string> {
  /**
   * Makes a move in one statement, and changes more with it; of several at once one makes it. 404 without the row; 422
   * INVALID_TRANSITION from a state that the move does not begin at; 409 and 422 as of an update.
   */
  readonly move: (
    name: Name,
    which: Which<T>,
    change?: ChangeOf<T>
  ) => Effect.Effect<RowOf<T>, Refused, CurrentActor>
  /**
   * Locks a row that can make the move until the caller's transaction ends, for what has to be known or done before it.
   * 404 without the row, 422 INVALID_TRANSITION from a state that the move does not begin at.
   */
  readonly lock: (
    name: Name,
    which: Which<T>
  ) => Effect.Effect<RowOf<T>, NotFound | InvalidTransition, CurrentActor>
}

/** The states of a table's rows and the moves between them. */
export interface Machine<T, Name extends string> extends Usable<Moves<T, Name>> {
  readonly table: T
  readonly noun: string
  readonly column: string
  readonly moves: Readonly<Record<Name, Move<string, string, string>>>
}

/**
 * A state machine over a column of words (`column`, default `status`). `noun` is what a row is called: "purchase order".
 * The states of the moves are words of the column, which the compiler checks.
 */
export const machine = <
  T extends Table,
  const Moves extends MovesOf<T, Column>,
  const Column extends StateColumnOf<T> = "status" & StateColumnOf<T>
>(
  table: T,
  { column, moves, noun }: { readonly noun: string; readonly column?: Column; readonly moves: Moves }
): Machine<T, keyof Moves & string> => {
  const state: string = column ?? "status"
  const byName: Readonly<Record<string, Move<string, string, string>>> = moves

  const changed = Effect.fnUntraced(function*(
    db: PluginDatabase,
    { by, from, stamp, to }: Move<string, string, string>,
    which: Which<T>,
    change: object
  ) {
    const actor = yield* CurrentActor
    const stamps = {
      ...(stamp === undefined ? {} : { [stamp]: DateTime.toDateUtc(yield* DateTime.now) }),
      ...(by === undefined ? {} : { [by]: actor.userId ?? actor.keyId ?? null })
    }
    // The names are columns of the table and of these kinds, by the types of the moves.
    const whole = { ...change, ...stamps, [state]: to } as ChangeOf<T>
    return yield* db.table(table).update(which, whole, { [state]: { in: from } } as Where<T>)
  })

  const named = (name: string) =>
    byName[name] === undefined
      ? Effect.die(new Error(`A ${noun} has no move "${name}".`))
      : Effect.succeed(byName[name])

  const lock = Effect.fn("Machine.lock")(function*(db: PluginDatabase, name: string, which: Which<T>) {
    const { from, to } = yield* named(name)
    const row = yield* withNoun(noun, db.table(table).lock(which))
    if (from.some((one) => one === Reflect.get(row, state))) return row
    return yield* notInState(row, { [state]: to }, { [state]: from })
  })

  const move = Effect.fn("Machine.move")(function*(
    db: PluginDatabase,
    name: string,
    which: Which<T>,
    change: object = {}
  ) {
    const one = yield* named(name)
    const { emits } = one
    const row = withNoun(noun, changed(db, one, which, change))
    if (emits === undefined) return yield* row
    return yield* db.transaction(
      Effect.tap(
        row,
        ({ id, ...rest }) =>
          db.announce(emits, { entityType: noun.replaceAll(" ", "_"), entityId: id, payload: { id, ...rest } })
      )
    )
  })
  return {
    table,
    noun,
    column: state,
    moves: byName,
    on: (db) => ({
      move: (name, which, change) => move(db, name, which, change),
      lock: (name, which) => lock(db, name, which)
    })
  }
}
