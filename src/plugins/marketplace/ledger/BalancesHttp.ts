import { Effect } from "effect"
import { ownVendor } from "../parties/VendorPortal.ts"
import { Balances } from "./Balances.ts"
import { readBalance, readOwnBalance } from "./BalancesApi.ts"

export const balanceRoutes = [
  readBalance.handle(({ params }) => Effect.flatMap(Balances, (balances) => balances.of(params.id))),
  readOwnBalance.handle(({ actor }) => Effect.flatMap(Balances, (balances) => balances.of(ownVendor(actor))))
]
