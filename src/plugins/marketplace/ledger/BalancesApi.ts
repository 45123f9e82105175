import { Schema } from "effect"
import { group } from "stoa/plugin"
import { portal } from "../parties/VendorPortal.ts"
import { ledgerEntries } from "./LedgerTables.ts"

const routes = group("Marketplace payouts", "/marketplace")

const Balance = Schema.Struct({
  balanceCents: Schema.Int,
  ledger: Schema.Array(ledgerEntries.Row),
  balances: Schema.Array(Schema.Struct({
    currency: Schema.String,
    balanceCents: Schema.Int,
    availableCents: Schema.Int,
    heldCents: Schema.Int
  }))
})

export const readBalance = routes.get("/vendors/:id/balance", {
  summary: "Balance of a vendor",
  description: "What the vendor is owed, by currency, and the newest 50 entries of its ledger.",
  permission: "marketplace:admin",
  success: Balance
})

export const readOwnBalance = routes.get("/vendor/me/balance", {
  summary: "Own balance",
  ...portal,
  success: Balance
})
