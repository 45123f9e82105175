import { Effect, Record, type Schema } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { PageOf } from "../../../domain/platform/paging/Paging.ts"
import type { group, Route, RouteCall } from "../routes/PluginRoute.ts"
import type { AnySchema, Guard } from "../routes/RouteShape.ts"
import type { RouteError } from "../routes/RouteTools.ts"
import type { ChangeOf, ColumnsOf, GivenOf, NewRowOf, RowOf, Table } from "../tables/Table.ts"
import type { OrderOf } from "../tables/TableHandle.ts"
import type { Where, Which } from "../tables/TableWhereRepo.ts"
import { type InputOf, inputOf } from "./InputOf.ts"
import type { Machine } from "./Machine.ts"
import type { Owned } from "./OwnedBy.ts"
import { type FilterOf, listQuery, listWhere, type SearchOf } from "./ResourceQuery.ts"

type NameOf<T> = keyof ColumnsOf<T> & string

/** Who may ask: a permission, or what a route says otherwise (`auth`, `admits`, `public`). */
type Allowed = string | Guard

/** False leaves a route out; a handler answers in place of the table's handle. */
type Answer<Call, A, R> = false | ((call: Call) => Effect.Effect<A, RouteError, R | CurrentActor>)

type Call<Input> = RouteCall<Input, unknown, unknown>
type PathCall<Input> = RouteCall<Input, unknown, { readonly id: string }>
/** `where`: the rows that the query means and the actor may see. */
type ListCall<T> = Call<undefined> & { readonly where: Where<T> }
/** `which`: the row of the path, if the actor may see it. */
type RowCall<T, Input = undefined> = Call<Input> & { readonly which: Which<T> }

type CreateOf<T, Left extends NameOf<T>> = InputOf<
  T,
  Exclude<GivenOf<T> & NameOf<T>, Left>,
  Exclude<NameOf<T>, GivenOf<T> | Left>
>["Type"]
type PatchOf<T, Left extends NameOf<T>> = InputOf<T, never, Exclude<NameOf<T>, Left>>["Type"]

/** What the routes of a table are; `List` to `Remove` are what their handlers need of the plugin's services. */
export interface ResourceOptions<T, Left extends NameOf<T>, Move extends string, List, Get, Create, Patch, Remove> {
  /** What a row is called: "purchase order". */
  readonly noun: string
  /** Who may list and get. */
  readonly read: Allowed
  /** Who may create, patch, delete and move. */
  readonly write: Allowed
  /** Columns that are parameters of the list: `?status=open`. */
  readonly filters?: ReadonlyArray<FilterOf<T>>
  /** Columns of texts in which `?search=` looks. It reads all rows of the organization. */
  readonly search?: ReadonlyArray<SearchOf<T>>
  /** Default: the newest first. */
  readonly order?: OrderOf<T>
  /** Columns that bodies do not name: the plugin fills them in. */
  readonly without?: ReadonlyArray<Left>
  /** Rows belong to customers or users: the list shows each their rows, others are 404. */
  readonly owned?: Owned<T>
  /** Adds `POST …/:id/<move>` for each move; bodies do not name the columns that it writes. */
  readonly machine?: Machine<T, Move>
  /** Who may make a move, where that is not `write`; false leaves its route out. */
  readonly moves?: { readonly [K in NoInfer<Move>]?: Allowed | false }
  readonly list?: Answer<ListCall<T>, PageOf<RowOf<T>>, List>
  readonly get?: Answer<RowCall<T>, RowOf<T>, Get>
  readonly create?: Answer<Call<CreateOf<T, Left>>, RowOf<T>, Create>
  readonly patch?: Answer<RowCall<T, PatchOf<T, Left>>, RowOf<T>, Patch>
  readonly remove?: Answer<RowCall<T>, RowOf<T>, Remove>
}

const guardOf = (allowed: Allowed): Guard => typeof allowed === "string" ? { permission: allowed } : allowed

const article = (noun: string): string => `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`

/** The last part of the path of a move: `readyToPick` is at `/:id/ready-to-pick`. */
export const pathOfMove = (move: string): string => move.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Columns that a machine writes. */
const moved = <T, Move extends string>(machine: Machine<T, Move> | undefined): ReadonlyArray<string> => {
  if (machine === undefined) return []
  const moves: ReadonlyArray<{ readonly stamp?: string; readonly by?: string }> = Object.values(machine.moves)
  return [machine.column, ...moves.flatMap(({ by, stamp }) => [by, stamp])].filter((name) => name !== undefined)
}

/** Says of a table when an insert or a change is 409 and 422. */
const refusals = ({ columns, options: { excluding, unique } }: Table): string => {
  const single = Object.keys(columns).filter((name) => columns[name]?.facts.uniqueness !== undefined)
  const several = (unique ?? []).map((one) => one.columns.join(" and "))
  const taken = [...single, ...several].map((names) => `the same ${names}`)
  const all = excluding === undefined ? taken : [...taken, "an overlapping range"]
  const other = all.length === 0 ? "" : `409 when another one has ${all.join(", or ")}. `
  return `${other}422 for a value that is not right, or a reference to what does not exist.`
}

/** Columns that no body names. */
const leftOut = <T, Left extends NameOf<T>, Move extends string>(
  { machine, without = [] }: { readonly machine?: Machine<T, Move>; readonly without?: ReadonlyArray<Left> }
): ReadonlySet<string> => new Set<string>([...without, ...moved(machine)])

/** What of the options the shapes of routes need. */
interface ShapeOptions {
  readonly noun: string
  readonly read: Allowed
  readonly write: Allowed
  readonly filters?: ReadonlyArray<string>
  readonly search?: ReadonlyArray<string>
}

/** The routes of a table without what answers them. */
const shapesOf = <T extends Table>(
  routes: ReturnType<typeof group>,
  path: `/${string}`,
  table: T,
  { filters = [], noun, read, search = [], write }: ShapeOptions,
  left: ReadonlySet<string>
) => {
  const names = Object.keys(table.columns).filter((name) => !left.has(name))
  // A row stays with the one it belongs to.
  const changed = names.filter((name) => name !== table.parent?.column)
  // The row of a table is what its columns say, which the compiler does not see of any table.
  const success = table.Row as Schema.Codec<RowOf<T>, unknown>
  const [reading, writing] = [{ ...guardOf(read), success }, { ...guardOf(write), success }]
  const [one, a, missing, refused] = [`${path}/:id` as const, article(noun), "404 without it.", refusals(table)]
  const many = path.slice(path.lastIndexOf("/") + 1).replaceAll("-", " ")
  return {
    list: routes.list(path, { ...reading, summary: `List ${many}`, query: listQuery(table, filters, search) }),
    get: routes.get(one, { ...reading, summary: `Get ${a}`, description: missing }),
    create: routes.post(path, {
      ...writing,
      summary: `Create ${a}`,
      description: refused,
      input: inputOf(table, { without: [...left] }) as AnySchema
    }),
    patch: routes.patch(one, {
      ...writing,
      summary: `Change ${a}`,
      description: `What the body leaves out stays. ${missing} ${refused}`,
      input: inputOf(table, { optional: changed }) as AnySchema
    }),
    remove: routes.delete(one, {
      ...writing,
      summary: `Delete ${a}`,
      description: `${missing} 409 when other rows refer to it.`
    })
  }
}

/** A column that no body names and that has no default needs a handler that fills it in. */
const refuseGap = (path: string, { columns }: Table, left: ReadonlySet<string>): void => {
  const gap = [...left].find((name) =>
    columns[name]?.facts.nullable === false && columns[name].facts.fallback === undefined
  )
  if (gap !== undefined) throw new Error(`The resource "${path}" needs a \`create\` that fills in "${gap}".`)
}

/** One of the routes: its shape with what answers it; none where it is left out. */
const answered = <Call, A, R>(
  given: Answer<Call, A, R> | undefined,
  usual: (call: Call) => Effect.Effect<A, RouteError, CurrentActor>,
  route: (answer: (call: Call) => Effect.Effect<A, RouteError, R | CurrentActor>) => Route<Exclude<R, CurrentActor>>
): ReadonlyArray<Route<Exclude<R, CurrentActor>>> => given === false ? [] : [route(given ?? usual)]

/** `POST …/:id/<move>` for each move of a machine. */
const moveRoutes = <T extends Table, Move extends string>(
  routes: ReturnType<typeof group>,
  path: string,
  machine: Machine<T, Move>,
  allowedFor: (move: Move) => Allowed | false,
  whichOf: (call: PathCall<unknown>) => Effect.Effect<Which<T>, never, CurrentActor>
) =>
  Record.keys(machine.moves).flatMap((move) => {
    const allowed = allowedFor(move)
    if (allowed === false) return []
    const { from, to } = machine.moves[move]
    return [
      routes.post(`${path}/:id/${pathOfMove(move)}`, {
        ...guardOf(allowed),
        summary: `Move ${article(machine.noun)} to ${to}`,
        description: `404 without it; 422 INVALID_TRANSITION when its ${machine.column} is not ${from.join(" or ")}.`,
        success: machine.table.Row as Schema.Codec<RowOf<T>, unknown>
      }).handle((call) => Effect.flatMap(whichOf(call), (which) => call.db.use(machine).move(move, which)))
    ]
  })

/**
 * The routes of a table: list, get, create, patch and delete, and the moves of its machine. Rows of other organizations
 * are 404; errors and entries of the change log are those of the table's handle (contract, plugins §0).
 */
export const resource = <
  T extends Table,
  const Left extends NameOf<T> = never,
  Move extends string = never,
  List = never,
  Get = never,
  Create = never,
  Patch = never,
  Remove = never
>(
  routes: ReturnType<typeof group>,
  path: `/${string}`,
  table: T,
  options: ResourceOptions<T, Left, Move, List, Get, Create, Patch, Remove>
): ReadonlyArray<Route<Exclude<List | Get | Create | Patch | Remove, CurrentActor>>> => {
  const { machine, order, owned, search = [] } = options
  const left = leftOut(options)
  if (options.create === undefined) refuseGap(path, table, left)
  const shapes = shapesOf(routes, path, table, options, left)
  const whichOf = (call: PathCall<unknown>): Effect.Effect<Which<T>, never, CurrentActor> =>
    owned === undefined ? Effect.succeed(call.params.id) : call.db.use(owned).which(call.params.id)
  const ofRow = <Input, R>(answer: (call: RowCall<T, Input>) => Effect.Effect<RowOf<T>, RouteError, R>) =>
  // The body is what the columns say that the types of the options are read from.
  (call: PathCall<unknown>) =>
    Effect.flatMap(whichOf(call), (which) => answer(Object.assign(call, { which }) as RowCall<T, Input>))

  return [
    ...answered(
      options.list,
      ({ db, page, where }) => db.table(table).page(where, page, order),
      (answer) =>
        shapes.list.handle((call) =>
          Effect.flatMap(owned === undefined ? Effect.succeed({}) : call.db.use(owned).where, (own) => {
            const where = { ...listWhere(table, search, call.query), ...own }
            return answer(Object.assign(call, { where }))
          })
        )
    ),
    ...answered(
      options.get,
      ({ db, which }) => db.table(table).get(which),
      (answer) => shapes.get.handle(ofRow(answer))
    ),
    ...answered(
      options.create,
      ({ db, input }) => db.table(table).insert(input as NewRowOf<T>),
      (answer) => shapes.create.handle((call) => answer(call as Call<CreateOf<T, Left>>))
    ),
    ...answered(
      options.patch,
      ({ db, input, which }) => db.table(table).update(which, input as ChangeOf<T>),
      (answer) => shapes.patch.handle(ofRow(answer))
    ),
    ...answered(
      options.remove,
      ({ db, which }) => db.table(table).delete(which),
      (answer) => shapes.remove.handle(ofRow(answer))
    ),
    ...(machine === undefined
      ? []
      : moveRoutes(routes, path, machine, (move) => options.moves?.[move] ?? options.write, whichOf))
  ]
}
