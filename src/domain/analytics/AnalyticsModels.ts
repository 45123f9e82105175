import { Context, Data, Effect, Layer } from "effect"
import { type AnalyticsModel, type ModelSource } from "./AnalyticsModel.ts"
import { modelFlaws } from "./ModelRules.ts"

/** A model and its source. */
export interface KnownModel {
  readonly model: AnalyticsModel
  readonly source: ModelSource
}

/** An invalid model; stops the startup with one line for its author. */
export class InvalidModel extends Data.TaggedError("InvalidModel")<{ readonly message: string }> {}

/** The models that a module or plugin declares. */
interface Modelling {
  readonly analyticsModels: () => ReadonlyArray<AnalyticsModel>
}

/** The models of core modules and plugins, from their manifests (spec §2 Plugin manifest). */
export const broughtBy = (
  core: ReadonlyArray<Modelling>,
  plugins: ReadonlyArray<Modelling>
): ReadonlyArray<KnownModel> => [
  ...core.flatMap(({ analyticsModels }) => analyticsModels().map((model) => ({ model, source: "builtin" as const }))),
  ...plugins.flatMap(({ analyticsModels }) => analyticsModels().map((model) => ({ model, source: "plugin" as const })))
]

/** The models of modules and plugins, without those of the deployment. */
export class BroughtModels
  extends Context.Service<BroughtModels, ReadonlyArray<KnownModel>>()("stoa/domain/analytics/BroughtModels")
{
  static readonly layerOf = (models: ReadonlyArray<KnownModel>) => Layer.succeed(BroughtModels, models)
}

/** All models of this deployment, in the order of their declaration. */
export class AnalyticsModels
  extends Context.Service<AnalyticsModels, ReadonlyArray<KnownModel>>()("stoa/domain/analytics/AnalyticsModels")
{
  /** Combines the models of modules, plugins and the deployment; fails when they conflict. */
  static readonly layerOf = (custom: ReadonlyArray<AnalyticsModel>) =>
    Layer.effect(
      AnalyticsModels,
      Effect.gen(function*() {
        const all = [...yield* BroughtModels, ...custom.map((model) => ({ model, source: "custom-schema" as const }))]
        const [flaw] = modelFlaws(all.map(({ model }) => model))
        return flaw === undefined ? all : yield* new InvalidModel({ message: `${flaw}.` })
      })
    )
}
