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

/** The limits, with defaults for those that a deployment leaves out. */
export const importExportLimits = (
  given: { readonly [K in keyof ImportExportLimits]?: number | undefined } = {}
): ImportExportLimits => ({
  maxFileBytes: given.maxFileBytes ?? 268_435_456,
  batchRows: given.batchRows ?? 500,
  keepDays: given.keepDays ?? 30
})

/** The limits of this deployment (`importExport` in `commerce.config.ts`). */
export class ImportExportSettings
  extends Context.Service<ImportExportSettings, ImportExportLimits>()("stoa/domain/import-export/ImportExportSettings")
{}
