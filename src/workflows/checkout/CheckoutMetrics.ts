import { Effect, Metric } from "effect"
import type { CheckoutError } from "./CheckoutWorkflow.ts"

const checkouts = Metric.counter("stoa_checkouts_total", {
  description: "Checkouts that ended in this process: created, or the code of the error; a repeated run counts again",
  incremental: true
})

const count = (outcome: string) => Metric.update(Metric.withAttributes(checkouts, { outcome }), 1)

/** Counts how checkouts end. A run that dies is no outcome: another one follows it. */
export const counted = <A, R>(checkout: Effect.Effect<A, CheckoutError, R>): Effect.Effect<A, CheckoutError, R> =>
  checkout.pipe(
    Effect.tap(count("created")),
    Effect.tapError(({ error }) => count(error.code))
  )
