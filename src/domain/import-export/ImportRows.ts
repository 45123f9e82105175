import type { Import, ImportState } from "./Import.ts"
import type { ImportedKind, ImportFormat } from "./Kind.ts"

/** A row of `imports` from the driver. */
export interface ImportRow {
  readonly id: string
  readonly organization_id: string
  readonly kind: ImportedKind
  readonly format: ImportFormat
  readonly file_name: string | null
  readonly dry_run: boolean
  readonly currency: string | null
  readonly warehouse: string | null
  readonly pictures: boolean
  readonly state: ImportState
  readonly bytes: bigint
  readonly rows: number
  readonly read: number
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly refused: number
  readonly error: string | null
  readonly created_by: string | null
  readonly created_at: Date
  readonly started_at: Date | null
  readonly completed_at: Date | null
}

/** The public record, without the owner and internal notes. */
export const toImport = (row: ImportRow): Import => ({
  id: row.id,
  organizationId: row.organization_id,
  kind: row.kind,
  format: row.format,
  fileName: row.file_name,
  dryRun: row.dry_run,
  currency: row.currency,
  warehouse: row.warehouse,
  pictures: row.pictures,
  state: row.state,
  bytes: Number(row.bytes),
  rows: row.rows,
  read: row.read,
  created: row.created,
  updated: row.updated,
  unchanged: row.unchanged,
  refused: row.refused,
  error: row.error,
  createdBy: row.created_by,
  createdAt: row.created_at,
  startedAt: row.started_at,
  completedAt: row.completed_at
})
