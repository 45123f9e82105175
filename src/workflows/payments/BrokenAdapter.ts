import { Effect } from "effect"
import { PaymentUnknown } from "../../domain/payments/PaymentAdapter.ts"

/** An adapter that breaks has given no answer: the money may or may not have moved, and only asking again tells. */
export const brokenAdapter = (defect: unknown) =>
  Effect.logError("a payment adapter broke", defect).pipe(
    Effect.andThen(Effect.fail(new PaymentUnknown({ message: "The payment provider could not be asked." })))
  )
