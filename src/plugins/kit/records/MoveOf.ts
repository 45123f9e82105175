import { Effect, Record, type Schema } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { group, Route } from "../routes/PluginRoute.ts"
import type { RouteError } from "../routes/RouteTools.ts"
import type { ChangeOf, RowOf, Table } from "../tables/Table.ts"
import { type AnyView, type View, viewOf } from "./ListOf.ts"
import type { Machine } from "./Machine.ts"
import { article, capitalized } from "./Noun.ts"
import type { Allowed, Own, RowCall, Said } from "./ResourceOptions.ts"
import { type Around, type PathCall, routeOf, rowOf } from "./RowRoute.ts"
import type { Visible } from "./Visible.ts"

/** The last part of the path of a move: `readyToPick` is at `/:id/ready-to-pick`. */
export const pathOfMove = (move: string): string => move.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** What the document says of a move. */
const said = <T, Move extends string>({ column, moves, noun }: Machine<T, Move>, move: Move) => ({
  summary: `${capitalized(pathOfMove(move).replaceAll("-", " "))} ${article(noun)}`,
  description: `404 without it; 422 INVALID_TRANSITION when its ${column} is not ${moves[move].from.join(" or ")}.`
})

/** The moves of a machine that take no body and do nothing else, below the path of a row. */
export const moveRoutes = <T extends Table, Move extends string, Show, See, P extends Table>(
  routes: ReturnType<typeof group>,
  path: `/${string}`,
  machine: Machine<T, Move> | undefined,
  allowedFor: (move: Move) => Allowed | false,
  view: AnyView<T, Show>,
  around: Around<PathCall<undefined>, RowCall<T, undefined, P>, See>
) =>
  machine === undefined ? [] : Record.keys(machine.moves).flatMap((move) => {
    const allowed = allowedFor(move)
    return allowed === false ? [] : [
      routeOf(view)<PathCall<undefined>, RowCall<T, undefined, P>, never, never, See>(
        undefined,
        { ...said(machine, move), allowed, own: { answer: ({ db, which }) => db.use(machine).move(move, which) } },
        (terms) => routes.post(`${path}/${pathOfMove(move)}`, terms),
        around
      )
    ]
  })

/** What a move says, takes and writes. */
export interface MoveOptions<T, Input, See, Shown, Show> extends Said {
  readonly input?: Schema.Codec<Input, unknown>
  /** Refuses unknown fields of the body with 422 `unknown_key`. */
  readonly strict?: boolean
  /** Which rows the actor may move; others are 404. Default: all of the organization. */
  readonly visible?: Visible<T, See>
  /** Shows the row in another way. */
  readonly view?: View<T, Shown, Show>
  /** What it changes beside the state. */
  readonly change?: (call: RowCall<T, NoInfer<Input>>) => ChangeOf<T>
}

/** What happens after a move, in its transaction: a failure takes the move back. */
export interface AfterMove<T, Input, R> {
  readonly after?: (
    row: RowOf<T>,
    call: RowCall<T, NoInfer<Input>>
  ) => Effect.Effect<unknown, RouteError, R | CurrentActor>
}

/**
 * The route of a move with a body, or with more to do than the move, `POST <path>/:id/<move>`, in one transaction: what comes
 * `after` it, or an `answer` that makes the move itself.
 */
export const moveOf = <
  T extends Table,
  Move extends string,
  Input = undefined,
  See = never,
  Shown = RowOf<T>,
  Show = never,
  A = never,
  R = never
>(
  routes: ReturnType<typeof group>,
  path: `/${string}`,
  machine: Machine<T, Move>,
  move: NoInfer<Move>,
  options:
    & MoveOptions<T, Input, See, Shown, Show>
    & (AfterMove<T, Input, R> | Own<RowCall<T, NoInfer<Input>>, RowOf<T>, A, R>)
): Route<Exclude<R | Show | See, CurrentActor>> => {
  const { change, input, strict, view, visible } = options
  const find = rowOf<T, See, never>("id", visible, undefined)
  const moved = (call: RowCall<T, Input>): Effect.Effect<RowOf<T>, RouteError, R | CurrentActor> =>
    Effect.tap(
      call.db.use(machine).move(move, call.which, change?.(call)),
      (row) => "after" in options ? options.after?.(row, call) ?? Effect.void : Effect.void
    )
  return routeOf(viewOf(machine.table, view))<PathCall<Input>, RowCall<T, Input>, A, R, See>(
    options,
    { ...said(machine, move), allowed: undefined, own: { answer: moved } },
    (terms) =>
      routes.post(`${path}/:id/${pathOfMove(move)}`, { ...terms, ...(input !== undefined && { input }), strict }),
    (asked, _, answer) => asked.db.transaction(Effect.flatMap(find(asked), answer))
  )
}
