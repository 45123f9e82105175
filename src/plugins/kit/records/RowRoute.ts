import { Effect } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { PluginCall } from "../PluginCall.ts"
import type { Route, RouteCall } from "../routes/PluginRoute.ts"
import type { AnySchema, Guard } from "../routes/RouteShape.ts"
import type { RouteError } from "../routes/RouteTools.ts"
import type { RowOf, Table } from "../tables/Table.ts"
import type { Which } from "../tables/TableWhereRepo.ts"
import type { AnyView } from "./ListOf.ts"
import type { ParentRow, Part } from "./Parent.ts"
import type { Allowed, Own, RowCall, Said } from "./ResourceOptions.ts"
import type { Visible } from "./Visible.ts"

export const guardOf = (allowed: Allowed): Guard => typeof allowed === "string" ? { permission: allowed } : allowed

/** A call by the path of a row. */
export type PathCall<Input> = RouteCall<Input, unknown, Readonly<Record<string, string>>>

type RowHandler<Call, T, R = never> = (call: Call) => Effect.Effect<RowOf<T>, RouteError, R | CurrentActor>

/** What a route is where its option says nothing else. */
export interface Usual<Call, T, R = never> extends Required<Pick<Said, "description" | "summary">> {
  readonly allowed: Allowed | undefined
  readonly own: { readonly answer: RowHandler<Call, T, R> }
}

type RouteTerms = Guard & Omit<Said, "allowed"> & { readonly success: AnySchema }

type Shape<Asked> = (terms: RouteTerms) => {
  readonly handle: <Needs>(
    answer: (call: Asked) => Effect.Effect<unknown, RouteError, Needs | CurrentActor>
  ) => Route<Exclude<Needs, CurrentActor>>
}

/** Answers a request by what the handler of a route gets; `isOwn`: it is not the usual one. */
export type Around<Asked, Call, See> = <R>(
  asked: Asked,
  isOwn: boolean,
  answer: (call: Call) => Effect.Effect<unknown, RouteError, R | CurrentActor>
) => Effect.Effect<unknown, RouteError, R | See | CurrentActor>

const ownOf = <Call, T, A, R>(
  given: Said | Own<Call, RowOf<T>, A, R>,
  usual: Usual<Call, T, R>
): Own<Call, RowOf<T>, A, R> => "answer" in given ? given : { ...given, ...usual.own }

/** Makes a route that shows rows in a view, of its option or the usual terms. */
export const routeOf = <T, Show>({ show, success }: AnyView<T, Show>) =>
<Asked, Call extends PluginCall, A, R, See>(
  option: RowHandler<Call, T, R> | Own<Call, RowOf<T>, A, R> | Said | undefined,
  usual: Usual<Call, T, R>,
  shape: Shape<Asked>,
  around: Around<Asked, Call, See>
): Route<Exclude<R | Show | See, CurrentActor>> => {
  const given: Said | Own<Call, RowOf<T>, A, R> = typeof option === "function" ? { answer: option } : option ?? {}
  const own = ownOf(given, usual)
  const { description = usual.description, summary = usual.summary } = own
  const allowed = own.allowed ?? usual.allowed
  if (allowed === undefined) throw new Error(`"${summary}" needs \`allowed\`, or \`write\` of its resource.`)
  const answer = (call: Call): Effect.Effect<unknown, RouteError, R | Show | CurrentActor> =>
    own.success === undefined
      ? Effect.flatMap(own.answer(call), (row) => Effect.map(show([row], call), ([one]) => one))
      : own.answer(call)
  const terms = { ...guardOf(allowed), description, summary, success: own.success ?? success }
  const { errors, rate } = own
  return shape({ ...terms, ...(errors !== undefined && { errors }), ...(rate !== undefined && { rate }) })
    .handle((asked) => around(asked, "answer" in given, answer))
}

/** Finds the row that a path names by `rowId`, as far as the actor sees it and it is a part of what the path names before. */
export const rowOf =
  <T, See, P extends Table>(rowId: string, visible: Visible<T, See> | undefined, part: Part<P>) =>
  <Input>(call: PathCall<Input>, parent = undefined as ParentRow<P>): Effect.Effect<
    RowCall<T, Input, P>,
    RouteError,
    See | CurrentActor
  > => {
    const id = call.params[rowId] ?? ""
    const meant = part?.visible(visible) ?? visible
    const params = { ...call.params, id }
    const found = (which: Which<T>) => Object.assign(call, { params, which, parent })
    return meant === undefined
      ? Effect.succeed(found(id))
      : Effect.map(meant.whereOf(call), (own) => found({ ...own, id }))
  }
