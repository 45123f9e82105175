import { Effect } from "effect"
import { CurrentActor, holds, isSignedIn } from "../../../domain/platform/access/Actor.ts"
import type { NotFound } from "../../../domain/platform/errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../../../domain/platform/paging/Paging.ts"
import type { PluginTools } from "../routes/RouteTools.ts"
import type { ColumnsOf, RowOf, Table } from "../tables/Table.ts"
import type { OrderOf } from "../tables/TableHandle.ts"
import type { Where, Which } from "../tables/TableWhereRepo.ts"

/** What a handler has. */
type Tools = Pick<PluginTools, "db" | "services">

type Name<T> = keyof ColumnsOf<T> & keyof RowOf<T> & string

/** Who owns a row: the customer, or the user, whose id a column has. */
export type Owner<T> =
  | { readonly customer: Name<T>; readonly user?: never; readonly staff?: string }
  | { readonly user: Name<T>; readonly customer?: never; readonly staff?: string }

/** Rows of a table as their owners, and staff, may see them. */
export interface Owned<T> {
  /** The filter of the rows that the actor may see. */
  readonly where: (tools: Tools) => Effect.Effect<Where<T>, never, CurrentActor>
  /** The row of this id if the actor may see it, for reads and writes of a handle; others' are 404. */
  readonly which: (tools: Tools, id: string) => Effect.Effect<Which<T>, never, CurrentActor>
  /** 404 for a row that is another one's. */
  readonly get: (tools: Tools, id: string) => Effect.Effect<RowOf<T>, NotFound, CurrentActor>
  readonly page: (
    tools: Tools,
    where: Where<T>,
    page: PageRequest,
    order?: OrderOf<T>
  ) => Effect.Effect<PageOf<RowOf<T>>, never, CurrentActor>
}

/**
 * Shows each customer (`customer`: a column with the id of a customer's profile) or user (`user`: one with the id of a
 * login) the rows that are theirs, and those who hold the permission `staff` all of them.
 */
export const ownedBy = <T extends Table>(table: T, { customer, staff, user }: Owner<T>): Owned<T> => {
  const where: Owned<T>["where"] = Effect.fnUntraced(function*({ services }) {
    const actor = yield* CurrentActor
    if (staff !== undefined && holds(actor, staff)) return {}
    const id = customer === undefined
      ? isSignedIn(actor) ? actor.userId : null
      : (yield* services.customers.existingProfile)?.id ?? null
    // A visitor has no rows; a comparison with null would find those without an owner.
    return { [String(customer ?? user)]: { in: id === null ? [] : [id] } } as Where<T>
  })
  const which: Owned<T>["which"] = (tools, id) => Effect.map(where(tools), (own) => ({ ...own, id }))
  return {
    where,
    which,
    get: (tools, id) => Effect.flatMap(which(tools, id), (own) => tools.db.table(table).get(own)),
    page: (tools, filter, page, order) =>
      Effect.flatMap(where(tools), (own) => tools.db.table(table).page({ ...filter, ...own }, page, order))
  }
}
