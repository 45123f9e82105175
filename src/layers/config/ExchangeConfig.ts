import { defaultLimits, type ExchangeLimits } from "../../domain/exchange/ExchangeSettings.ts"
import type { DeploymentConfig } from "./DeploymentConfig.ts"

/** What `commerce.config.ts` says of files: limits, and how long what is known of them stays. */
export const exchangeLimits = ({ exchange, retention }: DeploymentConfig): ExchangeLimits => ({
  ...defaultLimits,
  ...(exchange?.maxFileBytes === undefined ? {} : { maxFileBytes: exchange.maxFileBytes }),
  ...(exchange?.batchRows === undefined ? {} : { batchRows: exchange.batchRows }),
  ...(retention?.importDays === undefined ? {} : { keepDays: retention.importDays })
})
