import { Context, Effect, Layer } from "effect"
import {
  type Actor,
  CurrentActor,
  forbidden,
  holds,
  isSignedIn,
  type PageOf,
  type PageRequest,
  PluginDatabase,
  RowNotFound
} from "stoa/plugin"
import { type OfSubOrders, type Ownership, type OwnFilter, partyRepo } from "./PartyRepo.ts"
import { mayForVendor } from "./VendorPortal.ts"

class BuyersOnly extends forbidden("BuyersOnly", "Only who bought it may do this.") {}
class SellersOnly extends forbidden("SellersOnly", "Only its vendor or an operator may do this.") {}

/** What an actor is to a sub-order; the first that applies counts, so its vendor acts as vendor. */
export type Party = "vendor" | "buyer" | "platform"

/** A sub-order's owners, and what the actor of the request is to it. */
export interface Standing extends Ownership {
  readonly isBuyer: boolean
  readonly isVendor: boolean
  /** Acts for its vendor in a role that may sell (`VendorPortal.ts`). */
  readonly sells: boolean
  /** May run the marketplace. */
  readonly isAdmin: boolean
  readonly party: Party
}

/** What the lists of this service need of a table's handle. */
interface Rows<Row> {
  readonly name: OfSubOrders
  readonly page: (where: object, page: PageRequest) => Effect.Effect<PageOf<Row>, never, CurrentActor>
  readonly byIds: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Row>, never, CurrentActor>
}

/** Whether the actor sees all sales and disputes. */
const readsAll = (actor: Actor): boolean => holds(actor, "marketplace:admin") || holds(actor, "marketplace:read")

/**
 * Who may see and do what with a sub-order (contract, plugins §1.9): the buyer, the vendor and
 * operators. For all others it does not exist: 404. Never decided by anything that a request says.
 */
export class Parties extends Context.Service<Parties>()("stoa/plugins/marketplace/parties/Parties", {
  make: Effect.gen(function*() {
    const repo = partyRepo(yield* PluginDatabase)

    /** What the actor is to a sub-order; 404 for an actor without a relation to it. */
    const of = Effect.fn("Parties.of")(function*(subOrderId: string) {
      const actor = yield* CurrentActor
      const owners = yield* repo.ownership(actor.organizationId, subOrderId)
      const standing = owners === undefined ? undefined : standingOf(actor, owners)
      const { isBuyer, isVendor } = standing ?? { isBuyer: false, isVendor: false }
      if (standing === undefined || !(isBuyer || isVendor || readsAll(actor))) return yield* new RowNotFound()
      return standing
    })

    /** The same for the buyer alone; 403 for the others who see it. */
    const buyerOf = Effect.fn("Parties.buyerOf")(function*(subOrderId: string) {
      const standing = yield* of(subOrderId)
      return standing.isBuyer ? standing : yield* new BuyersOnly()
    })

    /** The same for vendor and operators; 403 for the buyer. */
    const sellerOf = Effect.fn("Parties.sellerOf")(function*(subOrderId: string) {
      const standing = yield* of(subOrderId)
      if (standing.sells || standing.isAdmin) return standing
      return yield* new SellersOnly()
    })

    /** Rows of one's own are found by their owners first, and then read as the handle gives them. */
    const pageAs = Effect.fnUntraced(
      function*<Row>(as: "seller" | "party", rows: Rows<Row>, filter: OwnFilter, page: PageRequest) {
        const { ids, total } = yield* repo.own(yield* CurrentActor, as, rows.name, filter, page)
        const items = ids.length === 0 ? [] : yield* rows.byIds(ids)
        return { ...page, items, total }
      }
    )
    /** Of these only what the actor's vendor sells, even where the actor may see more. */
    const sold = Effect.fn("Parties.sold")(<Row>(rows: Rows<Row>, filter: OwnFilter, page: PageRequest) =>
      pageAs("seller", rows, filter, page)
    )
    /** A page of the rows that the actor may see, newest first. */
    const visible = Effect.fn("Parties.visible")(
      function*<Row>(rows: Rows<Row>, filter: OwnFilter, page: PageRequest) {
        // A query has its page beside the filter.
        const { status, subOrderId } = filter
        return yield* readsAll(yield* CurrentActor)
          ? rows.page({ status, subOrderId }, page)
          : pageAs("party", rows, { status, subOrderId }, page)
      }
    )

    return { of, buyerOf, sellerOf, visible, sold }
  })
}) {
  static readonly layer = Layer.effect(Parties, Parties.make)
}

const standingOf = (actor: Actor, owners: Ownership): Standing => {
  const isVendor = actor.vendorId !== null && actor.vendorId === owners.vendorId
  const isBuyer = isSignedIn(actor) && owners.buyerUserId === actor.userId
  const party = isVendor ? "vendor" : isBuyer ? "buyer" : "platform"
  const sells = isVendor && mayForVendor(actor, "sell")
  return { ...owners, isBuyer, isVendor, sells, isAdmin: holds(actor, "marketplace:admin"), party }
}
