import { Effect } from "effect"
import { type Asked, expectStatuses, type Statuses } from "./Askers.ts"
import { aReview } from "./ReviewBuilder.ts"
import { aDispute, aReturn, type Sale } from "./SaleBuilder.ts"
import { withMarketplace } from "./VendorShop.ts"

/** A request about a new record of a sale. */
type About<R> = (sale: Sale) => Effect.Effect<Asked, never, R>

const about =
  <E, R>(record: (sale: Sale) => Effect.Effect<string, E, R>) =>
  (method: string, pathOf: (id: string, sale: Sale) => string, body?: unknown): About<R> =>
  (sale) => Effect.orDie(Effect.map(record(sale), (id) => ({ method, path: pathOf(id, sale), body })))

const send = (method: string, path: string, body: unknown) => Effect.succeed({ method, path, body })

const aboutReturn = (status?: string) => about((sale) => aReturn(sale, status))
const aboutDispute = about((sale) => aDispute(sale))
const aboutReview = about((sale) => aReview(sale))

const buyer: Statuses = [401, 201, 404, 403, 404, 404, 403, 404]
const parties: Statuses = [401, 200, 404, 200, 404, 404, 200, 404]
const itsVendor: Statuses = [401, 403, 403, 201, 404, 403, 403, 403]
const sellers: Statuses = [401, 403, 404, 201, 404, 404, 201, 404]
const judges: Statuses = [401, 403, 403, 403, 403, 403, 201, 404]
const moderators: Statuses = [401, 403, 403, 403, 403, 403, 200, 404]

const requests: ReadonlyArray<
  readonly [what: string, statuses: Statuses, request: About<Effect.Services<ReturnType<typeof aReturn>>>]
> = [
  [
    "the buyer alone requests a return",
    buyer,
    ({ subOrderId }) => send("POST", "/returns", { subOrderId, reason: "changed_mind" })
  ],
  ["the parties and operators read a return", parties, aboutReturn()("GET", (id) => `/returns/${id}`)],
  [
    "its vendor approves a return",
    itsVendor,
    aboutReturn()("POST", (id) => `/vendor/me/returns/${id}/approve`, {})
  ],
  ["its vendor rejects a return", itsVendor, aboutReturn()("POST", (id) => `/vendor/me/returns/${id}/reject`, {})],
  [
    "the buyer alone ships a return",
    buyer,
    aboutReturn("vendor_approved")("POST", (id) => `/returns/${id}/ship-back`, { trackingNumber: "1Z" })
  ],
  [
    "the vendor and operators receive a return",
    sellers,
    aboutReturn("shipped_back")("POST", (id) => `/returns/${id}/receive`)
  ],
  [
    "the vendor and operators refund a return",
    sellers,
    aboutReturn("received")("POST", (id) => `/returns/${id}/refund`)
  ],
  [
    "the buyer alone opens a dispute",
    buyer,
    ({ subOrderId }) => send("POST", "/disputes", { subOrderId, reason: "defective" })
  ],
  ["the parties and operators read a dispute", parties, aboutDispute("GET", (id) => `/disputes/${id}`)],
  [
    "the parties and operators respond to a dispute",
    [401, 201, 404, 201, 404, 404, 201, 404],
    aboutDispute("POST", (id) => `/disputes/${id}/respond`, { note: "So." })
  ],
  ["operators escalate a dispute", judges, aboutDispute("POST", (id) => `/disputes/${id}/escalate`)],
  [
    "operators resolve a dispute",
    judges,
    aboutDispute("POST", (id) => `/disputes/${id}/resolve`, { resolution: "rejected" })
  ],
  [
    "the buyer alone writes a review",
    [401, 201, 404, 404, 404, 404, 404, 404],
    ({ orderId, vendorId }) => send("POST", `/vendors/${vendorId}/reviews`, { rating: 4, orderId })
  ],
  [
    "all who are signed in read reviews",
    [401, 200, 200, 200, 200, 200, 200, 404],
    aboutReview("GET", (_, sale) => `/vendors/${sale.vendorId}/reviews`)
  ],
  [
    "operators moderate a review by its id",
    moderators,
    aboutReview("PATCH", (id) => `/reviews/${id}`, { status: "hidden" })
  ],
  [
    "operators moderate a review of a vendor",
    moderators,
    aboutReview("PATCH", (id, sale) => `/vendors/${sale.vendorId}/reviews/${id}`, { status: "hidden" })
  ],
  [
    "its vendor answers a review",
    itsVendor,
    aboutReview("POST", (id) => `/vendor/me/reviews/${id}/respond`, { response: "Thank you." })
  ]
]

withMarketplace()("records of the marketplace, by actor", (it) => {
  for (const [what, statuses, request] of requests) it.effect(what, () => expectStatuses(statuses, request))
})
