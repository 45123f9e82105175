import { Effect } from "effect"
import { expectStatuses } from "../Askers.ts"
import { aReturn } from "../SaleBuilder.ts"
import { withMarketplace } from "../VendorShop.ts"

const sellers = [401, 403, 404, 201, 404, 404, 201, 404] as const
const itsVendor = [401, 403, 403, 201, 404, 403, 403, 403] as const

withMarketplace()(
  "returns, by who asks",
  (it) => {
    it.effect("are asked for by the buyer alone", () =>
      expectStatuses(
        [401, 201, 404, 403, 404, 404, 403, 404],
        ({ subOrderId }) =>
          Effect.succeed({ method: "POST", path: "/returns", body: { subOrderId, reason: "changed_mind" } })
      ))

    it.effect("are read by the buyer, the vendor and operators", () =>
      expectStatuses(
        [401, 200, 404, 200, 404, 404, 200, 404],
        (sale) => Effect.map(aReturn(sale), (id) => ({ method: "GET", path: `/returns/${id}` }))
      ))

    it.effect("are listed for everybody who is known", () =>
      expectStatuses(
        [401, 200, 200, 200, 200, 200, 200, 200],
        (sale) => Effect.as(aReturn(sale), { method: "GET", path: "/returns" })
      ))

    it.effect("are listed in the portal for vendors", () =>
      expectStatuses(
        [401, 403, 403, 200, 200, 403, 403, 403],
        (sale) => Effect.as(aReturn(sale), { method: "GET", path: "/vendor/me/returns" })
      ))

    it.effect("are approved by their vendor", () =>
      expectStatuses(
        itsVendor,
        (sale) =>
          Effect.map(aReturn(sale), (id) => ({ method: "POST", path: `/vendor/me/returns/${id}/approve`, body: {} }))
      ))

    it.effect("are rejected by their vendor", () =>
      expectStatuses(
        itsVendor,
        (sale) =>
          Effect.map(aReturn(sale), (id) => ({ method: "POST", path: `/vendor/me/returns/${id}/reject`, body: {} }))
      ))

    it.effect("are shipped by the buyer alone", () =>
      expectStatuses(
        [401, 201, 404, 403, 404, 404, 403, 404],
        (sale) =>
          Effect.map(aReturn(sale, "vendor_approved"), (id) => ({
            method: "POST",
            path: `/returns/${id}/ship-back`,
            body: { trackingNumber: "1Z" }
          }))
      ))

    it.effect("are received by the vendor and operators", () =>
      expectStatuses(
        sellers,
        (sale) =>
          Effect.map(aReturn(sale, "shipped_back"), (id) => ({ method: "POST", path: `/returns/${id}/receive` }))
      ))

    it.effect("are refunded by the vendor and operators", () =>
      expectStatuses(
        sellers,
        (sale) => Effect.map(aReturn(sale, "received"), (id) => ({ method: "POST", path: `/returns/${id}/refund` }))
      ))
  }
)
