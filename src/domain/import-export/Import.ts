import { Context, Schema, Struct } from "effect"
import { Issue } from "../platform/errors/ApiErrors.ts"
import { ImportId, OrganizationId } from "../platform/ids/Id.ts"
import { Time } from "../platform/text/Time.ts"

export const Kind = Schema.Literals(["catalog", "categories", "brands", "prices", "stock", "customers", "orders"])
  .annotate({
    description: "Kind of the records."
  })
export type Kind = typeof Kind.Type

export const ImportFormat = Schema.Literals(["csv", "jsonl", "shopify", "woocommerce", "square", "magento"]).annotate({
  description: "Format of the file. shopify, woocommerce, square and magento: CSV of their product exports."
})
export type ImportFormat = typeof ImportFormat.Type

export const ExportFormat = Schema.Literals(["csv", "jsonl"])
export type ExportFormat = typeof ExportFormat.Type

/** How the text of a file is written. A mark at its beginning counts before it. */
export const FileEncoding = Schema.Literals(["utf-8", "utf-16le", "utf-16be", "windows-1252"])
export type FileEncoding = typeof FileEncoding.Type

const byEnding: Readonly<Record<string, ImportFormat>> = {
  csv: "csv",
  tsv: "csv",
  txt: "csv",
  jsonl: "jsonl",
  ndjson: "jsonl"
}

/** As the ending of a file's name says. */
export const formatOfName = (name: string): ImportFormat | undefined =>
  byEnding[/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ""]

export type ExternalShop = Exclude<ImportFormat, ExportFormat>

export const isExternal = (format: ImportFormat): format is ExternalShop => format !== "csv" && format !== "jsonl"

export interface ImportExportLimits {
  readonly maxFileBytes: number
  /** Records of a batch, which is one transaction. */
  readonly batchRows: number
  /** Days that an import, its records and its report stay after its end. */
  readonly keepDays: number
}

export const defaultLimits: ImportExportLimits = { maxFileBytes: 268_435_456, batchRows: 500, keepDays: 30 }

export class ImportExportSettings
  extends Context.Service<ImportExportSettings, ImportExportLimits>()("stoa/domain/import-export/ImportExportSettings")
{}

export const ImportState = Schema.Literals(["receiving", "queued", "running", "completed", "failed", "cancelled"])
  .annotate({
    description:
      "receiving: the file is still arriving. completed: every record was taken or refused. failed: given up. Records that " +
      "were taken before a failure or a cancellation stay."
  })
export type ImportState = typeof ImportState.Type

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** An import and its progress. A record of a file may take several lines; `rows` counts records. */
export const Import = Schema.Struct({
  id: ImportId,
  organizationId: OrganizationId,
  kind: Kind,
  format: ImportFormat,
  fileName: Schema.NullOr(Schema.String),
  dryRun: Schema.Boolean.annotate({ description: "Says what would happen, and changes nothing." }),
  currency: Schema.NullOr(Schema.String),
  warehouse: Schema.NullOr(Schema.String).annotate({ description: "Code of the warehouse of stock that names none." }),
  pictures: Schema.Boolean.annotate({ description: "Pictures of another shop are fetched." }),
  state: ImportState,
  bytes: Count.annotate({ description: "Size of the file so far." }),
  rows: Count.annotate({ description: "Records of the file." }),
  read: Count.annotate({ description: "Records that were processed." }),
  created: Count.annotate({ description: "Records that are new." }),
  updated: Count.annotate({ description: "Records that changed." }),
  unchanged: Count.annotate({ description: "Records that were as the file has them." }),
  refused: Count.annotate({ description: "Records that were not taken, for the reasons in refusals." }),
  warned: Count.annotate({ description: "Records that were taken or passed over with a warning." }),
  error: Schema.NullOr(Schema.String).annotate({ description: "Reason why it was given up; null: it was not." }),
  createdBy: Schema.NullOr(Schema.String).annotate({ description: "Id of the user or API key that sent the file." }),
  createdAt: Time,
  startedAt: Schema.NullOr(Time),
  completedAt: Schema.NullOr(Time)
}).annotate({ identifier: "Import" })
export type Import = typeof Import.Type

export const isOver = ({ completedAt }: Import): boolean => completedAt !== null

export const RefusedRow = Schema.Struct({
  row: Schema.Int.annotate({ description: "Number of the record, from 1." }),
  line: Schema.Int.annotate({ description: "Line of the file on which it begins." }),
  key: Schema.NullOr(Schema.String).annotate({ description: "Name of the record in the file, such as its slug." }),
  issues: Schema.Array(Issue).annotate({ description: "Problems by field." })
}).annotate({ identifier: "RefusedRow" })
export type RefusedRow = typeof RefusedRow.Type

export const WarnedRow = RefusedRow.annotate({ identifier: "WarnedRow" })

/** What a record does to one kind of thing. */
export const PlannedChange = Schema.Struct({
  type: Schema.String.annotate({ description: "The event of the change, for example catalog.update." }),
  count: Schema.Int,
  fields: Schema.Array(Schema.String).annotate({ description: "Fields that change; none for new things." })
}).annotate({ identifier: "PlannedChange" })
export type PlannedChange = typeof PlannedChange.Type

export const ChangedRow = Schema.Struct({
  ...Struct.pick(RefusedRow.fields, ["row", "line", "key"]),
  result: Schema.Literals(["created", "updated"]).annotate({ description: "created: the record is new." }),
  changes: Schema.Array(PlannedChange).annotate({ description: "Changes that the record makes, by kind." })
}).annotate({ identifier: "ChangedRow" })
export type ChangedRow = typeof ChangedRow.Type

export const reasonOf = ({ issues }: Pick<RefusedRow, "issues">): string =>
  issues.map(({ message }) => message).join(" ")

/**
 * `currency` and `warehouse` apply to prices and stock that name none; files of other shops default to the store's
 * currency.
 */
export interface ImportOptions
  extends Pick<Import, "kind" | "format" | "fileName" | "dryRun" | "currency" | "warehouse">
{
  readonly pictures?: boolean | undefined
  /** Absent: recognised. */
  readonly encoding?: FileEncoding | undefined
}

export interface FileRow {
  readonly line: number
  /** Names the record whose part this is; its parts may come one by one. */
  readonly key?: string | undefined
  readonly record: unknown
  readonly problem: string | null
}

type Alternatives = readonly [string, ...ReadonlyArray<string>]
type Needed = ReadonlyArray<Alternatives>

const catalogReaders: Needed = [["catalog:read:unpublished", "catalog:create", "catalog:update"]]

export const needed: { readonly [K in Kind]: { readonly write: Needed; readonly read: Needed } } = {
  catalog: { write: [["catalog:create"], ["catalog:update"]], read: catalogReaders },
  categories: { write: [["catalog:update"]], read: catalogReaders },
  brands: { write: [["catalog:update"]], read: catalogReaders },
  prices: {
    write: [["pricing:create", "pricing:manage"]],
    read: [["pricing:read", "pricing:update", "pricing:manage"]]
  },
  stock: { write: [["inventory:adjust"]], read: [["inventory:read"]] },
  customers: { write: [["customers:read"], ["customers:create"], ["customers:update"]], read: [["customers:read"]] },
  orders: { write: [["orders:create"], ["orders:manage"]], read: [["orders:read"]] }
}

export const importing: Alternatives = [
  "catalog:create",
  "catalog:update",
  "pricing:create",
  "pricing:manage",
  "inventory:adjust",
  "customers:create",
  "orders:manage"
]

const [firstReader = "", ...readers] = new Set(Object.values(needed).flatMap(({ read }) => read.flat()))

export const exporting: Alternatives = [firstReader, ...readers]
