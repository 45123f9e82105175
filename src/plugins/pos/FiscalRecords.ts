import type { Effect, Stream } from "effect"
import { Schema } from "effect"
import { hash } from "node:crypto"
import {
  about,
  type CurrentActor,
  integer,
  json,
  longText,
  oneOf,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { terminals } from "./Terminals.ts"

/** Each sale and closing of a till, in a chain of hashes: a changed or missing one is found (contract-tills-channels §A.8). */
export const fiscalRecords = table("pos_fiscal_records", {
  terminalId: uuid.references(terminals),
  number: integer,
  transactionId: uuid.nullable,
  closingId: uuid.nullable,
  payload: json,
  previousHash: text,
  hash: text,
  adapter: text.nullable,
  state: oneOf(["pending", "signed", "failed", "skipped"]),
  signature: longText.nullable,
  qr: longText.nullable,
  error: longText.nullable,
  signedAt: timestamp.nullable
}, {
  changeLog: false,
  unique: [{ columns: ["terminalId", "number"] }],
  indexes: [{ columns: ["transactionId"] }, {
    columns: ["terminalId", "number"],
    where: "state in ('pending', 'failed')"
  }]
})
export type FiscalRecord = RowOf<typeof fiscalRecords>

/** Signs records where the law asks for it: DSFinV-K, RKSV, NF525. Records come in the order of their numbers. */
export interface FiscalAdapter {
  readonly id: string
  /**
   * `key` is the same at each try for a record. A process may die before it has noted a signature: the adapter then gives the
   * same signature for the key, and makes no second one.
   */
  readonly sign: (
    record: FiscalRecord,
    key: string
  ) => Effect.Effect<
    { readonly signature: string; readonly qr?: string },
    { readonly message: string },
    CurrentActor
  >
  /** The records of a time in the form of the authority. Default: JSON lines. */
  readonly export?: (from: Date, to: Date) => Stream.Stream<Uint8Array, unknown, CurrentActor>
}

/** JSON with sorted keys: what is hashed does not depend on how the database orders them. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (value instanceof Date) return JSON.stringify(value)
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null)
  const entries = Object.entries(value).toSorted(([one], [other]) => one < other ? -1 : 1)
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`).join(",")}}`
}

/** SHA-256 over the content of a record and the hash of the one before it. */
export const chained = (previousHash: string, content: object): string =>
  hash("sha256", `${previousHash}\n${canonical(content)}`, "hex")

/** The first record of a chain has this before it. */
export const noHash = "0".repeat(64)

export const FiscalView = Schema.Struct({
  number: Schema.Int.pipe(about("Counts the records of the terminal, from 1.")),
  state: Schema.Literals(["pending", "signed", "failed", "skipped"]).pipe(
    about("pending and failed: it is still to be signed. skipped: the deployment signs nothing.")
  ),
  signature: Schema.NullOr(Schema.String).pipe(about("Signature of the fiscal device; null until it is signed.")),
  qr: Schema.NullOr(Schema.String).pipe(about("Text for the QR code on the receipt; null: none."))
})
