import { Schema } from "effect"
import { EntityId, group, type PluginContext } from "stoa/plugin"
import { GuestChange, GuestOrder, GuestReview, guestReviews } from "./GuestReviews.ts"
import { PublicReview } from "./Review.ts"
import type { ReviewSettings } from "./ReviewRequests.ts"

const routes = group("Reviews", "/reviews")
const common = {
  public: "Guests have the token of their mail in place of a login; it opens the goods of one order.",
  headers: {
    "x-review-token": Schema.optional(
      Schema.String.check(Schema.isMaxLength(200)).annotate({ description: "`token` of the link in the mail." })
    )
  }
} as const
const refused = "404 for a token that is wrong or has ended"

/** Reviews by the link of a mail, without a login. */
export const guestRoutes = (host: PluginContext, settings: ReviewSettings) => {
  const { change, list, submit, withdraw } = guestReviews(host, settings)
  return [
    routes.get("/guest", {
      ...common,
      summary: "List the goods of a guest's order with their reviews",
      description: `${refused}.`,
      success: GuestOrder
    }).handle(({ headers }) => list(headers["x-review-token"])),
    routes.post("/guest", {
      ...common,
      summary: "Review one of the goods of a guest's order",
      description: `It is verified, and shown once a moderator has approved it. ${refused}; 409 for a second review; `
        + "422 for what is not among the delivered goods of the order.",
      input: GuestReview,
      success: PublicReview
    }).handle(({ headers, input }) => submit(headers["x-review-token"], input)),
    routes.patch("/guest/:entityId", {
      ...common,
      summary: "Change a guest's review",
      description: `It waits for a moderator again. ${refused}, or without a review.`,
      params: { entityId: EntityId },
      input: GuestChange,
      success: PublicReview
    }).handle(({ headers, input, params }) => change(headers["x-review-token"], EntityId.make(params.entityId), input)),
    routes.delete("/guest/:entityId", {
      ...common,
      summary: "Withdraw a guest's review",
      description: `${refused}, or without a review.`,
      params: { entityId: EntityId },
      success: PublicReview
    }).handle(({ headers, params }) => withdraw(headers["x-review-token"], EntityId.make(params.entityId)))
  ]
}
