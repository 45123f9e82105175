import { Effect, Schema } from "effect"
import { about, CurrencyCode, FreeText, group, listOf, MinorUnits } from "stoa/plugin"
import { inTransaction, Market, permission } from "../Market.ts"
import { ownVendor, portal } from "../parties/VendorPortal.ts"
import { ofVendor } from "../parties/VendorRows.ts"
import { vendors } from "../vendors/Vendor.ts"
import { balancesOf, CurrencyBalance } from "./BalanceRepo.ts"
import { adjustments, ledgerEntries } from "./Ledger.ts"
import { post } from "./LedgerRepo.ts"

/** More than anybody adjusts, so that sums stay far from what a number can count. */
const most = 100_000_000_000

const NewAdjustment = Schema.Struct({
  amountCents: MinorUnits.check(
    Schema.isBetween({ minimum: -most, maximum: most }),
    Schema.makeFilter((amount: number) => amount !== 0 || "must not be 0.")
  ).annotate({ description: "Signed, minor units." }),
  currency: CurrencyCode,
  reason: FreeText.check(Schema.isBetweenLength(1, 2_000))
})

/**
 * Money that operators give vendors or take from them beside sales (contract, plugins §1.1), with its entry of the ledger in
 * one transaction, so that a repeat under the same Idempotency-Key after a lost response makes no second one. It waits for no
 * delivery: the next payout has it, and what an account falls below zero by is carried until later sales have paid for it.
 * 404 for an unknown vendor.
 */
const adjust = Effect.fn("Adjustments.make")(function*(vendorId: string, adjustment: typeof NewAdjustment.Type) {
  const { db } = yield* Market
  yield* db.table(vendors).get(vendorId)
  const made = yield* db.table(adjustments).insert({ ...adjustment, vendorId })
  yield* db.use(post)([{
    vendorId,
    currency: made.currency,
    type: "adjustment",
    amountCents: made.amountCents,
    referenceType: "adjustment",
    referenceId: made.id,
    description: made.reason
  }])
  return made
}, (work) => inTransaction(work))

const newest = 50

/** What a vendor is owed, in the default currency of the deployment and by currency, and the newest entries. 404. */
const balanceOf = Effect.fn("Balances.of")(function*(vendorId: string) {
  const { db, host } = yield* Market
  const [, balances, ledger] = yield* Effect.all([
    db.table(vendors).get(vendorId),
    db.use(balancesOf)(vendorId),
    db.table(ledgerEntries).list({ vendorId }, { limit: newest, order: ["-createdAt", "-entryNumber"] })
  ], { concurrency: "unbounded" })
  const own = balances.find(({ currency }) => currency === host.config.defaultCurrency)
  return { balanceCents: own?.balanceCents ?? 0, ledger, balances }
})

const Balance = Schema.Struct({
  balanceCents: MinorUnits,
  ledger: Schema.Array(ledgerEntries.Row).pipe(about("The newest entries.")),
  balances: Schema.Array(CurrencyBalance).pipe(about("Balance in each currency."))
})

const g = group("Marketplace payouts", "/marketplace")

/** What vendors are owed (contract, plugins §1.6). */
export const ledgerRoutes = [
  g.get("/vendors/:id/balance", {
    summary: "Get the balance of a vendor",
    description: "What the vendor is owed, by currency, and the newest 50 entries of its ledger.",
    permission,
    success: Balance
  }).handle(({ params }) => balanceOf(params.id)),
  g.get("/vendor/me/balance", { summary: "Get the own balance", ...portal, success: Balance })
    .handle(({ actor }) => balanceOf(ownVendor(actor))),
  g.post("/vendors/:id/adjustments", {
    summary: "Adjust the balance of a vendor",
    description: "Part of the next payout; a negative balance is carried.",
    permission,
    input: NewAdjustment,
    success: adjustments.Row
  }).handle(({ input, params }) => adjust(params.id, input)),
  listOf(g, "/vendors/:id/adjustments", adjustments, {
    summary: "List adjustments of a vendor",
    permission,
    visible: ofVendor
  })
]
