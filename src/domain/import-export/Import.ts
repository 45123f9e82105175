import { Schema } from "effect"
import { Issue } from "../errors/ApiErrors.ts"
import { Uuid } from "../ids/Id.ts"
import { ImportFormat, Kind } from "./Kind.ts"

const Time = Schema.Date.annotate({ format: "date-time" })

/**
 * States of an import. `receiving`: the file is still arriving. `queued` and `running`: its rows are processed in
 * batches. `completed`: every row was processed, whether accepted or refused. `failed`: it was given up; finished
 * batches stay.
 */
export const ImportState = Schema.Literals(["receiving", "queued", "running", "completed", "failed", "cancelled"])
export type ImportState = typeof ImportState.Type

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** An import and how far it is. A record of a file may take several lines; `rows` counts records. */
export const Import = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  kind: Kind,
  format: ImportFormat,
  fileName: Schema.NullOr(Schema.String),
  dryRun: Schema.Boolean.annotate({ description: "Says what would happen, and changes nothing." }),
  currency: Schema.NullOr(Schema.String),
  warehouse: Schema.NullOr(Schema.String),
  pictures: Schema.Boolean.annotate({ description: "Pictures of another shop are fetched." }),
  state: ImportState,
  bytes: Count,
  rows: Count.annotate({ description: "Records of the file." }),
  read: Count.annotate({ description: "Records that were processed." }),
  created: Count,
  updated: Count,
  unchanged: Count,
  refused: Count,
  error: Schema.NullOr(Schema.String),
  createdBy: Schema.NullOr(Schema.String),
  createdAt: Time,
  startedAt: Schema.NullOr(Time),
  completedAt: Schema.NullOr(Time)
}).annotate({ identifier: "Import" })
export type Import = typeof Import.Type

/** A refused record: its line in the file, its key if it has one, and the problem. */
export const RefusedRow = Schema.Struct({
  row: Schema.Int.annotate({ description: "Number of the record, from 1." }),
  line: Schema.Int.annotate({ description: "Line of the file on which it begins." }),
  key: Schema.NullOr(Schema.String),
  issues: Schema.Array(Issue)
}).annotate({ identifier: "RefusedRow" })
export type RefusedRow = typeof RefusedRow.Type

/** Options sent with the file. */
export interface ImportOptions {
  readonly kind: Kind
  readonly format: ImportFormat
  readonly fileName: string | null
  readonly dryRun: boolean
  /** Of prices that name none, in the formats of other shops. */
  readonly currency: string | null
  /** Code of the warehouse of stock that names none. */
  readonly warehouse: string | null
  /** Whether to fetch pictures of another shop; absent: if possible. */
  readonly pictures?: boolean | undefined
}

/** A record as it was read from the file, or why it could not be. */
export interface FileRow {
  readonly line: number
  readonly record: unknown
  readonly problem: string | null
}

/** A staged row with its record as JSON text. */
export interface FileText {
  readonly line: number
  readonly text: string | null
  readonly problem: string | null
}

/** A row of a file that waits to be processed. */
export interface StagedRow extends FileRow {
  readonly row: number
}

/** Whether an import in this state has ended. */
export const isOver = (state: ImportState): boolean =>
  state === "completed" || state === "failed" || state === "cancelled"
