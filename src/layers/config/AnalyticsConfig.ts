import { Effect } from "effect"
import type { AnalyticsModel } from "../../domain/analytics/AnalyticsModel.ts"
import { type AnalyticsLimits, defaultAnalytics } from "../../domain/analytics/AnalyticsSettings.ts"
import { modelFlaws } from "../../domain/analytics/ModelRules.ts"
import { InvalidSetting } from "./InvalidSetting.ts"
import { refuse } from "./Variables.ts"

/** What a deployment says of analytics (docs/analytics.md). */
export interface AnalyticsOptions {
  /** Models of the deployment's own, beside those of the core and of plugins. */
  readonly models?: ReadonlyArray<AnalyticsModel>
  /** Milliseconds a query may take. Default 10000. */
  readonly timeoutMs?: number
  /** Queries at once in one process; the others wait. Default 2. */
  readonly connections?: number
}

/** Models that cannot stand beside those of the core by themselves; joins to those are looked at when all are there. */
const flawsAlone = (models: ReadonlyArray<AnalyticsModel>) =>
  modelFlaws(models.map((model) => ({ ...model, joins: (model.joins ?? []).map(({ model: _, ...join }) => join) })))

/** What `commerce.config.ts` says of analytics must be usable before the first query finds out that it is not. */
export const checkAnalytics = Effect.fnUntraced(function*(options: AnalyticsOptions = {}) {
  const { connections, models = [], timeoutMs } = { ...defaultAnalytics, ...options }
  if (!Number.isInteger(timeoutMs) || timeoutMs < 100 || timeoutMs > 300_000) {
    return yield* refuse("analytics.timeoutMs", String(timeoutMs), "a whole number of milliseconds from 100 to 300000")
  }
  if (!Number.isInteger(connections) || connections < 1 || connections > 20) {
    return yield* refuse("analytics.connections", String(connections), "a whole number from 1 to 20")
  }
  const [flaw] = flawsAlone(models)
  if (flaw !== undefined) return yield* new InvalidSetting({ message: `analytics.models: ${flaw}.` })
})

/** How much a process spends on queries. */
export const analyticsLimits = (options: AnalyticsOptions = {}): AnalyticsLimits => ({
  timeoutMs: options.timeoutMs ?? defaultAnalytics.timeoutMs,
  connections: options.connections ?? defaultAnalytics.connections
})
