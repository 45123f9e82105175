import { Context, DateTime, Effect, Layer } from "effect"
import { invalid, newId, notFound, PluginDatabase } from "stoa/plugin"
import { Ledger } from "../ledger/Ledger.ts"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import { vendors } from "../vendors/VendorTables.ts"
import { manualPayouts } from "./ManualPayouts.ts"
import { amountsOf } from "./PayoutAmounts.ts"
import { departure } from "./PayoutDeparture.ts"
import { type Account, payoutRunRepo } from "./PayoutRunRepo.ts"
import { payouts } from "./PayoutTables.ts"
import { Transfers } from "./Transfers.ts"

class PaidVendorNotFound extends notFound("PaidVendor", (id: string) => `There is no vendor ${id}.`) {}
class VendorNotApproved extends invalid(
  "VendorNotApproved",
  (n: number, _: string) => `vendorIds.${n}`,
  (_: number, status: string) => `is ${status}`
) {}

/** Which vendors are to be paid: all approved ones when none is named. `force`: also less than their minimum. */
export interface RunRequest {
  readonly vendorIds?: ReadonlyArray<string> | undefined
  readonly force?: boolean | undefined
}

/** A payout that a run has made. */
export interface MadePayout {
  readonly vendorId: string
  readonly payoutId: string
  readonly netAmount: number
  readonly currency: string
}

/** Accounts that are paid out at the same time. */
const together = 4

const make = Effect.gen(function*() {
  const db = yield* PluginDatabase
  const { payoutAdapter = manualPayouts } = yield* MarketplaceOptions
  const ledger = yield* Ledger
  const transfers = yield* Transfers
  const repo = payoutRunRepo(db)
  const leave = departure(ledger, repo)

  /** One payout: everything that may go out of an account, behind its lock, so that of several runs one finds it. */
  const payOut = Effect.fn("Payouts.payOut")(function*(account: Account, force: boolean) {
    const payoutId = newId()
    yield* ledger.lock(account.vendorId, account.currency)
    const { periodStart, sums } = yield* repo.take(payoutId, account, force)
    if (sums.length === 0) return []
    const { deductions, gross, net } = amountsOf(sums)
    const now = yield* DateTime.nowAsDate
    yield* db.table(payouts).insert({
      ...account,
      id: payoutId,
      amount: net,
      status: "processing",
      payoutMethod: payoutAdapter.name,
      periodStart,
      periodEnd: now,
      grossAmount: gross,
      deductions,
      netAmount: net,
      dueAt: now
    })
    yield* leave(account, payoutId, net)
    return [{ vendorId: account.vendorId, payoutId, netAmount: net, currency: account.currency }]
  }, (work) => db.transaction(work))

  const payable = Effect.fnUntraced(function*(vendorIds: ReadonlyArray<string>) {
    const known = yield* db.table(vendors).list({ id: { in: vendorIds } }, { limit: vendorIds.length })
    const statuses = new Map(known.map(({ id, status }) => [id, status]))
    for (const [n, id] of vendorIds.entries()) {
      const status = statuses.get(id)
      if (status === undefined) return yield* new PaidVendorNotFound(id)
      if (status !== "approved") return yield* new VendorNotApproved(n, status)
    }
  })

  /**
   * Pays out what is due, an account at a time, and starts the transfers. Runs may be concurrent or repeated after a
   * crash: an entry of the ledger goes out once. 404 for an unknown vendor, 422 for one that is not approved.
   */
  const run = Effect.fn("Payouts.run")(function*({ force = false, vendorIds }: RunRequest) {
    if (vendorIds !== undefined) yield* payable(vendorIds)
    const accounts = yield* repo.accounts(vendorIds, force)
    const made = yield* Effect.forEach(accounts, (account) => payOut(account, force), { concurrency: together })
    yield* transfers.promptly(made.flat().map(({ payoutId }) => payoutId))
    return made.flat()
  })

  return { run }
})

/** Runs of payouts (contract, plugins §1.5); the organization is the actor's. */
export class PayoutRuns extends Context.Service<PayoutRuns>()("stoa/plugins/marketplace/payouts/PayoutRuns", {
  make
}) {
  static readonly layer = Layer.effect(PayoutRuns, PayoutRuns.make)
}
