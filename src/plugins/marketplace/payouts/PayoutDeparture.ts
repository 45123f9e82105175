import { Effect } from "effect"
import type { Ledger } from "../ledger/Ledger.ts"
import type { Account, payoutRunRepo } from "./PayoutRunRepo.ts"

/** Takes `amount` off an account by an entry of the ledger that belongs to the payout; in the caller's transaction. */
export const departure = (ledger: Ledger["Service"], repo: ReturnType<typeof payoutRunRepo>) =>
  Effect.fnUntraced(function*({ currency, vendorId }: Account, payoutId: string, amount: number) {
    const posted = yield* ledger.post([{
      vendorId,
      currency,
      type: "payout",
      amountCents: -amount,
      subOrderId: null,
      referenceType: "payout",
      referenceId: payoutId
    }])
    yield* repo.settle(payoutId, posted.map(({ id }) => id))
  })
