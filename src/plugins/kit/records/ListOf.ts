import { Effect, type Schema } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { PageOf } from "../../../domain/platform/paging/Paging.ts"
import type { PluginCall } from "../PluginCall.ts"
import type { group, Route, RouteCall } from "../routes/PluginRoute.ts"
import type { AnySchema, CommonOptions, QueryFields } from "../routes/RouteShape.ts"
import type { RouteError } from "../routes/RouteTools.ts"
import type { RowOf, Table } from "../tables/Table.ts"
import type { OrderOf } from "../tables/TableHandle.ts"
import type { Where } from "../tables/TableWhereRepo.ts"
import { type FilterOf, listQuery, listWhere, type SearchOf } from "./ResourceQuery.ts"
import type { AnyCall, Visible } from "./Visible.ts"

/** How rows are shown where that is not as their table has them. */
export interface View<T, A, R = never> {
  readonly success: Schema.Codec<A, unknown>
  /** Makes what is shown of the rows, in their order. */
  readonly show: (
    rows: ReadonlyArray<RowOf<T>>,
    call: PluginCall
  ) => Effect.Effect<ReadonlyArray<A>, RouteError, R | CurrentActor>
}

/** `where`: the rows that the query means and the actor may see. */
export type ListCall<T, Query extends QueryFields = {}> =
  & RouteCall<undefined, Schema.Struct<Query>["Type"], Readonly<Record<string, string>>>
  & { readonly where: Where<T> }

/** What rows a list shows, and how it finds them. */
export interface ListedRows<T, See = never> {
  /** Columns that are parameters of the list: `?status=open`. Their indexes and counters follow from it. */
  readonly filters?: ReadonlyArray<FilterOf<T>>
  /** Columns of texts in which `?search=` looks. It reads all rows of the organization. */
  readonly search?: ReadonlyArray<SearchOf<T>>
  /** Default: the newest first. */
  readonly order?: OrderOf<T>
  /** Which rows the actor may see: `ownedBy`, `visibleRows`. Default: all of the organization. */
  readonly visible?: Visible<T, See>
}

export interface ListOptions<T, Path extends string, Query extends QueryFields, See, A, Show, Answer>
  extends CommonOptions<Path, Query>, ListedRows<T, See>
{
  readonly view?: View<T, A, Show>
  /** Finds the page, where that is not the one of `where`: for parameters of `query`, which are no columns. */
  readonly answer?: (call: ListCall<T, Query>) => Effect.Effect<PageOf<RowOf<T>>, RouteError, Answer | CurrentActor>
}

const everyRow = { columns: [], seesAll: true, isFew: false } as const

/** Rows in any view. */
export interface AnyView<T, R> {
  readonly success: AnySchema
  readonly show: (
    rows: ReadonlyArray<RowOf<T>>,
    call: PluginCall
  ) => Effect.Effect<ReadonlyArray<unknown>, RouteError, R | CurrentActor>
}

/** Rows as their table has them, where no view says otherwise. */
export const viewOf = <T extends Table, Show>({ Row }: T, view: AnyView<T, Show> | undefined): AnyView<T, Show> =>
  view ?? { success: Row, show: Effect.succeed }

/**
 * The list of a table at a path: a page of its rows by the filters, the text and the order that it declares. Filters and order
 * get indexes, and filters of few values counters (`hasFewValues`), so that a page and its total read a bounded number of rows.
 */
export const listOf = <
  T extends Table,
  const Path extends `/${string}`,
  Query extends QueryFields = {},
  See = never,
  A = RowOf<T>,
  Show = never,
  Answer = never
>(
  routes: ReturnType<typeof group>,
  path: Path,
  table: T,
  options: ListOptions<T, Path, Query, See, A, Show, Answer>
): Route<Exclude<See | Show | Answer, CurrentActor>> => {
  const { answer, filters = [], order, query, search = [], view, visible, ...rest } = options
  const { columns, isFew, seesAll } = visible ?? everyRow
  const whereOf = (call: AnyCall): Effect.Effect<Where<T>, RouteError, See | CurrentActor> =>
    visible === undefined ? Effect.succeed({} as Where<T>) : visible.whereOf(call)
  const find = answer ?? (({ db, page, where }) => db.table(table).page(where, page, order))
  const { show, success } = viewOf(table, view)
  return routes.list(path, {
    ...rest,
    lists: { table: table.name, filters, order: order ?? ["-createdAt"], visible: { columns, isFew, seesAll } },
    // A handler gets the parameters of `query`; those of filters are in `where`.
    query: { ...listQuery(table, filters, search), ...query } as QueryFields as Query,
    success
  }).handle((call) =>
    Effect.gen(function*() {
      const where = { ...listWhere(table, filters, search, { ...call.query }), ...yield* whereOf(call) }
      const found = yield* find(Object.assign(call, { where }))
      return { ...found, items: yield* show(found.items, call) }
    })
  )
}
