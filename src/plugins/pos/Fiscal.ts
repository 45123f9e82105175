import { Effect } from "effect"
import type { PluginDatabase } from "stoa/plugin"
import { chained, fiscalRecords, noHash } from "./FiscalRecords.ts"
import { PosOptions } from "./PosOptions.ts"
import type { Transaction } from "./Sales.ts"
import { terminals } from "./Terminals.ts"

interface Recorded {
  readonly terminalId: string
  readonly transactionId?: string
  readonly closingId?: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Appends to the chain of a till, in the transaction of what it records. */
export const record = Effect.fn("Fiscal.record")(function*(db: PluginDatabase, of: Recorded) {
  const { fiscal } = yield* PosOptions
  const { terminalId } = of
  const { value: number } = yield* db.nextNumber({ kind: "fiscal", scope: terminalId, period: "" })
  const before = yield* db.table(fiscalRecords).first({ terminalId, number: number - 1 })
  const previousHash = before?.hash ?? noHash
  return yield* db.table(fiscalRecords).insert({
    ...of,
    number,
    previousHash,
    hash: chained(previousHash, { number, payload: of.payload }),
    adapter: fiscal?.id ?? null,
    state: fiscal === undefined ? "skipped" : "pending"
  })
})

export const addFiscalRecord = (db: PluginDatabase, { completedAt, id, terminalId, ...rest }: Transaction) => {
  const {
    businessDate,
    currency,
    discountTotal,
    orderId,
    receiptNumber,
    rounding,
    subtotal,
    taxes,
    taxTotal,
    total,
    type
  } = rest
  const payload = {
    type,
    receiptNumber,
    orderId,
    businessDate,
    currency,
    subtotal,
    discountTotal,
    taxTotal,
    taxes,
    total,
    rounding,
    completedAt: completedAt?.toISOString() ?? null
  }
  return record(db, { terminalId, transactionId: id, payload })
}

/**
 * Signs records of each till in their order; a failure stops no sale and no other till, and is tried again. Returns how many
 * it signed.
 */
export const signRecords = Effect.fn("Fiscal.sign")(function*(db: PluginDatabase, now: Date) {
  const { fiscal } = yield* PosOptions
  if (fiscal === undefined) return 0
  let signed = 0
  for (const { id: terminalId } of yield* db.table(terminals).list({})) {
    const waiting = yield* db.table(fiscalRecords).list(
      { terminalId, state: { in: ["pending", "failed"] } },
      { order: ["number"], limit: 100 }
    )
    for (const one of waiting) {
      const answer = yield* Effect.result(fiscal.sign(one, `pos:${one.id}`))
      if (answer._tag === "Failure") {
        const error = answer.failure.message.slice(0, 10_000)
        yield* db.table(fiscalRecords).update(one.id, { state: "failed", error })
        break
      }
      const { qr = null, signature } = answer.success
      const change = { state: "signed" as const, signature, qr, error: null, signedAt: now }
      yield* db.table(fiscalRecords).update(one.id, change)
      signed += 1
    }
  }
  return signed
})
