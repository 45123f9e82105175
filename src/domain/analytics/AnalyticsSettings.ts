import { Context, Layer } from "effect"

/** How much a process spends on queries. */
export interface AnalyticsLimits {
  /** Milliseconds a query may take, its waiting for a connection included; then it is 503. */
  readonly timeoutMs: number
  /** Queries at once in one process: the others wait, and orders are taken by connections of their own. */
  readonly connections: number
}

/** What holds unless the deployment says otherwise. */
export const defaultAnalytics: AnalyticsLimits = { timeoutMs: 10_000, connections: 2 }

/** Limits of queries as the deployment set them. */
export class AnalyticsSettings
  extends Context.Service<AnalyticsSettings, AnalyticsLimits>()("stoa/domain/analytics/AnalyticsSettings")
{
  static readonly layerOf = (limits: AnalyticsLimits) => Layer.succeed(AnalyticsSettings, limits)
}
