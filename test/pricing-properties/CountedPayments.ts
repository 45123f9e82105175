import { Effect } from "effect"
import type { PaymentAdapter } from "../../src/domain/payments/PaymentAdapter.ts"
import { testProvider } from "../../src/layers/payments/TestProvider.ts"

interface Moved {
  captured: number
  refunded: number
}

/** A provider that records what it captured and refunded of a payment, each key once. */
export const countedPayments = () => {
  const books = new Map<string, Moved>()
  const known = new Set<string>()
  const plain = testProvider({ webhookSecret: "counted" })
  const bookOf = (intentId: string): Moved => {
    const book = books.get(intentId) ?? { captured: 0, refunded: 0 }
    books.set(intentId, book)
    return book
  }
  const once = (key: string, write: () => void): void => {
    if (!known.has(key)) write()
    known.add(key)
  }
  const adapter: PaymentAdapter = {
    ...plain,
    providerId: "counted",
    capture: (intentId, amount, key) =>
      Effect.tap(plain.capture(intentId, amount, key), () =>
        Effect.sync(() => {
          once(`capture ${key}`, () => bookOf(intentId).captured += amount)
        })),
    refund: (intentId, amount, reason, key) =>
      Effect.tap(plain.refund(intentId, amount, reason, key), () =>
        Effect.sync(() => {
          once(`refund ${key}`, () => bookOf(intentId).refunded += amount)
        }))
  }
  return { adapter, bookOf }
}
