import { Context, Layer } from "effect"

/** Limits of files, and how long what is known of them stays. */
export interface ExchangeLimits {
  /** Largest file that is imported, in bytes. */
  readonly maxFileBytes: number
  /** Records of a batch, which is one transaction. */
  readonly batchRows: number
  /** Days that an import, its records and its report stay after its end. */
  readonly keepDays: number
}

/** What holds where the deployment says nothing. */
export const defaultLimits: ExchangeLimits = { maxFileBytes: 268_435_456, batchRows: 500, keepDays: 30 }

/** The limits of this deployment (`exchange` in `commerce.config.ts`). */
export class ExchangeSettings
  extends Context.Service<ExchangeSettings, ExchangeLimits>()("stoa/domain/exchange/ExchangeSettings")
{
  static readonly layerOf = (limits: Partial<ExchangeLimits>): Layer.Layer<ExchangeSettings> =>
    Layer.succeed(ExchangeSettings, { ...defaultLimits, ...limits })
}
