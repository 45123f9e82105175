import { Effect, Predicate, type Schema, Struct } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { group, Route } from "../routes/PluginRoute.ts"
import type { QueryFields } from "../routes/RouteShape.ts"
import type { ChangeOf, NewRowOf, RowOf, Table } from "../tables/Table.ts"
import { inputOf } from "./InputOf.ts"
import { listOf, type ListOptions, viewOf } from "./ListOf.ts"
import type { Machine } from "./Machine.ts"
import { moveRoutes } from "./MoveOf.ts"
import { article } from "./Noun.ts"
import { type ParentColumn, type Part, partOf, withParent } from "./Parent.ts"
import type {
  Allowed,
  CreateOf,
  CreateRoute,
  GetRoute,
  ListRoute,
  NameOf,
  NewCall,
  PatchOf,
  PatchRoute,
  RemoveRoute,
  ResourceOptions,
  RowCall
} from "./ResourceOptions.ts"
import { type Around, guardOf, type PathCall, routeOf, rowOf, type Usual } from "./RowRoute.ts"

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

const hasAnswer = (option: unknown): boolean => typeof option === "function" || Predicate.hasProperty(option, "answer")

/** A column that no body names and that has no default needs a handler that fills it in. */
const refuseGap = (path: string, { columns }: Table, left: ReadonlySet<string>): void => {
  const gap = [...left].find((name) =>
    columns[name]?.facts.nullable === false && columns[name].facts.fallback === undefined
  )
  if (gap !== undefined) throw new Error(`The resource "${path}" needs a \`create\` that fills in "${gap}".`)
}

const bodyOf = <Input>(option: unknown, columns: () => unknown): Schema.Codec<Input, unknown> =>
  // The types of bodies are read from these schemas, which the compiler does not see of any table.
  (Predicate.hasProperty(option, "input") ? option.input : columns()) as Schema.Codec<Input, unknown>

/** What the routes of a table are without options: they answer as its handle does. */
const usualsOf = <T extends Table, New, Change, P extends Table>(
  table: T,
  { noun, read, write }: { readonly noun: string; readonly read: Allowed; readonly write?: Allowed },
  part: Part<P>
): {
  readonly get: Usual<RowCall<T, undefined, P>, T>
  readonly create: Usual<NewCall<New, P>, T>
  readonly patch: Usual<RowCall<T, Change, P>, T>
  readonly remove: Usual<RowCall<T, undefined, P>, T>
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
      own: { answer: (call) => call.db.table(table).insert({ ...call.input, ...part?.keyOf(call) } as NewRowOf<T>) }
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

const listRoute = <
  T extends Table,
  Left extends NameOf<T>,
  Move extends string,
  See,
  Shown,
  Show,
  Query extends QueryFields,
  List,
  P extends Table
>(
  routes: ReturnType<typeof group>,
  path: `/${string}`,
  table: T,
  options: ResourceOptions<T, Left, Move, See, Shown, Show, P, string>,
  own: ListRoute<T, Query, List>["list"],
  part: Part<P>
) => {
  if (own === false) return []
  const { allowed = options.read, ...list } = typeof own === "function" ? { answer: own } : own ?? {}
  const shown: ListOptions<T, `/${string}`, Query, See, Shown, Show, List> = {
    summary: `List ${path.slice(path.lastIndexOf("/") + 1).replaceAll("-", " ")}`,
    ...guardOf(allowed),
    ...Struct.pick(options, ["filters", "order", "search", "view", "visible"]),
    ...part && { visible: part.visible(options.visible), answer: part.page(table, options.order) },
    ...list
  }
  return [listOf(routes, path, table, shown)]
}

/** What handlers get: the parent, and the row as the actor may see it. */
const callsOf = <T extends Table, See, P extends Table>(part: Part<P>, find: ReturnType<typeof rowOf<T, See, P>>) => ({
  making: <New>(): Around<PathCall<New>, NewCall<New, P>, never> => (asked, _, answer) =>
    withParent(part, asked, true, (parent) => answer(Object.assign(asked, { parent }))),
  around: <Input>(one = part): Around<PathCall<Input>, RowCall<T, Input, P>, See> => (asked, isOwn, answer) =>
    withParent(one, asked, isOwn, (parent) => Effect.flatMap(find(asked, parent), answer))
})

/**
 * The routes of a table: list, get, create, patch and delete, and the moves of its machine; with `of` those of the rows of a
 * parent. Rows and parents of other organizations are 404; errors and entries of the change log are those of the table's
 * handle (contract, plugins §0).
 */
export const resource = <
  T extends Table,
  const Left extends NameOf<T> = never,
  Move extends string = never,
  See = never,
  Shown = RowOf<T>,
  Show = never,
  P extends Table = never,
  const Column extends NameOf<T> = [P] extends [never] ? never : ParentColumn<T> & NameOf<T>,
  Query extends QueryFields = {},
  List = never,
  Whole = never,
  Get = never,
  New = CreateOf<T, Left | Column>,
  Made = never,
  Create = never,
  Change = PatchOf<T, Left | Column>,
  Changed = never,
  Patch = never,
  Gone = never,
  Remove = never
>(
  routes: ReturnType<typeof group>,
  path: `/${string}`,
  table: T,
  options:
    & ResourceOptions<T, Left, Move, See, Shown, Show, P, Column>
    & ListRoute<T, Query, List>
    & GetRoute<T, Whole, Get, P>
    & CreateRoute<T, New, Made, Create, P>
    & PatchRoute<T, Change, Changed, Patch, P>
    & RemoveRoute<T, Gone, Remove, P>
): ReadonlyArray<Route<Exclude<See | Show | List | Get | Create | Patch | Remove, CurrentActor>>> => {
  const { get, list, machine, of, rowId = "id", visible, write } = options
  const usually = write === undefined ? false : undefined
  const { create = usually, patch = usually, remove = usually } = options
  const [part, without, { strict }] = [partOf(path, table, rowId, of), leftOut(options), table.options]
  if (create !== false && !hasAnswer(create)) refuseGap(path, table, without)
  // A row stays with the one it belongs to.
  const left = new Set(part === undefined ? without : [...without, part.column])
  const newBody = bodyOf<New>(create, () => inputOf(table, { without: [...left] }))
  const changed = Object.keys(table.columns).filter((name) => !left.has(name) && name !== table.parent?.column)
  const change = bodyOf<Change>(patch, () => inputOf(table, { optional: changed }))
  const one = `${path}/:${rowId}` as const
  const [usual, view] = [usualsOf<T, New, Change, P>(table, options, part), viewOf(table, options.view)]
  const [route, { around, making }] = [routeOf(view), callsOf(part, rowOf(rowId, visible, part))]

  return [
    ...listRoute(routes, path, table, options, list, part),
    get !== false && route<PathCall<undefined>, RowCall<T, undefined, P>, Whole, Get, See>(
      get,
      usual.get,
      (said) => routes.get(one, said),
      around(part && { ...part, lock: undefined })
    ),
    create !== false &&
    route(create, usual.create, (said) => routes.post(path, { ...said, input: newBody, strict }), making()),
    patch !== false && route<PathCall<Change>, RowCall<T, Change, P>, Changed, Patch, See>(
      patch,
      usual.patch,
      (said) => routes.patch(one, { ...said, input: change, strict }),
      around()
    ),
    remove !== false && route<PathCall<undefined>, RowCall<T, undefined, P>, Gone, Remove, See>(
      remove,
      usual.remove,
      (said) => routes.delete(one, said),
      around()
    ),
    ...moveRoutes(routes, one, machine, (move) => options.moves?.[move] ?? write ?? false, view, around())
  ].filter((one) => one !== false)
}
