import { Effect, Schema } from "effect"
import { Activity, DurableClock } from "effect/workflow"
import { PaymentUnknown } from "../../domain/payments/PaymentAdapter.ts"
import { brokenAdapter } from "./BrokenAdapter.ts"

/** A provider may be away for hours; after about a week an operator has to look at it. */
const tries = 200
const waitAfter = (attempt: number) => `${Math.min(3_600, 2 ** Math.min(attempt, 12))} seconds` as const

/**
 * Asks a provider from within a durable process until it answers: after seconds at first, after an hour at last, for
 * about a week. Undefined when it stayed silent; an adapter that breaks has been silent too. `ask` carries a key, since
 * a crash repeats the attempt it interrupts. Each attempt's outcome is kept: whoever wakes up after a pause goes on
 * with the next one, where a plain call would be made once more for every pause there was.
 */
export const untilAnswered = Effect.fnUntraced(function*<A extends object>(
  answer: Schema.Codec<A, object>,
  ask: Effect.Effect<A, PaymentUnknown>
) {
  const attemptOnce = ask.pipe(
    Effect.catchDefect(brokenAdapter),
    Effect.timeoutOrElse({
      duration: "20 seconds",
      orElse: () => Effect.fail(new PaymentUnknown({ message: "The payment provider did not answer in time." }))
    }),
    Effect.catchTag("PaymentUnknown", () => Effect.succeed(null))
  )
  for (let attempt = 1; attempt <= tries; attempt++) {
    const outcome = yield* Activity.make({
      name: `attempt-${attempt}`,
      success: Schema.NullOr(answer),
      execute: attemptOnce
    })
    if (outcome !== null) return outcome
    yield* DurableClock.sleep({ name: `silent-${attempt}`, duration: waitAfter(attempt) })
  }
  return undefined
})
