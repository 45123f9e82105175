import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin, type Call } from "../../../../../test/support/TestApp.ts"
import { CurrentActor, systemActor } from "../../../../domain/access/Actor.ts"
import { newId } from "../../../../domain/ids/Id.ts"
import { pluginDatabase } from "../../../kit/tables/PluginDatabaseRepo.ts"
import type { Posting } from "../../ledger/Ledger.ts"
import { post as postTo } from "../../ledger/LedgerRepo.ts"
import { aVendor as aVendorOf, owedTo, type VendorSpec } from "../MarketBuilder.ts"

export const aVendor = (spec: VendorSpec = {}) => aVendorOf({ payoutMinimumCents: 0, ...spec })

/** Entries of the ledger, as the rest of the plugin writes them. */
export const post = (postings: ReadonlyArray<Posting>, organizationId = "org_default") =>
  onDatabase((sql) =>
    postTo(pluginDatabase({ sql, keyring: undefined }, { id: "marketplace", tables: [], events: [] }), postings).pipe(
      Effect.provideService(CurrentActor, systemActor(organizationId))
    )
  )

/** A sub-order to be sold; its commission is a tenth. */
export interface SoldSpec {
  readonly organizationId?: string
  readonly amount?: number
  readonly currency?: string
  /** Days since its money became available; negative: in so many days; null: not delivered. Default 1. */
  readonly availableDaysAgo?: number | null
  readonly onHold?: boolean
  readonly status?: "shipped" | "delivered"
  readonly shippedDaysAgo?: number
}

/** A sub-order whose order was captured, with the entries of its sale; gives its id. */
export const sold = Effect.fnUntraced(function*(vendorId: string, spec: SoldSpec = {}) {
  const { amount = 10_000, currency = "USD", onHold = false, organizationId = "org_default" } = spec
  const days = spec.availableDaysAgo === undefined ? 1 : spec.availableDaysAgo
  const [id, commission] = [newId(), Math.round(amount / 10)]
  const shipped = spec.shippedDaysAgo ?? 9
  yield* onDatabase((sql) =>
    sql`insert into marketplace_vendor_sub_orders (id, organization_id, order_id, vendor_id, currency, status, subtotal,
        commission_amount, payout_amount, shipped_at, created_at, available_at, on_hold)
      values (${id}::uuid, ${organizationId}, ${newId()}::uuid, ${vendorId}::uuid, ${currency},
        ${spec.status ?? (days === null ? "shipped" : "delivered")}, ${amount}, ${commission}, ${amount - commission},
        now() - make_interval(days => ${shipped}), now() - make_interval(days => ${shipped}),
        now() - make_interval(days => ${days}), ${onHold})`
  )
  const common = { vendorId, currency, subOrderId: id, referenceType: "sub_order", referenceId: id } as const
  yield* post([{ ...common, type: "sale", amountCents: amount }, {
    ...common,
    type: "commission",
    amountCents: -commission
  }], organizationId)
  return id
})

/** A customer got all of a sub-order back. */
export const refunded = (vendorId: string, subOrderId: string, amount = 10_000) => {
  const common = { vendorId, currency: "USD", subOrderId, referenceType: "refund", referenceId: newId() } as const
  return post([{ ...common, type: "refund_deduction", amountCents: -amount }, {
    ...common,
    type: "commission_reversal",
    amountCents: Math.round(amount / 10)
  }])
}

export { owedTo as account }

export const balance = (vendorId: string, currency?: string) =>
  Effect.map(owedTo(vendorId, currency), (found) => found.balance)

export const run = (body: unknown = {}, as: Call["as"] = asAdmin) =>
  api("POST", "/api/marketplace/payouts/run", { as, body })

/** What a run has paid to the vendors that it is asked for: `amount currency` each. */
export const paidBy = Effect.fnUntraced(
  function*(body: { readonly vendorIds: ReadonlyArray<string>; force?: boolean }) {
    const answer = yield* run(body)
    return answer.list("data").map((made) => `${Object(made).netAmount} ${Object(made).currency}`)
  }
)

export const payoutsOf = (vendorId: string) =>
  Effect.map(
    api("GET", `/api/marketplace/payouts?vendorId=${vendorId}&limit=100`, { as: asAdmin }),
    (answer) => answer.list("data").map((payout) => Object(payout))
  )

/** The only payout of a vendor. */
export const payoutOf = Effect.fnUntraced(function*(vendorId: string) {
  const [payout, ...others] = yield* payoutsOf(vendorId)
  if (payout === undefined || others.length > 0) throw new Error(`${others.length + 1} payouts of one vendor`)
  return payout
})

/** The adapter is asked again now, and not in a minute. */
export const aMinuteLater = onDatabase((sql) =>
  sql`update marketplace_vendor_payouts set due_at = now(), asked_until = null where status = 'processing'`
)
