import { type Duration, Effect, Schema } from "effect"
import { Activity, DurableClock } from "effect/workflow"
import {
  type PaymentAdapter,
  PaymentAdapters,
  type PaymentDeclined,
  PaymentUnknown
} from "../../domain/payments/PaymentAdapter.ts"

/** Fails every call: voids and refunds wait until the provider is configured again. */
const unconfigured = (providerId: string): PaymentAdapter => {
  const message = `The provider '${providerId}' is not configured.`
  const unknown = Effect.fail(new PaymentUnknown({ message }))
  return {
    providerId,
    authorize: () => unknown,
    capture: () => unknown,
    cancel: () => unknown,
    refund: () => unknown
  }
}

export const adapterOf = (providerId: string) =>
  Effect.map(PaymentAdapters, (adapters) => adapters.byProvider(providerId) ?? unconfigured(providerId))

/** A time-out or a defect of an adapter is `PaymentUnknown`: the money may or may not have moved. */
export const answerWithin = <A, E extends PaymentDeclined | PaymentUnknown, R>(
  call: Effect.Effect<A, E, R>,
  timeout: Duration.Input
): Effect.Effect<A, E | PaymentUnknown, R> =>
  call.pipe(
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logError("a payment adapter broke", defect),
        Effect.fail(new PaymentUnknown({ message: "The payment provider could not be asked." }))
      )
    ),
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => Effect.fail(new PaymentUnknown({ message: "The payment provider did not answer in time." }))
    })
  )

/**
 * Asks a provider up to three times with one idempotency key. If it stays silent, a durable workflow resolves the
 * payment later (ARCHITECTURE §3).
 */
export const askProvider = <A, R>(call: Effect.Effect<A, PaymentDeclined | PaymentUnknown, R>) => {
  const once = answerWithin(call, "5 seconds")
  return once.pipe(
    Effect.catchTag("PaymentUnknown", () => Effect.delay(once, "200 millis")),
    Effect.catchTag("PaymentUnknown", () => Effect.delay(once, "400 millis"))
  )
}

/** About a week with the delays below; then an operator has to handle it. */
const maxAttempts = 200
const delayAfter = (attempt: number) => `${Math.min(3_600, 2 ** Math.min(attempt, 12))} seconds` as const

/**
 * Calls a provider from a durable workflow until it answers, first after seconds, then every hour; undefined after
 * about a week. A crash repeats the interrupted attempt, so `ask` carries an idempotency key. Each attempt is an
 * activity: a plain call would run again at every resume. `call` distinguishes calls of one execution.
 */
export const untilAnswered = Effect.fnUntraced(function*<A extends object, R>(
  answer: Schema.Codec<A, object>,
  ask: Effect.Effect<A, PaymentUnknown, R>,
  call = ""
) {
  const execute = Effect.catchTag(answerWithin(ask, "20 seconds"), "PaymentUnknown", () => Effect.succeed(null))
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const outcome = yield* Activity.make({ name: `${call}attempt-${attempt}`, success: Schema.NullOr(answer), execute })
    if (outcome !== null) return outcome
    yield* DurableClock.sleep({ name: `${call}silent-${attempt}`, duration: delayAfter(attempt) })
  }
  return undefined
})
