import type { PayoutAdapter } from "./PayoutAdapter.ts"

/** Somebody pays by hand: a payout stays on its way until `POST /payouts/{id}/complete` says that it arrived. */
export const manualPayouts: PayoutAdapter = {
  name: "manual",
  transfer: () => Promise.resolve({ status: "processing" })
}
