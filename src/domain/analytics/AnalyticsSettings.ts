import { Context, Layer } from "effect"

/** Limits of the queries of a process. */
export interface AnalyticsLimits {
  /** Milliseconds per query, including the wait for a connection; then 503. */
  readonly timeoutMs: number
  /** Concurrent queries of one process: others wait. Orders use other connections. */
  readonly connections: number
}

/** Defaults of the deployment. */
export const defaultAnalytics: AnalyticsLimits = { timeoutMs: 10_000, connections: 2 }

/** Query limits of the deployment. */
export class AnalyticsSettings
  extends Context.Service<AnalyticsSettings, AnalyticsLimits>()("stoa/domain/analytics/AnalyticsSettings")
{
  static readonly layerOf = (limits: AnalyticsLimits) => Layer.succeed(AnalyticsSettings, limits)
}
