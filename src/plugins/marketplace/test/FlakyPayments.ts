import { Effect } from "effect"
import { type PaymentAdapter, PaymentDeclined } from "../../../domain/payments/PaymentAdapter.ts"
import { testProvider } from "../../../layers/payments/TestProvider.ts"

const base = testProvider({ webhookSecret: "flaky" })
const closed = new PaymentDeclined({ code: "PAYMENT_REFUND_FAILED", message: "The card is closed." })

/** Whether the provider `flaky` refuses refunds. */
export const mood = { isRefusing: false }

/** A payment provider that refuses refunds when a test wants it to. */
export const flaky: PaymentAdapter = {
  ...base,
  providerId: "flaky",
  refund: (...asked) => Effect.suspend(() => mood.isRefusing ? Effect.fail(closed) : base.refund(...asked))
}
