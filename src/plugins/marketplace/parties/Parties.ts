import { Effect } from "effect"
import {
  type Actor,
  CurrentActor,
  forbidden,
  holds,
  isSignedIn,
  type ListCall,
  notFound,
  type Table,
  type Where
} from "stoa/plugin"
import { Market } from "../Market.ts"
import { type Ownership, ownership, ownRows } from "./PartyRepo.ts"
import { mayForVendor } from "./VendorPortal.ts"

class SubOrderNotFound extends notFound("SubOrder", "Not found.") {}
class BuyersOnly extends forbidden("BuyersOnly", "Only who bought it may do this.") {}
class SellersOnly extends forbidden("SellersOnly", "Only its vendor or an operator may do this.") {}

/** Whether the actor sees all sales and disputes. */
const readsAll = (actor: Actor): boolean => holds(actor, "marketplace:admin") || holds(actor, "marketplace:read")

/** A sub-order's owners, and what the actor is to it: of several parties the first one, so its vendor acts as vendor. */
const standingOf = (actor: Actor, owners: Ownership) => {
  const isVendor = actor.vendorId !== null && actor.vendorId === owners.vendorId
  const isBuyer = isSignedIn(actor) && owners.buyerUserId === actor.userId
  const party: "vendor" | "buyer" | "platform" = isVendor ? "vendor" : isBuyer ? "buyer" : "platform"
  // Acts for its vendor in a role that may sell; may run the marketplace.
  const [sells, isAdmin] = [isVendor && mayForVendor(actor, "sell"), holds(actor, "marketplace:admin")]
  return { ...owners, isBuyer, isVendor, sells, isAdmin, party }
}
export type Standing = ReturnType<typeof standingOf>

/*
 * Who may see and do what with a sub-order (contract, plugins §1.9): the buyer, the vendor and
 * operators. For all others it does not exist: 404. Never decided by anything that a request says.
 */

/** What the actor is to a sub-order; 404 for an actor without a relation to it. */
export const partyTo = Effect.fn("Parties.of")(function*(subOrderId: string) {
  const { db } = yield* Market
  const actor = yield* CurrentActor
  const owners = yield* db.use(ownership)(subOrderId)
  if (owners === undefined) return yield* new SubOrderNotFound()
  const standing = standingOf(actor, owners)
  return standing.isBuyer || standing.isVendor || readsAll(actor) ? standing : yield* new SubOrderNotFound()
})

/** The same for the buyer alone; 403 for the others who see it. */
export const buyerOf = (subOrderId: string) =>
  Effect.filterOrFail(partyTo(subOrderId), ({ isBuyer }) => isBuyer, () => new BuyersOnly())

/** The same for vendor and operators; 403 for the buyer. */
export const sellerOf = (subOrderId: string) =>
  Effect.filterOrFail(partyTo(subOrderId), ({ isAdmin, sells }) => sells || isAdmin, () => new SellersOnly())

/** The same for its vendor in the portal, where no other sub-orders exist, even where the actor may see more: 404. */
export const vendorOf = (subOrderId: string) =>
  Effect.filterOrFail(partyTo(subOrderId), ({ isVendor }) => isVendor, () => new SubOrderNotFound())

/** A row that hangs on a sub-order, for those who may see that; 404 for others. */
export const shownToParties = <Row extends { readonly subOrderId: string }, E, R>(row: Effect.Effect<Row, E, R>) =>
  Effect.tap(row, ({ subOrderId }) => partyTo(subOrderId))

/**
 * A page of rows that hang on sub-orders, newest first: as a `party` those that the actor may see, as a `seller` only what
 * the actor's vendor sells, even where the actor may see more.
 */
export const pageOfParty = Effect.fn("Parties.page")(
  function*<T extends Table>(table: T, as: "seller" | "party", { page, where }: Pick<ListCall<T>, "page" | "where">) {
    const { db } = yield* Market
    const actor = yield* CurrentActor
    if (as === "party" && readsAll(actor)) return yield* db.table(table).page(where, page)
    // Rows of one's own are found by their owners first, and then read as the handle gives them.
    const { ids, total } = yield* db.use(ownRows)(actor, as, table, { ...where }, page)
    const items = ids.length === 0 ? [] : yield* db.table(table).list({ id: { in: ids } } as Where<T>)
    return { ...page, items, total }
  }
)
