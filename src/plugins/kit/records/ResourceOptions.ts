import type { Effect, Schema } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { PageOf } from "../../../domain/platform/paging/Paging.ts"
import type { DocumentedError } from "../routes/ApiError.ts"
import type { RouteCall } from "../routes/PluginRoute.ts"
import type { Guard, QueryFields, Rate } from "../routes/RouteShape.ts"
import type { RouteError } from "../routes/RouteTools.ts"
import type { ColumnsOf, GivenOf, RowOf } from "../tables/Table.ts"
import type { Which } from "../tables/TableWhereRepo.ts"
import type { InputOf } from "./InputOf.ts"
import type { ListCall, ListedRows, View } from "./ListOf.ts"
import type { Machine } from "./Machine.ts"
import type { Parent, ParentRow } from "./Parent.ts"

export type NameOf<T> = keyof ColumnsOf<T> & string

/** Who may ask: a permission, or what a route says otherwise (`auth`, `admits`, `public`). */
export type Allowed = string | Guard

/** `which`: the row of the path, if the actor may see it. */
export type RowCall<T, Input = undefined, P = never> = RouteCall<Input, unknown, { readonly id: string }> & {
  readonly which: Which<T>
  /** The row that the path names before. */
  readonly parent: ParentRow<P>
}

export type NewCall<Input, P = never> = RouteCall<Input, unknown, Readonly<Record<string, string>>> & {
  readonly parent: ParentRow<P>
}

type Handler<Call, A, R> = (call: Call) => Effect.Effect<A, RouteError, R | CurrentActor>

/** What the document says of a route, where it is not what the resource says. */
export interface Said {
  readonly summary?: string
  readonly description?: string
  /** Who may ask, where that is not `read` or `write`. */
  readonly allowed?: Allowed
  readonly errors?: ReadonlyArray<DocumentedError>
  readonly rate?: Rate
}

/** A route that answers with a row, or with what its `success` says. */
export type Own<Call, Row, A, R> =
  & Said
  & (
    | { readonly success?: undefined; readonly answer: Handler<Call, Row, R> }
    | { readonly success: Schema.Codec<A, unknown>; readonly answer: Handler<Call, NoInfer<A>, R> }
  )

/** A list that says something else of itself, or has parameters that are no columns. */
interface OwnList<T, Query extends QueryFields, R> extends Said {
  readonly query?: Query
  readonly answer?: Handler<ListCall<T, Query>, PageOf<RowOf<T>>, R>
}

interface Taking<Input> {
  readonly input?: Schema.Codec<Input, unknown>
}

/** False leaves a route out; a handler answers in place of the table's handle. */
type Answer<Call, Row, A, R> = false | Handler<Call, Row, R> | Own<Call, Row, A, R> | Said

type SentTo<Call, Input, Row, A, R> = false | Handler<Call, Row, R> | (Taking<Input> & Own<Call, Row, A, R>) | Said

export type CreateOf<T, Left extends NameOf<T>> = InputOf<
  T,
  Exclude<GivenOf<T> & NameOf<T>, Left>,
  Exclude<NameOf<T>, GivenOf<T> | Left>
>["Type"]
export type PatchOf<T, Left extends NameOf<T>> = InputOf<T, never, Exclude<NameOf<T>, Left>>["Type"]

/** What the routes of a table have in common. */
export interface ResourceOptions<
  T,
  Left extends NameOf<T>,
  Move extends string,
  See,
  Shown,
  Show,
  P = never,
  Column extends string = never
> extends ListedRows<T, See> {
  /** What a row is called: "purchase order". */
  readonly noun: string
  /** Who may list and get. */
  readonly read: Allowed
  /** Who may create, patch, delete and move; without it these routes are left out. */
  readonly write?: Allowed
  /** Columns that bodies do not name: the plugin fills them in. */
  readonly without?: ReadonlyArray<Left>
  /** The parent of the rows, whose id is the last parameter of the path: without it all routes are 404. */
  readonly of?: Parent<P, Column>
  /** The parameter of paths that is a row's id. Default `id`. */
  readonly rowId?: string
  /** Shows rows in another way, in all routes but those with a `success`. */
  readonly view?: View<T, Shown, Show>
  /** Adds `POST …/:id/<move>` for each move; bodies do not name the columns that it writes. */
  readonly machine?: Machine<T, Move>
  /** Who may make a move, where that is not `write`; false leaves its route out. */
  readonly moves?: { readonly [K in NoInfer<Move>]?: Allowed | false }
}

export interface ListRoute<T, Query extends QueryFields, R> {
  readonly list?: false | Handler<ListCall<T, Query>, PageOf<RowOf<T>>, R> | OwnList<T, Query, R>
}

export interface GetRoute<T, A, R, P = never> {
  readonly get?: Answer<RowCall<T, undefined, P>, RowOf<T>, A, R>
}

export interface CreateRoute<T, Input, A, R, P = never> {
  readonly create?: SentTo<NewCall<NoInfer<Input>, P>, Input, RowOf<T>, A, R>
}

export interface PatchRoute<T, Input, A, R, P = never> {
  readonly patch?: SentTo<RowCall<T, NoInfer<Input>, P>, Input, RowOf<T>, A, R>
}

export interface RemoveRoute<T, A, R, P = never> {
  readonly remove?: Answer<RowCall<T, undefined, P>, RowOf<T>, A, R>
}
