import { Context } from "effect"

/** Limits of files, and the retention of their records. */
export interface ImportExportLimits {
  /** Largest file that is imported, in bytes. */
  readonly maxFileBytes: number
  /** Records of a batch, which is one transaction. */
  readonly batchRows: number
  /** Days that an import, its records and its report stay after its end. */
  readonly keepDays: number
}

/** Defaults for limits missing from the deployment's configuration. */
export const defaultLimits: ImportExportLimits = { maxFileBytes: 268_435_456, batchRows: 500, keepDays: 30 }

/** The limits of this deployment (`importExport` in `commerce.config.ts`). */
export class ImportExportSettings
  extends Context.Service<ImportExportSettings, ImportExportLimits>()("stoa/domain/import-export/ImportExportSettings")
{}
