import { runEmulated } from "../../../../../test/support/EmulatedProgram.ts"
import { marketplace } from "../../index.ts"
import type { PayoutAdapter } from "../../payouts/PayoutAdapter.ts"

/** Pays through the bank of the test at STOA_TEST_BANK. */
const payoutAdapter: PayoutAdapter = {
  name: "bank",
  transfer: async (transfer, signal) => {
    const body = JSON.stringify(transfer)
    const response = await fetch(process.env["STOA_TEST_BANK"] ?? "", { method: "POST", body, signal })
    return JSON.parse(await response.text())
  }
}

runEmulated({ plugins: [marketplace({ payoutAdapter })] })
