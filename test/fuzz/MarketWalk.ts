import { Effect } from "effect"
import { aVendor } from "../../src/plugins/marketplace/test/Goods.ts"
import { aReturn, aReview, aSale, type Sale } from "../../src/plugins/marketplace/test/Sales.ts"
import { signIn } from "../access/People.ts"
import { api } from "../support/TestApp.ts"
import type { Store } from "../tenancy/Stores.ts"

const root = "/api/marketplace"
const me = `${root}/vendor/me`

/** Makes vendors and everything about them that does not begin with a sale. */
const vendorWalk = Effect.fnUntraced(function*({ as, entity }: Store, organization: string) {
  const made = yield* api("POST", `${root}/vendors`, { as, body: { name: "Acme" } })
  const path = `${root}/vendors/${made.text("data.id")}`
  const post = (rest: string, body?: object) => api("POST", `${path}${rest}`, { as, ...body && { body } })
  const turnedDown = yield* api("POST", `${root}/vendors`, { as, body: { name: "Other" } })
  yield* api("POST", `${root}/vendors/${turnedDown.text("data.id")}/reject`, { as, body: { reason: "No." } })
  yield* post("/approve")
  yield* post("/suspend", { reason: "Nothing arrives." })
  yield* post("/reinstate")
  yield* post("/products", { entityId: entity })
  const person = yield* signIn({ active: organization })
  yield* api("GET", "/api/me/profile", { headers: person.bearer })
  const member = yield* post("/members", { userId: person.userId, role: "viewer" })
  yield* api("PATCH", `${path}/members/${member.at("data.id")}`, { as, body: { role: "staff" } })
  yield* api("DELETE", `${path}/members/${member.at("data.id")}`, { as })
  const document = yield* post("/documents", { type: "identity", fileUrl: "https://files.invalid/a.pdf" })
  yield* post(`/documents/${document.at("data.id")}/approve`, {})
  const second = yield* post("/documents", { type: "other", fileUrl: "https://files.invalid/b.pdf" })
  yield* post(`/documents/${second.at("data.id")}/reject`, { notes: "Blurred." })
  for (const rest of ["", "/products", "/members", "/documents", "/adjustments"]) {
    yield* api("GET", `${path}${rest}`, { as })
  }
  yield* api("PATCH", path, { as, body: { tier: "gold" } })
  yield* api("DELETE", `${path}/products/${entity}`, { as })
  const asked = { vendorId: made.text("data.id"), volumeCents: 1_000 }
  yield* api("POST", `${root}/commission-rules/preview`, { as, body: asked })
  const rule = yield* api("POST", `${root}/commission-rules`, {
    as,
    body: { name: "Tier", type: "vendor_tier", rateBps: 500, vendorTier: "gold" }
  })
  yield* api("PATCH", `${root}/commission-rules/${rule.at("data.id")}`, { as, body: { rateBps: 600 } })
  yield* api("DELETE", `${root}/commission-rules/${rule.at("data.id")}`, { as })
})

/** What a vendor does in its portal. */
const portalWalk = Effect.fnUntraced(function*({ vendor: as }: Sale) {
  const lists = ["", "/products", "/members", "/documents", "/orders", "/balance", "/payouts", "/returns", "/reviews"]
  for (const rest of [...lists, "/analytics"]) yield* api("GET", `${me}${rest}`, { as })
  yield* api("PATCH", me, { as, body: { description: "We sell." } })
  yield* api("POST", `${me}/documents`, { as, body: { type: "identity", fileUrl: "https://files.invalid/a.pdf" } })
})

/** A sub-order of a thing in the catalog that its vendor hands over. */
const aHandover = Effect.fnUntraced(function*({ as }: Pick<Store, "as">, within: string, slug: string) {
  const made = yield* api("POST", "/api/catalog/entities", { as, body: { type: "product", slug } })
  const lines = [{ entityId: made.text("data.id"), quantity: 2 }]
  const sale = yield* aSale({ within, status: "pending", onHand: 50, lines })
  const steps = [["confirm"], ["process"], ["ship", { trackingNumber: "T-1" }], ["deliver"]] as const
  for (const [name, body] of steps) {
    yield* api("POST", `${me}/orders/${sale.subOrderId}/${name}`, { as: sale.vendor, ...body && { body } })
  }
  return sale
})

/** Sub-orders on their way: one that arrives, one that its vendor cancels, one that staff cancels. */
const subOrderWalk = Effect.fnUntraced(function*(store: Store, organizationId: string) {
  const [sent, dropped, stopped] = yield* Effect.all([
    aHandover(store, organizationId, "handed-over"),
    aSale({ within: organizationId, status: "pending", onHand: 50 }),
    aSale({ within: organizationId, status: "pending", onHand: 50 })
  ])
  yield* api("GET", `${me}/orders/${sent.subOrderId}`, { as: sent.vendor })
  yield* api("POST", `${me}/orders/${dropped.subOrderId}/cancel`, { as: dropped.vendor, body: { reason: "Sold out." } })
  yield* api("GET", `${root}/sub-orders/${stopped.subOrderId}`, { as: store.as })
  const body = { status: "cancelled", reason: "Lost." }
  yield* api("PATCH", `${root}/sub-orders/${stopped.subOrderId}/status`, { as: store.as, body })
  return sent
})

/** Disputes and returns from their opening to their end, as buyer, vendor and staff. */
const claimWalk = Effect.fnUntraced(function*({ as }: Store, organizationId: string) {
  const delivered = () => aSale({ within: organizationId, status: "delivered", shippedDaysAgo: 2, onHand: 50 })
  const sale = yield* delivered()
  const { buyer, subOrderId, vendor } = sale
  const opened = yield* api("POST", `${root}/disputes`, { as: buyer, body: { subOrderId, reason: "defective" } })
  const dispute = `${root}/disputes/${opened.at("data.id")}`
  yield* api("GET", dispute, { as: buyer })
  yield* api("POST", `${dispute}/respond`, { as: vendor, body: { note: "It was fine." } })
  yield* api("POST", `${dispute}/escalate`, { as })
  yield* api("POST", `${dispute}/resolve`, { as, body: { resolution: "vendor_favor" } })

  const other = yield* aHandover({ as }, organizationId, "sent-back")
  const lineItems = other.lines.slice(0, 1).map(({ entityId }) => ({ entityId, quantity: 1 }))
  const asked = { subOrderId: other.subOrderId, reason: "defective", lineItems }
  const requested = yield* api("POST", `${root}/returns`, { as: other.buyer, body: asked })
  const path = `${root}/returns/${requested.at("data.id")}`
  yield* api("GET", path, { as: other.buyer })
  const approval = { as: other.vendor, body: {} }
  yield* api("POST", `${me}/returns/${requested.at("data.id")}/approve`, approval)
  yield* api("POST", `${path}/ship-back`, { as: other.buyer, body: { trackingNumber: "T-2" } })
  yield* api("POST", `${path}/receive`, { as: other.vendor })
  yield* api("POST", `${path}/refund`, { as })
  const third = yield* delivered()
  const refused = yield* aReturn(third)
  yield* api("POST", `${me}/returns/${refused}/reject`, { as: third.vendor, body: { notes: "Worn." } })
  return sale
})

const reviewWalk = Effect.fnUntraced(function*({ as }: Store, sale: Sale, organizationId: string) {
  const reviews = `${root}/vendors/${sale.vendorId}/reviews`
  yield* api("POST", reviews, { as: sale.buyer, body: { rating: 4, orderId: sale.orderId } })
  const other = yield* aSale({ within: organizationId, vendorId: sale.vendorId })
  const review = yield* aReview(other)
  yield* api("GET", reviews, { as })
  yield* api("POST", `${me}/reviews/${review}/respond`, { as: sale.vendor, body: { response: "Thank you." } })
  yield* api("PATCH", `${root}/reviews/${review}`, { as, body: { status: "hidden" } })
  yield* api("PATCH", `${reviews}/${review}`, { as, body: { status: "published" } })
  yield* api("GET", `${root}/vendors/${sale.vendorId}/performance`, { as })
})

/** Money that goes to vendors: one payout that arrives, and one that fails and is sent again. */
const payoutWalk = Effect.fnUntraced(function*({ as }: Store, organizationId: string) {
  const ends = [["complete", { reference: "R-1" }], ["fail", { reason: "No such account." }]] as const
  for (const [end, body] of ends) {
    const vendorId = yield* aVendor({ within: organizationId })
    const credit = { amountCents: 5_000, currency: "USD", reason: "Credit." }
    yield* api("POST", `${root}/vendors/${vendorId}/adjustments`, { as, body: credit })
    yield* api("GET", `${root}/vendors/${vendorId}/balance`, { as })
    yield* api("POST", `${root}/payouts/run`, { as, body: { vendorIds: [vendorId], force: true } })
    const found = yield* api("GET", `${root}/payouts?vendorId=${vendorId}`, { as })
    const payout = `${root}/payouts/${found.at("data.0.id")}`
    yield* api("GET", payout, { as })
    yield* api("POST", `${payout}/${end}`, { as, body })
    if (end === "fail") yield* api("POST", `${payout}/retry`, { as })
  }
})

/** Everything that can be done in the marketplace of a store; gives a sale, whose vendor and buyer may go on. */
export const marketWalk = Effect.fnUntraced(function*(store: Store, organization: string) {
  yield* vendorWalk(store, organization)
  for (const list of ["vendors", "commission-rules", "sub-orders", "disputes", "returns"]) {
    yield* api("GET", `${root}/${list}`, { as: store.as })
  }
  const sent = yield* subOrderWalk(store, organization)
  yield* portalWalk(sent)
  yield* reviewWalk(store, yield* claimWalk(store, organization), organization)
  yield* payoutWalk(store, organization)
  return sent
})
