import { Effect, Predicate, Record, type Schema, Struct } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { PluginCall } from "../PluginCall.ts"
import type { group, Route, RouteCall } from "../routes/PluginRoute.ts"
import type { AnySchema, Guard, QueryFields } from "../routes/RouteShape.ts"
import type { RouteError } from "../routes/RouteTools.ts"
import type { ChangeOf, NewRowOf, RowOf, Table } from "../tables/Table.ts"
import { inputOf } from "./InputOf.ts"
import { type AnyView, listOf, type ListOptions, viewOf } from "./ListOf.ts"
import type { Machine } from "./Machine.ts"
import type {
  Allowed,
  CreateOf,
  CreateRoute,
  GetRoute,
  ListRoute,
  NameOf,
  NewCall,
  Own,
  PatchOf,
  PatchRoute,
  RemoveRoute,
  ResourceOptions,
  RowCall,
  Said
} from "./ResourceOptions.ts"
import type { Visible } from "./Visible.ts"

const guardOf = (allowed: Allowed): Guard => typeof allowed === "string" ? { permission: allowed } : allowed

const article = (noun: string): string => `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`

/** The last part of the path of a move: `readyToPick` is at `/:id/ready-to-pick`. */
export const pathOfMove = (move: string): string => move.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

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

const leftOut = <T, Left extends NameOf<T>, Move extends string>(
  { machine, without = [] }: { readonly machine?: Machine<T, Move>; readonly without?: ReadonlyArray<Left> }
): ReadonlySet<string> => new Set<string>([...without, ...moved(machine)])

/** A column that no body names and that has no default needs a handler that fills it in. */
const refuseGap = (path: string, { columns }: Table, left: ReadonlySet<string>): void => {
  const gap = [...left].find((name) =>
    columns[name]?.facts.nullable === false && columns[name].facts.fallback === undefined
  )
  if (gap !== undefined) throw new Error(`The resource "${path}" needs a \`create\` that fills in "${gap}".`)
}

type PathCall<Input> = RouteCall<Input, unknown, { readonly id: string }>

type RowHandler<Call, T, R = never> = (call: Call) => Effect.Effect<RowOf<T>, RouteError, R | CurrentActor>

/** What a route is where its option says nothing else. */
interface Usual<Call, T> extends Required<Pick<Said, "description" | "summary">> {
  readonly allowed: Allowed | undefined
  readonly own: { readonly answer: RowHandler<Call, T> }
}

type RouteTerms = Guard & Omit<Said, "allowed"> & { readonly success: AnySchema }

type Shape<Asked> = (terms: RouteTerms) => {
  readonly handle: <Needs>(
    answer: (call: Asked) => Effect.Effect<unknown, RouteError, Needs | CurrentActor>
  ) => Route<Exclude<Needs, CurrentActor>>
}

/** Makes the routes of a resource, which show rows in a view, of their options or the usual terms; none of `false`. */
const routeWith = <T, Show>({ show, success }: AnyView<T, Show>) =>
<Asked, Call extends PluginCall, A, R, See>(
  option: false | RowHandler<Call, T, R> | Own<Call, RowOf<T>, A, R> | undefined,
  usual: Usual<Call, T>,
  shape: Shape<Asked>,
  callOf: (asked: Asked) => Effect.Effect<Call, RouteError, See | CurrentActor>
): ReadonlyArray<Route<Exclude<R | Show | See, CurrentActor>>> => {
  if (option === false) return []
  const own: Own<Call, RowOf<T>, A, R> = typeof option === "function" ? { answer: option } : option ?? usual.own
  const { description = usual.description, summary = usual.summary } = own
  const allowed = own.allowed ?? usual.allowed
  if (allowed === undefined) throw new Error(`"${summary}" needs \`allowed\`, or \`write\` of its resource.`)
  const answer = (call: Call): Effect.Effect<unknown, RouteError, R | Show | CurrentActor> =>
    own.success === undefined
      ? Effect.flatMap(own.answer(call), (row) => Effect.map(show([row], call), ([one]) => one))
      : own.answer(call)
  const terms = { ...guardOf(allowed), description, summary, success: own.success ?? success }
  const { errors, rate } = own
  return [
    shape({ ...terms, ...(errors !== undefined && { errors }), ...(rate !== undefined && { rate }) })
      .handle((asked) => Effect.flatMap(callOf(asked), answer))
  ]
}

const bodyOf = <Input>(option: unknown, columns: () => unknown): Schema.Codec<Input, unknown> =>
  // The types of bodies are read from these schemas, which the compiler does not see of any table.
  (Predicate.hasProperty(option, "input") ? option.input : columns()) as Schema.Codec<Input, unknown>

/** What the routes of a table are without options: they answer as its handle does. */
const usualsOf = <T extends Table, New, Change>(
  table: T,
  { noun, read, write }: { readonly noun: string; readonly read: Allowed; readonly write?: Allowed }
): {
  readonly get: Usual<RowCall<T>, T>
  readonly create: Usual<NewCall<New>, T>
  readonly patch: Usual<RowCall<T, Change>, T>
  readonly remove: Usual<RowCall<T>, T>
} => {
  const [a, missing, refused] = [article(noun), "404 without it.", refusals(table)]
  return {
    get: {
      allowed: read,
      summary: `Get ${a}`,
      description: missing,
      own: { answer: ({ db, which }) => db.table(table).get(which) }
    },
    create: {
      allowed: write,
      summary: `Create ${a}`,
      description: refused,
      own: { answer: ({ db, input }) => db.table(table).insert(input as NewRowOf<T>) }
    },
    patch: {
      allowed: write,
      summary: `Change ${a}`,
      description: `What the body leaves out stays. ${missing} ${refused}`,
      own: { answer: ({ db, input, which }) => db.table(table).update(which, input as ChangeOf<T>) }
    },
    remove: {
      allowed: write,
      summary: `Delete ${a}`,
      description: `${missing} 409 when other rows refer to it.`,
      own: { answer: ({ db, which }) => db.table(table).delete(which) }
    }
  }
}

const rowCallOf =
  <T, See>(visible: Visible<T, See> | undefined) =>
  <Input>(call: PathCall<Input>): Effect.Effect<RowCall<T, Input>, RouteError, See | CurrentActor> =>
    visible === undefined
      ? Effect.succeed(Object.assign(call, { which: call.params.id }))
      : Effect.map(visible.whereOf(call), (own) => Object.assign(call, { which: { ...own, id: call.params.id } }))

const listRoute = <
  T extends Table,
  Left extends NameOf<T>,
  Move extends string,
  See,
  Shown,
  Show,
  Query extends QueryFields,
  List
>(
  routes: ReturnType<typeof group>,
  path: `/${string}`,
  table: T,
  options: ResourceOptions<T, Left, Move, See, Shown, Show>,
  own: ListRoute<T, Query, List>["list"]
) => {
  if (own === false) return []
  const { allowed = options.read, ...list } = typeof own === "function" ? { answer: own } : own ?? {}
  const shown: ListOptions<T, `/${string}`, Query, See, Shown, Show, List> = {
    summary: `List ${path.slice(path.lastIndexOf("/") + 1).replaceAll("-", " ")}`,
    ...guardOf(allowed),
    ...Struct.pick(options, ["filters", "order", "search", "view", "visible"]),
    ...list
  }
  return [listOf(routes, path, table, shown)]
}

const moveRoutes = <T extends Table, Move extends string, Show, See>(
  routes: ReturnType<typeof group>,
  path: string,
  machine: Machine<T, Move> | undefined,
  allowedFor: (move: Move) => Allowed | false,
  view: AnyView<T, Show>,
  ofRow: <Input>(call: PathCall<Input>) => Effect.Effect<RowCall<T, Input>, RouteError, See | CurrentActor>
) =>
  machine === undefined ? [] : Record.keys(machine.moves).flatMap((move) => {
    const allowed = allowedFor(move)
    if (allowed === false) return []
    const { from, to } = machine.moves[move]
    return routeWith(view)<PathCall<undefined>, RowCall<T>, never, never, See>(
      undefined,
      {
        allowed,
        summary: `Move ${article(machine.noun)} to ${to}`,
        description: `404 without it; 422 INVALID_TRANSITION when its ${machine.column} is not ${from.join(" or ")}.`,
        own: { answer: ({ db, which }: RowCall<T>) => db.use(machine).move(move, which) }
      },
      (terms) => routes.post(`${path}/:id/${pathOfMove(move)}`, terms),
      ofRow<undefined>
    )
  })

/**
 * The routes of a table: list, get, create, patch and delete, and the moves of its machine. Rows of other organizations
 * are 404; errors and entries of the change log are those of the table's handle (contract, plugins §0).
 */
export const resource = <
  T extends Table,
  const Left extends NameOf<T> = never,
  Move extends string = never,
  See = never,
  Shown = RowOf<T>,
  Show = never,
  Query extends QueryFields = {},
  List = never,
  Whole = never,
  Get = never,
  New = CreateOf<T, Left>,
  Made = never,
  Create = never,
  Change = PatchOf<T, Left>,
  Changed = never,
  Patch = never,
  Gone = never,
  Remove = never
>(
  routes: ReturnType<typeof group>,
  path: `/${string}`,
  table: T,
  options:
    & ResourceOptions<T, Left, Move, See, Shown, Show>
    & ListRoute<T, Query, List>
    & GetRoute<T, Whole, Get>
    & CreateRoute<T, New, Made, Create>
    & PatchRoute<T, Change, Changed, Patch>
    & RemoveRoute<T, Gone, Remove>
): ReadonlyArray<Route<Exclude<See | Show | List | Get | Create | Patch | Remove, CurrentActor>>> => {
  const { get, list, machine, visible, write } = options
  const usually = write === undefined ? false : undefined
  const { create = usually, patch = usually, remove = usually } = options
  const [left, { strict }] = [leftOut(options), table.options]
  if (create === undefined) refuseGap(path, table, left)
  const newBody = bodyOf<New>(create, () => inputOf(table, { without: [...left] }))
  // A row stays with the one it belongs to.
  const changed = Object.keys(table.columns).filter((name) => !left.has(name) && name !== table.parent?.column)
  const change = bodyOf<Change>(patch, () => inputOf(table, { optional: changed }))
  const [one, usual, view] = [
    `${path}/:id` as const,
    usualsOf<T, New, Change>(table, options),
    viewOf(table, options.view)
  ]
  const [route, ofRow] = [routeWith(view), rowCallOf(visible)]

  return [
    ...listRoute(routes, path, table, options, list),
    ...route<PathCall<undefined>, RowCall<T>, Whole, Get, See>(get, usual.get, (said) => routes.get(one, said), ofRow),
    ...route<NewCall<New>, NewCall<New>, Made, Create, never>(
      create,
      usual.create,
      (said) => routes.post(path, { ...said, input: newBody, strict }),
      Effect.succeed
    ),
    ...route<PathCall<Change>, RowCall<T, Change>, Changed, Patch, See>(
      patch,
      usual.patch,
      (said) => routes.patch(one, { ...said, input: change, strict }),
      ofRow
    ),
    ...route<PathCall<undefined>, RowCall<T>, Gone, Remove, See>(
      remove,
      usual.remove,
      (said) => routes.delete(one, said),
      ofRow
    ),
    ...moveRoutes(routes, path, machine, (move) => options.moves?.[move] ?? write ?? false, view, ofRow)
  ]
}
