import { Effect } from "effect"
import { Reviews } from "./Reviews.ts"
import * as api from "./ReviewsApi.ts"

/** Answers of the routes that `ReviewsApi.ts` declares. */
export const reviewRoutes = [
  api.writeReview.handle(({ input, params }) => Effect.flatMap(Reviews, (reviews) => reviews.write(params.id, input))),
  api.listReviews.handle(({ page, params }) =>
    Effect.flatMap(Reviews, (reviews) => reviews.published(params.id, page))
  ),
  api.moderateReview.handle(({ input, params }) =>
    Effect.flatMap(Reviews, (reviews) => reviews.moderate(params.id, input.status))
  ),
  api.moderateVendorReview.handle(({ input, params }) =>
    Effect.flatMap(Reviews, (reviews) => reviews.moderate(params.reviewId, input.status, params.id))
  ),
  api.vendorReviews.handle(({ page, query }) =>
    Effect.flatMap(Reviews, (reviews) => reviews.ofVendor(query.status, page))
  ),
  api.respondToReview.handle(({ input, params }) =>
    Effect.flatMap(Reviews, (reviews) => reviews.respond(params.id, input.response))
  )
]
