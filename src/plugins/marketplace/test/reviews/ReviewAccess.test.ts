import { Effect } from "effect"
import { expectStatuses } from "../Askers.ts"
import { aReview } from "../ReviewBuilder.ts"
import { withMarketplace } from "../VendorShop.ts"

const onlyAdmins = [401, 403, 403, 403, 403, 403, 200, 404] as const

withMarketplace()(
  "reviews, by who asks",
  (it) => {
    it.effect("are written by the buyer alone", () =>
      expectStatuses(
        [401, 201, 404, 404, 404, 404, 404, 404],
        ({ orderId, vendorId }) =>
          Effect.succeed({ method: "POST", path: `/vendors/${vendorId}/reviews`, body: { rating: 4, orderId } })
      ))

    it.effect("are read by everybody who is known", () =>
      expectStatuses(
        [401, 200, 200, 200, 200, 200, 200, 404],
        (sale) => Effect.as(aReview(sale), { method: "GET", path: `/vendors/${sale.vendorId}/reviews` })
      ))

    it.effect("are moderated by operators, by their id", () =>
      expectStatuses(
        onlyAdmins,
        (sale) =>
          Effect.map(aReview(sale), (id) => ({ method: "PATCH", path: `/reviews/${id}`, body: { status: "hidden" } }))
      ))

    it.effect("are moderated by operators, below their vendor", () =>
      expectStatuses(onlyAdmins, (sale) =>
        Effect.map(aReview(sale), (id) => ({
          method: "PATCH",
          path: `/vendors/${sale.vendorId}/reviews/${id}`,
          body: { status: "hidden" }
        }))))

    it.effect("are listed in the portal for vendors", () =>
      expectStatuses(
        [401, 403, 403, 200, 200, 403, 403, 403],
        (sale) => Effect.as(aReview(sale), { method: "GET", path: "/vendor/me/reviews" })
      ))

    it.effect("are answered by their vendor", () =>
      expectStatuses([401, 403, 403, 201, 404, 403, 403, 403], (sale) =>
        Effect.map(aReview(sale), (id) => ({
          method: "POST",
          path: `/vendor/me/reviews/${id}/respond`,
          body: { response: "Thank you." }
        }))))
  }
)
