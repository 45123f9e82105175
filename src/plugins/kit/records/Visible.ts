import type { Effect } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { RouteCall } from "../routes/PluginRoute.ts"
import type { RouteError } from "../routes/RouteTools.ts"
import type { VisibleBy } from "../tables/Listing.ts"
import type { Where } from "../tables/TableWhereRepo.ts"

/** A call by its path and its actor. */
export type AnyCall = RouteCall<unknown, unknown, Readonly<Record<string, string>>>

/** Which rows of a table the routes of a list or a resource show and change; for them others are not there. */
export interface Visible<T, R = never> extends VisibleBy {
  readonly whereOf: (call: AnyCall) => Effect.Effect<Where<T>, RouteError, R | CurrentActor>
}

type Values = Readonly<Record<string, {} | null>>

/**
 * Shows the rows that have these values in `columns`, such as those of the vendor in the path: of any table that has the
 * columns. No value is undefined, so that no caller sees more; the indexes of lists begin with the columns.
 */
export const visibleRows = <Where extends Values, R = never>(
  columns: ReadonlyArray<keyof Where & string>,
  whereOf: (call: AnyCall) => Effect.Effect<Where, RouteError, R | CurrentActor>
) => ({ columns, seesAll: false, isFew: false, whereOf })
