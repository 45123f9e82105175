import { defaultLimits, type ImportExportLimits } from "../../domain/import-export/ImportExportSettings.ts"
import type { DeploymentConfig } from "./DeploymentConfig.ts"

/** What `commerce.config.ts` says of files: limits, and how long what is known of them stays. */
export const importExportLimits = ({ importExport, retention }: DeploymentConfig): ImportExportLimits => ({
  ...defaultLimits,
  ...(importExport?.maxFileBytes === undefined ? {} : { maxFileBytes: importExport.maxFileBytes }),
  ...(importExport?.batchRows === undefined ? {} : { batchRows: importExport.batchRows }),
  ...(retention?.importDays === undefined ? {} : { keepDays: retention.importDays })
})
