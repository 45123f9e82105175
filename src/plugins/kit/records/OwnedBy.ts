import { Effect } from "effect"
import { CurrentActor, holds, isSignedIn } from "../../../domain/platform/access/Actor.ts"
import type { NotFound } from "../../../domain/platform/errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../../../domain/platform/paging/Paging.ts"
import type { PluginDatabase, Usable } from "../tables/PluginDatabase.ts"
import { profileOf } from "../tables/ProfileRepo.ts"
import type { ColumnsOf, RowOf, Table } from "../tables/Table.ts"
import type { OrderOf } from "../tables/TableHandle.ts"
import type { Where, Which } from "../tables/TableWhereRepo.ts"
import type { Visible } from "./Visible.ts"

type Name<T> = keyof ColumnsOf<T> & keyof RowOf<T> & string

/** Who owns a row: the customer, or the user, whose id a column has. */
export type Owner<T> =
  | { readonly customer: Name<T>; readonly user?: never; readonly staff?: string }
  | { readonly user: Name<T>; readonly customer?: never; readonly staff?: string }

/** Rows on a database as their owners, and staff, may see them. */
export interface OwnedRows<T> {
  /** The filter of the rows that the actor may see. */
  readonly where: Effect.Effect<Where<T>, never, CurrentActor>
  /** The row of this id if the actor may see it, for reads and writes of a handle; others' are 404. */
  readonly which: (id: string) => Effect.Effect<Which<T>, never, CurrentActor>
  /** 404 for a row that is another one's. */
  readonly get: (id: string) => Effect.Effect<RowOf<T>, NotFound, CurrentActor>
  readonly page: (
    where: Where<T>,
    page: PageRequest,
    order?: OrderOf<T>
  ) => Effect.Effect<PageOf<RowOf<T>>, never, CurrentActor>
}

/** Rows of a table by their owners. */
export interface Owned<T> extends Usable<OwnedRows<T>>, Visible<T> {}

/**
 * Shows each customer (`customer`: a column with the id of a customer's profile) or user (`user`: one with the id of a
 * login) the rows that are theirs, and those who hold the permission `staff` all of them.
 */
export const ownedBy = <T extends Table>(table: T, { customer, staff, user }: Owner<T>): Owned<T> => {
  const whereOn = Effect.fnUntraced(function*(db: PluginDatabase): Effect.fn.Return<Where<T>, never, CurrentActor> {
    const actor = yield* CurrentActor
    if (staff !== undefined && holds(actor, staff)) return {}
    const id = !isSignedIn(actor)
      ? undefined
      : customer === undefined
      ? actor.userId
      : yield* db.use(profileOf)(actor.userId)
    // A visitor has no rows; a comparison with null would find those without an owner.
    return { [String(customer ?? user)]: { in: id === undefined ? [] : [id] } } as Where<T>
  })
  return {
    columns: [String(customer ?? user)],
    seesAll: staff !== undefined,
    isFew: true,
    whereOf: ({ db }) => whereOn(db),
    on: (db) => {
      const where = whereOn(db)
      const which: OwnedRows<T>["which"] = (id) => Effect.map(where, (own): Which<T> => ({ ...own, id }))
      return {
        where,
        which,
        get: (id) => Effect.flatMap(which(id), (own) => db.table(table).get(own)),
        page: (filter, page, order) =>
          Effect.flatMap(where, (own) => db.table(table).page({ ...filter, ...own }, page, order))
      }
    }
  }
}
