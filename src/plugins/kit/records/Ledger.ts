import { Effect } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type {
  Conflict,
  InvalidTransition,
  NotFound,
  ValidationFailed
} from "../../../domain/platform/errors/ApiErrors.ts"
import { conflict, invalid } from "../../../domain/platform/errors/ErrorKinds.ts"
import type { PluginDatabase, Usable } from "../tables/PluginDatabase.ts"
import type { Columns, Table } from "../tables/Table.ts"
import { notInState, RowNotFound } from "../tables/TableHandle.ts"
import type { Where } from "../tables/TableWhereRepo.ts"
import { captureHold, placeHold, postEntries, releaseDueHolds, releaseHold } from "./LedgerRepo.ts"
import {
  type balanceColumns,
  type Entries,
  entriesOf,
  type Entry,
  type Hold,
  type Holds,
  holdsOf,
  type LedgerTables,
  type Moved,
  type Posting,
  type Settling
} from "./LedgerTables.ts"

type Refused = NotFound | Conflict | ValidationFailed

/**
 * Accounts whose balance is the sum of their entries and never below the floor. Each change is one statement that both
 * moves the balance and writes the entry, and the database's conditions are the last guard. Everything may be repeated:
 * the second time nothing happens, and the answer is the first one.
 */
export interface Accounts<A extends Table = Table> {
  /** Writes an entry: `amount` above 0 comes in, below 0 leaves. 404; 422 below the floor; 409 for another one of the reference. */
  readonly post: (posting: Posting) => Effect.Effect<Entry, Refused, CurrentActor>
  /** The same for many accounts, each named once, in one statement; all or none. */
  readonly postAll: (postings: ReadonlyArray<Posting>) => Effect.Effect<ReadonlyArray<Entry>, Refused, CurrentActor>
  /**
   * Sets an amount aside until `expiresAt`, on an account that meets `only`; 422 INVALID_TRANSITION when it does not. Errors
   * else as of `post`. A hold that has ended is given as it is.
   */
  readonly hold: (
    hold: Moved & { readonly accountId: string; readonly expiresAt: Date },
    only?: Where<A>
  ) => Effect.Effect<Hold, Refused | InvalidTransition, CurrentActor>
  /**
   * Takes at most what is held, writes the entry and frees the rest. A hold that has expired is captured as long as the
   * account still has the amount. 404; 422 for more than is held, and below the floor; 409 for a hold that was released.
   */
  readonly capture: (holdId: string, settling: Settling) => Effect.Effect<Hold, Refused, CurrentActor>
  /** Frees a hold; one that is captured stays so. 404. */
  readonly release: (holdId: string) => Effect.Effect<Hold, NotFound, CurrentActor>
  /**
   * Gives back what was captured, all that is left of it without an amount, to its account or to another one. The answer is
   * null when nothing is left. 404; 422 for more than is left.
   */
  readonly refund: (
    holdId: string,
    refund: Partial<Moved> & Pick<Posting, "type" | "reference" | "note"> & { readonly accountId?: string }
  ) => Effect.Effect<Entry | null, Refused, CurrentActor>
  /** Frees at most 1,000 holds of all organizations whose time is over; how many. */
  readonly releaseDue: Effect.Effect<number>
  /** What is on an account, and what of it can be spent. 404. */
  readonly balance: (
    accountId: string
  ) => Effect.Effect<{ readonly balance: number; readonly available: number }, NotFound, CurrentActor>
}

/** The tables of accounts with a balance. */
export interface Ledger<A extends Table = Table> extends Usable<Accounts<A>> {
  /** For the plugin's `schema`, in place of the account's own table. */
  readonly tables: readonly [account: A, entries: Entries, holds: Holds]
  readonly account: A
  readonly entries: Entries
  readonly holds: Holds
}

class NotAnAmount extends invalid(
  "NotAnAmount",
  "amount",
  (least: number) =>
    least < 0 ? "amount must be a whole number." : `amount must be a whole number of at least ${least}.`
) {}
class BalanceTooLow extends invalid(
  "BalanceTooLow",
  "amount",
  (available: number) => `amount is more than the ${available} that are available.`
) {}
class HoldTooLow extends invalid(
  "HoldTooLow",
  "amount",
  (left: number) => `amount is more than the ${left} that are left of the hold.`
) {}
class ReferenceTaken
  extends conflict("ReferenceTaken", (reference: string) => `Another amount has the reference "${reference}".`)
{}
class AccountNamedTwice
  extends invalid("AccountNamedTwice", "accountId", (id: string) => `accountId must not name ${id} more than once.`)
{}
class HoldReleased extends conflict("HoldReleased", "The hold was released.") {}

type AccountTable = Table<typeof balanceColumns, "organization">
type Ledgers = Omit<LedgerTables, "account"> & { readonly account: AccountTable }

/** 422 for what is no whole number of minor units or points, or less than that. */
const whole = (amount: number, least = 1) =>
  Number.isSafeInteger(amount) && amount >= least ? Effect.void : Effect.fail(new NotAnAmount(least))

/** What can be spent: 404. */
const availableOn = ({ account, floor }: Ledgers, db: PluginDatabase, id: string) =>
  Effect.map(db.table(account).get(id), ({ balance, held }) => balance - held - floor)

const postAllTo = (tables: Ledgers, db: PluginDatabase): Accounts["postAll"] =>
  Effect.fn("Ledger.postAll")(function*(sent) {
    const postings = sent.map((posting) => ({ ...posting, accountId: posting.accountId.toLowerCase() }))
    const accounts = new Set<string>()
    for (const { accountId, amount } of postings) {
      yield* whole(amount, Number.MIN_SAFE_INTEGER)
      if (accounts.has(accountId)) return yield* new AccountNamedTwice(accountId)
      accounts.add(accountId)
    }
    const made = yield* postEntries(tables, db, postings)
    const byAccount = new Map(made.map((entry) => [entry.accountId, entry]))
    let low: BalanceTooLow | undefined
    for (const { accountId, amount, reference, type } of postings) {
      const entry = byAccount.get(accountId)
      if (entry !== undefined && (entry.amount !== amount || entry.type !== type)) {
        return yield* new ReferenceTaken(reference)
      }
      if (entry !== undefined) continue
      const available = yield* availableOn(tables, db, accountId)
      low ??= new BalanceTooLow(available)
      if (available + amount < 0) return yield* new BalanceTooLow(available)
    }
    return low === undefined ? made : yield* low
  })

const captureFrom = (tables: Ledgers, db: PluginDatabase): Accounts["capture"] =>
  Effect.fn("Ledger.capture")(function*(holdId, settling) {
    yield* whole(settling.amount)
    const hold = yield* captureHold(tables, db, holdId, settling)
    if (hold === undefined) return yield* new RowNotFound()
    if (hold.status === "captured") return hold
    if (hold.status === "released") return yield* new HoldReleased()
    if (settling.amount > hold.amount) return yield* new HoldTooLow(hold.amount)
    return yield* new BalanceTooLow(yield* availableOn(tables, db, hold.accountId))
  })

const refundTo = (
  { entries, holds }: Ledgers,
  db: PluginDatabase,
  post: Accounts["post"]
): Accounts["refund"] =>
  Effect.fn("Ledger.refund")((holdId, { accountId, amount: wanted, ...entry }) =>
    db.transaction(Effect.gen(function*() {
      const hold = yield* db.table(holds).lock(holdId)
      const to = accountId ?? hold.accountId
      const known = yield* db.table(entries).first({ accountId: to, reference: entry.reference })
      if (known !== undefined) {
        const isSame = known.type === entry.type && (wanted === undefined || wanted === known.amount)
        return isSame ? known : yield* new ReferenceTaken(entry.reference)
      }
      const left = hold.captured - hold.refunded
      const given = wanted ?? left
      yield* whole(given, 0)
      if (given > left) return yield* new HoldTooLow(left)
      if (given === 0) return null
      yield* db.table(holds).update(holdId, { refunded: hold.refunded + given })
      const orderId = entry.orderId ?? hold.orderId
      return yield* post({ ...entry, orderId, amount: given, accountId: to })
    }))
  )

const accountsOn = (tables: Ledgers, db: PluginDatabase): Accounts<never> => {
  const { account, floor } = tables
  const postAll = postAllTo(tables, db)
  const post: Accounts["post"] = (posting) =>
    Effect.flatMap(
      postAll([posting]),
      ([entry]) => entry === undefined ? Effect.die("no entry") : Effect.succeed(entry)
    )
  return {
    post,
    postAll,
    hold: Effect.fn("Ledger.hold")(function*(hold, only: object = {}) {
      yield* whole(hold.amount)
      const made = yield* placeHold(tables, db, hold, { ...only })
      if (made !== undefined) return made.amount === hold.amount ? made : yield* new ReferenceTaken(hold.reference)
      const available = yield* availableOn(tables, db, hold.accountId)
      if (available < hold.amount) return yield* new BalanceTooLow(available)
      return yield* notInState(yield* db.table(account).get(hold.accountId), {}, only)
    }),
    capture: captureFrom(tables, db),
    release: Effect.fn("Ledger.release")(function*(holdId) {
      return (yield* releaseHold(tables, db, holdId)) ?? (yield* new RowNotFound())
    }),
    refund: refundTo(tables, db, post),
    releaseDue: releaseDueHolds(tables, db),
    balance: Effect.fn("Ledger.balance")((accountId) =>
      Effect.map(
        db.table(account).get(accountId),
        ({ balance, held }) => ({ balance, available: balance - held - floor })
      )
    )
  }
}

/**
 * A ledger over the accounts of a table with `balanceColumns`: `ledger("gift_card", { account: cards, floor: 0 })`. Its
 * tables are `<name>_entries` and `<name>_holds`.
 */
export const ledger = <A extends AccountTable & Table<Columns, "organization">>(
  name: string,
  { account: given, floor }: { readonly account: A; readonly floor: number }
): Ledger<A> => {
  // Entries lock accounts without the turn that writers of ranges take.
  if (given.options.excluding !== undefined) throw new Error(`"${given.name}" cannot have ranges: it has balances.`)
  const checks = { ...given.options.checks, held: "held >= 0", floor: `balance - held >= ${floor}` }
  const account: A = { ...given, options: { ...given.options, checks } }
  const [entries, holds] = [entriesOf(name, account), holdsOf(name, account)]
  const parts = { account, entries, holds, floor }
  return { tables: [account, entries, holds], account, entries, holds, on: (db) => accountsOn(parts, db) }
}
