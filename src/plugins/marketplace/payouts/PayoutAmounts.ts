import { Schema } from "effect"
import { entryTypes } from "../ledger/LedgerTables.ts"

/** What the taken entries of one type add up to, minor units. */
export const TypeSum = Schema.Struct({ type: Schema.Literals(entryTypes), amount: Schema.Int })
export type TypeSum = typeof TypeSum.Type

/**
 * A payout as its vendor reads it: what came in, and by type what went off it. `gross` less all deductions is `net`, to the
 * unit, because both are sums of the same entries.
 */
export const amountsOf = (sums: ReadonlyArray<TypeSum>) => {
  const incoming = sums.filter(({ amount }) => amount > 0)
  const outgoing = sums.filter(({ amount }) => amount < 0)
  const gross = incoming.reduce((sum, { amount }) => sum + amount, 0)
  const deductions = outgoing.map(({ amount, type }) => ({ type, amount: -amount }))
  return { gross, deductions, net: deductions.reduce((sum, { amount }) => sum - amount, gross) }
}
