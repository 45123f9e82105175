import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { asAdmin, asCustomer, asStaff, inOrganization } from "../../../../test/support/TestApp.ts"
import { asVendor, send, statusOf } from "./Calls.ts"
import { aVendor } from "./Goods.ts"
import { market } from "./Market.ts"
import { aDispute, aReturn, aReview, aSale, type Sale } from "./Sales.ts"

/** Statuses of one request, each about a new sale, as a visitor, the buyer, another customer, the vendor … */
type Statuses = readonly [number, number, number, number, number, number, number, number]

/** … another vendor, staff, the administrator, and the one of another store. */
const actors = [
  () => Effect.undefined,
  ({ buyer }: Sale) => Effect.succeed(buyer),
  () => Effect.succeed(asCustomer("somebody-else")),
  ({ vendor }: Sale) => Effect.succeed(vendor),
  () => Effect.map(aVendor(), (vendorId) => asVendor(vendorId)),
  () => Effect.succeed(asStaff),
  () => Effect.succeed(asAdmin),
  () => Effect.succeed(inOrganization("org_of_others", asAdmin))
]

const buyer: Statuses = [401, 201, 404, 403, 404, 404, 403, 404]
const parties: Statuses = [401, 200, 404, 200, 404, 404, 200, 404]
const itsVendor: Statuses = [401, 403, 403, 201, 404, 403, 403, 403]
/** Nothing can be done any more with what was delivered. */
const ended: Statuses = [401, 403, 403, 422, 404, 403, 403, 403]
const sellers: Statuses = [401, 403, 404, 201, 404, 404, 201, 404]
const judges: Statuses = [401, 403, 403, 403, 403, 403, 201, 404]
const moderators: Statuses = [401, 403, 403, 403, 403, 403, 200, 404]

/** The record that a request is about: its id takes the place of `:id`, the vendor's that of `:vendor`. */
const records = {
  sale: ({ subOrderId }: Sale) => Effect.succeed(subOrderId),
  return: (sale: Sale) => aReturn(sale),
  "approved return": (sale: Sale) => aReturn(sale, "vendor_approved"),
  "sent return": (sale: Sale) => aReturn(sale, "shipped_back"),
  "received return": (sale: Sale) => aReturn(sale, "received"),
  dispute: (sale: Sale) => aDispute(sale),
  review: (sale: Sale) => aReview(sale)
}

const about = ({ orderId, subOrderId }: Sale) => ({ subOrderId, reason: "defective", rating: 4, orderId })

const requests: ReadonlyArray<
  readonly [statuses: Statuses, record: keyof typeof records, route: string, body?: object | typeof about]
> = [
  [buyer, "sale", "POST /returns", about],
  [parties, "return", "GET /returns/:id"],
  [itsVendor, "return", "POST /vendor/me/returns/:id/approve", {}],
  [itsVendor, "return", "POST /vendor/me/returns/:id/reject", {}],
  [buyer, "approved return", "POST /returns/:id/ship-back", { trackingNumber: "1Z" }],
  [sellers, "sent return", "POST /returns/:id/receive"],
  [sellers, "received return", "POST /returns/:id/refund"],
  ...["confirm", "process", "ship", "deliver", "cancel"].map((step) =>
    [ended, "sale", `POST /vendor/me/orders/:id/${step}`, { reason: "None left.", trackingNumber: "1Z" }] as const
  ),
  [[401, 403, 403, 200, 404, 403, 403, 403], "sale", "GET /vendor/me/orders/:id"],
  [buyer, "sale", "POST /disputes", about],
  [parties, "dispute", "GET /disputes/:id"],
  [[401, 201, 404, 201, 404, 404, 201, 404], "dispute", "POST /disputes/:id/respond", { note: "So." }],
  [judges, "dispute", "POST /disputes/:id/escalate"],
  [judges, "dispute", "POST /disputes/:id/resolve", { resolution: "rejected" }],
  [[401, 201, 404, 404, 404, 404, 404, 404], "sale", "POST /vendors/:vendor/reviews", about],
  [[401, 200, 200, 200, 200, 200, 200, 404], "review", "GET /vendors/:vendor/reviews"],
  [moderators, "review", "PATCH /reviews/:id", { status: "hidden" }],
  [moderators, "review", "PATCH /vendors/:vendor/reviews/:id", { status: "hidden" }],
  [itsVendor, "review", "POST /vendor/me/reviews/:id/respond", { response: "Thank you." }]
]

market()("records of the marketplace, by actor:", (test) => {
  for (const [statuses, record, route, body] of requests) {
    test(`${route} of a ${record}`, function*() {
      const found = yield* Effect.forEach(actors, (actor) =>
        Effect.gen(function*() {
          const sale = yield* aSale()
          const path = route.replace(":id", yield* records[record](sale)).replace(":vendor", sale.vendorId)
          return yield* statusOf(send(yield* actor(sale), path, body === about ? about(sale) : body))
        }), { concurrency: 4 })
      assert.deepStrictEqual(found, [...statuses])
    })
  }
})
