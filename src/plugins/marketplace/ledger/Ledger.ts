import { Context, Effect, Layer } from "effect"
import { PluginDatabase } from "stoa/plugin"
import { ledgerOver } from "./LedgerRepo.ts"
import type { LedgerOperations } from "./Posting.ts"

export type { Posting } from "./Posting.ts"

/**
 * What vendors are owed (contract, plugins §1.5). The balance of an account is at every moment the sum of its entries:
 * both are written in one statement, behind the lock of the account's row. Accounts are locked in the order of vendor and
 * currency, always after orders and sub-orders, so that no two postings wait for each other.
 */
export class Ledger extends Context.Service<Ledger, LedgerOperations>()("stoa/plugins/marketplace/ledger/Ledger") {
  static readonly layer = Layer.effect(Ledger, Effect.map(PluginDatabase, ledgerOver))
}
