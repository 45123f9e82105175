import { DateTime, Effect, Schema } from "effect"
import {
  about,
  conflict,
  FreeText,
  group,
  invalid,
  listOf,
  MinorUnits,
  newId,
  notFound,
  resource,
  Text,
  Uuid
} from "stoa/plugin"
import type { Account } from "../ledger/Ledger.ts"
import { lockAccount, post } from "../ledger/LedgerRepo.ts"
import { inTransaction, Market, permission } from "../Market.ts"
import { portal } from "../parties/VendorPortal.ts"
import { ofOwnVendor } from "../parties/VendorRows.ts"
import { vendors } from "../vendors/Vendor.ts"
import { amountsOf, payout, payouts } from "./Payout.ts"
import { manualPayouts } from "./PayoutAdapter.ts"
import { completePayout, failPayout, lockPayout } from "./PayoutEnds.ts"
import { periodsAt } from "./PayoutPeriods.ts"
import { eligibleAmount, notePeriod, payableAccounts, takeEntries, takeReversal, vendorsDue } from "./PayoutRunRepo.ts"
import { transferNow } from "./Transfers.ts"

class PaidVendorNotFound extends notFound("PaidVendor", (id: string) => `There is no vendor ${id}.`) {}
class VendorNotApproved extends invalid(
  "VendorNotApproved",
  (n: number, _: string) => `vendorIds.${n}`,
  (n: number, status: string) => `vendorIds.${n} must be an approved vendor: this one is ${status}.`
) {}

class OwedLess
  extends conflict("OwedLess", "The vendor is owed less than this payout by now. The next run pays what is due.")
{}
class MoneyLeft extends conflict("MoneyLeft", "The money of this payout has left with another one.") {}

/** Which vendors are to be paid: all approved ones when none is named. */
const RunRequest = Schema.Struct({
  vendorIds: Schema.optional(Schema.Array(Uuid).check(Schema.isMaxLength(1_000))),
  force: Schema.optional(Schema.Boolean).pipe(about("Pays also less than the minimum of a vendor."))
})

/** Accounts that are paid out at the same time. */
const together = 4

/** Takes `amount` off an account by an entry of the ledger that belongs to the payout; in the caller's transaction. */
const leave = Effect.fnUntraced(function*({ currency, vendorId }: Account, payoutId: string, amount: number) {
  const { db } = yield* Market
  const reference = { referenceType: "payout", referenceId: payoutId } as const
  yield* db.use(post)([{ ...reference, vendorId, currency, type: "payout", amountCents: -amount, payoutId }])
})

/** One payout: everything that may go out of an account, behind its lock, so that of several runs one finds it. */
const payOut = Effect.fn("Payouts.payOut")(function*(account: Account, force: boolean) {
  const { db, settings: { payoutAdapter = manualPayouts } } = yield* Market
  const payoutId = newId()
  yield* db.use(lockAccount)(account)
  const { periodStart, sums } = yield* db.use(takeEntries)(payoutId, account, force)
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
}, (work) => inTransaction(work))

const payable = Effect.fnUntraced(function*(vendorIds: ReadonlyArray<string>) {
  const { db } = yield* Market
  const known = yield* db.table(vendors).list({ id: { in: vendorIds } })
  const statuses = new Map(known.map(({ id, status }) => [id, status]))
  for (const [n, id] of vendorIds.entries()) {
    const status = statuses.get(id)
    if (status === undefined) return yield* new PaidVendorNotFound(id)
    if (status !== "approved") return yield* new VendorNotApproved(n, status)
  }
})

/**
 * Pays out what is due (contract, plugins §1.5), an account at a time, and starts the transfers. Runs may be concurrent or
 * repeated after a crash: an entry of the ledger goes out once. 404 for an unknown vendor, 422 for one that is not approved.
 */
const runPayouts = Effect.fn("Payouts.run")(function*({ force = false, vendorIds }: typeof RunRequest.Type) {
  const { db } = yield* Market
  if (vendorIds !== undefined) yield* payable(vendorIds)
  const accounts = yield* db.use(payableAccounts)(vendorIds, force)
  const made = yield* Effect.forEach(accounts, (account) => payOut(account, force), { concurrency: together })
  yield* transferNow(made.flat().map(({ payoutId }) => payoutId))
  return made.flat()
})

/**
 * Pays vendors of the organization that are due by their schedules (contract, plugins §1.8); returns the number of payouts.
 * The note comes last: after a crash before it the same vendors are processed again, and paid once.
 */
export const runScheduled = Effect.gen(function*() {
  const { db } = yield* Market
  const periods = periodsAt(yield* DateTime.nowAsDate)
  const vendorIds = yield* db.use(vendorsDue)(periods)
  if (vendorIds.length === 0) return 0
  // A vendor that was suspended a moment ago is an error of the whole call; the next tick leaves it out.
  const made = yield* Effect.orElseSucceed(runPayouts({ vendorIds }), () => undefined)
  if (made === undefined) return 0
  yield* db.use(notePeriod)(vendorIds, periods)
  return made.length
}).pipe(Effect.withSpan("Payouts.runScheduled"))

/** A failed payout goes out again for the money it gave back, unless that is gone or no longer the vendor's. */
const again = Effect.fnUntraced(function*(id: string) {
  const { db } = yield* Market
  const { currency, netAmount, retryCount, vendorId } = yield* lockPayout("retry", id)
  const account = { vendorId, currency }
  if ((yield* db.use(eligibleAmount)(account)) < netAmount) return yield* new OwedLess()
  if (!(yield* db.use(takeReversal)(id, account))) return yield* new MoneyLeft()
  yield* db.use(payout).move("retry", id, {
    retryCount: retryCount + 1,
    failedAt: null,
    failureReason: null,
    attempts: 0,
    dueAt: yield* DateTime.nowAsDate
  })
  yield* leave(account, id, netAmount)
}, (work) => inTransaction(work))

/** Sends a failed payout again; 422 unless it has failed, 409 when its money is gone. */
const retryPayout = Effect.fn("Payouts.retry")(function*(id: string) {
  yield* again(id)
  yield* transferNow([id])
  return yield* (yield* Market).db.table(payouts).get(id)
})

const g = group("Marketplace payouts", "/marketplace")
const admin = { permission, success: payouts.Row }

export const payoutRoutes = [
  ...resource(g, "/payouts", payouts, { noun: "payout", read: permission, filters: ["vendorId", "status"] }),
  g.post("/payouts/run", {
    summary: "Pay vendors",
    description:
      "Pays out what is due to the named vendors, or to all approved ones. `force`: also less than their minimum.",
    permission,
    input: Schema.NullOr(RunRequest),
    success: Schema.Array(
      Schema.Struct({ vendorId: Uuid, payoutId: Uuid, netAmount: MinorUnits, currency: Schema.String })
    )
  }).handle(({ input }) => runPayouts(input ?? {})),
  g.post("/payouts/:id/retry", { ...admin, summary: "Send a failed payout again" })
    .handle(({ params }) => retryPayout(params.id)),
  g.post("/payouts/:id/complete", {
    ...admin,
    summary: "Mark a payout as completed",
    input: Schema.Struct({ reference: Text.pipe(about("Number of the transfer at the bank or provider.")) })
  }).handle(({ input, params }) => completePayout(params.id, input.reference)),
  g.post("/payouts/:id/fail", {
    ...admin,
    summary: "Mark a payout as failed",
    description: "The amount is part of the vendor's balance again.",
    input: Schema.Struct({ reason: FreeText.check(Schema.isBetweenLength(1, 2_000)) })
  }).handle(({ input, params }) => failPayout(params.id, input.reason)),
  listOf(g, "/vendor/me/payouts", payouts, {
    ...portal,
    summary: "List own payouts",
    filters: ["status"],
    visible: ofOwnVendor
  })
]
