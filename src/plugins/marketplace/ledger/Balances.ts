import { Context, Effect, Layer } from "effect"
import { PluginDatabase, PluginHost, type RowOf } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"
import { balanceRepo, type CurrencyBalance } from "./BalanceRepo.ts"
import { ledgerEntries } from "./LedgerTables.ts"

/** What a vendor is owed (contract, plugins §1.6). */
export interface VendorBalance {
  /** In the default currency of the deployment. */
  readonly balanceCents: number
  /** The newest 50. */
  readonly ledger: ReadonlyArray<RowOf<typeof ledgerEntries>>
  readonly balances: ReadonlyArray<CurrencyBalance>
}

const newest = 50

/** Balances of vendors, for themselves and for operators. */
export class Balances extends Context.Service<Balances>()("stoa/plugins/marketplace/ledger/Balances", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const { config } = yield* PluginHost
    const repo = balanceRepo(db)
    /** 404 for a vendor that the organization does not have. */
    const of = Effect.fn("Balances.of")(function*(vendorId: string) {
      const [, balances, ledger] = yield* Effect.all([
        db.table(vendors).get(vendorId),
        repo.ofVendor(vendorId),
        db.table(ledgerEntries).list({ vendorId }, { limit: newest, order: ["-createdAt", "-entryNumber"] })
      ], { concurrency: "unbounded" })
      const own = balances.find(({ currency }) => currency === config.defaultCurrency)
      return { balanceCents: own?.balanceCents ?? 0, ledger, balances }
    })
    return { of }
  })
}) {
  static readonly layer = Layer.effect(Balances, Balances.make)
}
