import type { Effect } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { RouteCall } from "../routes/PluginRoute.ts"
import type { RouteError } from "../routes/RouteTools.ts"
import type { VisibleBy } from "../tables/Listing.ts"
import type { ColumnsOf, RowOf, Table } from "../tables/Table.ts"
import type { Where } from "../tables/TableWhereRepo.ts"

/** A call by its path and its actor. */
export type AnyCall = RouteCall<unknown, unknown, Readonly<Record<string, string>>>

/** Which rows of a table the routes of a list or a resource show and change; for them others are not there. */
export interface Visible<T, R = never> extends VisibleBy {
  readonly whereOf: (call: AnyCall) => Effect.Effect<Where<T>, RouteError, R | CurrentActor>
}

/** A condition that names each of these columns. */
type WhereIn<T, Name extends keyof Where<T>> = Where<T> & { readonly [K in Name]-?: Exclude<Where<T>[K], undefined> }

/**
 * Shows the rows that have these values in `columns`, such as those of the vendor in the path. Each of the columns has a
 * value, so that no caller sees more; the indexes of lists begin with them.
 */
export const visibleRows = <
  T extends Table,
  const Name extends keyof ColumnsOf<T> & keyof RowOf<T> & string,
  R = never
>(
  _: T,
  columns: ReadonlyArray<Name>,
  whereOf: (call: AnyCall) => Effect.Effect<WhereIn<T, Name>, RouteError, R | CurrentActor>
): Visible<T, R> => ({ columns, seesAll: false, isFew: false, whereOf })
