import { Effect } from "effect"
import { expectStatuses } from "../Askers.ts"
import { aDispute } from "../SaleBuilder.ts"
import { withMarketplace } from "../VendorShop.ts"

const onlyAdmins = [401, 403, 403, 403, 403, 403, 201, 404] as const

withMarketplace()(
  "disputes, by who asks",
  (it) => {
    it.effect("are opened by the buyer alone", () =>
      expectStatuses(
        [401, 201, 404, 403, 404, 404, 403, 404],
        ({ subOrderId }) =>
          Effect.succeed({ method: "POST", path: "/disputes", body: { subOrderId, reason: "defective" } })
      ))

    it.effect("are read by the buyer, the vendor and operators", () =>
      expectStatuses(
        [401, 200, 404, 200, 404, 404, 200, 404],
        (sale) => Effect.map(aDispute(sale), (id) => ({ method: "GET", path: `/disputes/${id}` }))
      ))

    it.effect("are listed for everybody who is known", () =>
      expectStatuses(
        [401, 200, 200, 200, 200, 200, 200, 200],
        (sale) => Effect.as(aDispute(sale), { method: "GET", path: `/disputes?subOrderId=${sale.subOrderId}` })
      ))

    it.effect("are answered by the buyer, the vendor and operators", () =>
      expectStatuses(
        [401, 201, 404, 201, 404, 404, 201, 404],
        (sale) =>
          Effect.map(
            aDispute(sale),
            (id) => ({ method: "POST", path: `/disputes/${id}/respond`, body: { note: "So." } })
          )
      ))

    it.effect("are escalated by operators", () =>
      expectStatuses(
        onlyAdmins,
        (sale) => Effect.map(aDispute(sale), (id) => ({ method: "POST", path: `/disputes/${id}/escalate` }))
      ))

    it.effect("are resolved by operators", () =>
      expectStatuses(onlyAdmins, (sale) =>
        Effect.map(aDispute(sale), (id) => ({
          method: "POST",
          path: `/disputes/${id}/resolve`,
          body: { resolution: "rejected" }
        }))))
  }
)
