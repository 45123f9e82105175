import { OrderId } from "../../../domain/platform/ids/Id.ts"
import { amount, idOf, integer, longText, oneOf, text, timestamp, uuid } from "../tables/ColumnKinds.ts"
import { childOf, type Columns, type RowOf, type Table } from "../tables/Table.ts"

/**
 * Columns of the accounts of a ledger: what is on an account, the part of it that holds set aside, and how many entries it
 * has. Only the ledger writes them.
 */
export const balanceColumns = { balance: amount.default(0), held: amount.default(0), version: integer.default(0) }

export const entriesOf = (name: string, account: Table<Columns, "organization">) =>
  childOf(account, "accountId", `${name}_entries`, {
    accountId: uuid.references(account, "restrict"),
    /** From 1 on each account, without gaps. */
    number: integer,
    type: text,
    amount,
    balanceAfter: amount,
    reference: text,
    orderId: idOf(OrderId).nullable,
    note: longText.nullable
  }, { unique: [{ columns: ["accountId", "reference"] }, { columns: ["accountId", "number"] }], changeLog: false })

export const holdsOf = (name: string, account: Table<Columns, "organization">) =>
  childOf(account, "accountId", `${name}_holds`, {
    accountId: uuid.references(account, "restrict"),
    amount,
    status: oneOf(["held", "captured", "released", "expired"]).default("held"),
    captured: amount.default(0),
    refunded: amount.default(0),
    reference: text,
    orderId: idOf(OrderId).nullable,
    expiresAt: timestamp
  }, {
    unique: [{ columns: ["accountId", "reference"] }],
    indexes: [{ columns: ["expiresAt"], where: "status = 'held'" }],
    checks: { amounts: "amount > 0 and captured between 0 and amount and refunded between 0 and captured" },
    changeLog: false
  })

export type Entries = ReturnType<typeof entriesOf>
export type Holds = ReturnType<typeof holdsOf>
export type Entry = RowOf<Entries>
export type Hold = RowOf<Holds>

/** What moves on an account. `reference` says why: one account has one entry, or one hold, of a reference. */
export interface Moved {
  /** Minor units, or points. */
  readonly amount: number
  readonly reference: string
  readonly orderId?: OrderId | null | undefined
}

export interface Posting extends Moved {
  readonly accountId: string
  /** A word of the plugin's for people and figures, such as `redeem`. */
  readonly type: string
  readonly note?: string | undefined
}

/** What an entry that ends a hold says. */
export interface Settling extends Pick<Posting, "type" | "note"> {
  readonly amount: number
}

/** The tables of a ledger, and what its accounts keep. */
export interface LedgerTables {
  readonly account: Table
  readonly entries: Entries
  readonly holds: Holds
  readonly floor: number
}
