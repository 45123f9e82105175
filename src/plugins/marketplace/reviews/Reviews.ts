import { Context, DateTime, Effect, Layer } from "effect"
import {
  CurrentActor,
  forbidden,
  invalid,
  isSignedIn,
  notFound,
  type OrderId,
  type PageRequest,
  PluginDatabase,
  PluginHost,
  type RowOf
} from "stoa/plugin"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import { ownVendor } from "../parties/VendorPortal.ts"
import { vendors } from "../vendors/VendorTables.ts"
import { type Buying, reviewRepo } from "./ReviewRepo.ts"
import type { NewReview } from "./ReviewsApi.ts"
import { reviews, type reviewStatuses } from "./ReviewTables.ts"

class NothingDelivered extends invalid("NothingDelivered", "orderId", "nothing was delivered to you by this vendor") {}
class NotDelivered
  extends invalid("NotDelivered", "orderId", "is not delivered: its vendor can be reviewed once it is")
{}
class OrderNotFound extends notFound("Order", "Order not found.") {}
class SignedInOnly extends forbidden("SignedInOnly", "Reviews are written by people who have signed in.") {}

export type Review = RowOf<typeof reviews>
type Status = typeof reviewStatuses[number]

/** What buyers say of vendors (contract, plugins §1.6, §1.9): one review of a vendor for each order that it delivered. */
export class Reviews extends Context.Service<Reviews>()("stoa/plugins/marketplace/reviews/Reviews", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const host = yield* PluginHost
    const { requireVerifiedPurchase, reviewModerationEnabled } = yield* MarketplaceOptions
    const repo = reviewRepo(db)
    const rows = db.table(reviews)

    /** The order that a review is about, where it has to be about one or names one. */
    const purchaseOf = Effect.fnUntraced(function*(buying: Buying, orderId: OrderId | undefined) {
      if (orderId === undefined) {
        const found = requireVerifiedPurchase ? yield* repo.toReview(buying) : undefined
        if (found !== undefined || !requireVerifiedPurchase) return found
        return yield* new NothingDelivered()
      }
      const found = yield* repo.purchase(buying, orderId)
      if (found === undefined) return yield* new OrderNotFound()
      if (found.isDelivered || !requireVerifiedPurchase) return found
      return yield* new NotDelivered()
    })

    /** 404 for an order that is not the actor's, 422 before delivery, 409 for a second one. */
    const write = Effect.fn("Reviews.write")(function*(vendorId: string, sent: typeof NewReview.Type) {
      const actor = yield* CurrentActor
      yield* db.table(vendors).get(vendorId)
      if (!isSignedIn(actor)) return yield* new SignedInOnly()
      const { organizationId, userId } = actor
      const purchase = yield* purchaseOf({ organizationId, userId, vendorId }, sent.orderId)
      return yield* rows.insert({
        vendorId,
        orderId: purchase?.orderId ?? null,
        customerId: purchase?.customerId ?? (yield* host.services.customers.ownProfileId),
        rating: sent.rating,
        title: sent.title ?? null,
        body: sent.body ?? null,
        status: reviewModerationEnabled ? "pending" : "published"
      })
    })

    /** The published ones of a vendor; 404. */
    const published = Effect.fn("Reviews.published")(function*(vendorId: string, page: PageRequest) {
      yield* db.table(vendors).get(vendorId)
      return yield* rows.page({ vendorId, status: "published" }, page)
    })

    /** All of the own vendor. */
    const ofVendor = Effect.fn("Reviews.ofVendor")(function*(status: Status | undefined, page: PageRequest) {
      return yield* rows.page({ vendorId: ownVendor(yield* CurrentActor), status }, page)
    })

    /** As the vendor that it is of. */
    const respond = Effect.fn("Reviews.respond")(function*(id: string, vendorResponse: string) {
      const vendorId = ownVendor(yield* CurrentActor)
      const vendorRespondedAt = DateTime.toDateUtc(yield* DateTime.now)
      return yield* rows.update({ id, vendorId }, { vendorResponse, vendorRespondedAt })
    })

    return {
      write,
      published,
      ofVendor,
      respond,
      /** With a vendor: 404 for a review of another one. */
      moderate: Effect.fn("Reviews.moderate")((id: string, status: Status, vendorId?: string) =>
        rows.update({ id, vendorId }, { status })
      )
    }
  })
}) {
  static readonly layer = Layer.effect(Reviews, Reviews.make)
}
