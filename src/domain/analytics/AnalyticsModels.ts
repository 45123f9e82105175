import { Context, Data, Effect, Layer } from "effect"
import { type AnalyticsModel, type ModelSource } from "./AnalyticsModel.ts"
import { modelFlaws } from "./ModelRules.ts"

/** A model and who brought it. */
export interface KnownModel {
  readonly model: AnalyticsModel
  readonly source: ModelSource
}

/** A model cannot be asked as it is written; ends the start with one line for whoever wrote it. */
export class InvalidModel extends Data.TaggedError("InvalidModel")<{ readonly message: string }> {}

/** A module or plugin, as far as its models go. */
interface Modelling {
  readonly analyticsModels: () => ReadonlyArray<AnalyticsModel>
}

/** The models that core modules and plugins bring, by their manifests (spec §2 Plugin manifest). */
export const broughtBy = (
  core: ReadonlyArray<Modelling>,
  plugins: ReadonlyArray<Modelling>
): ReadonlyArray<KnownModel> => [
  ...core.flatMap(({ analyticsModels }) => analyticsModels().map((model) => ({ model, source: "builtin" as const }))),
  ...plugins.flatMap(({ analyticsModels }) => analyticsModels().map((model) => ({ model, source: "plugin" as const })))
]

/** The models that modules and plugins bring, before the deployment adds its own. */
export class BroughtModels
  extends Context.Service<BroughtModels, ReadonlyArray<KnownModel>>()("stoa/domain/analytics/BroughtModels")
{
  static readonly layerOf = (models: ReadonlyArray<KnownModel>) => Layer.succeed(BroughtModels, models)
}

/** All models of this deployment, in the order in which they were brought. */
export class AnalyticsModels
  extends Context.Service<AnalyticsModels, ReadonlyArray<KnownModel>>()("stoa/domain/analytics/AnalyticsModels")
{
  /** Of modules, plugins and the deployment's own; fails when they cannot stand beside each other. */
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
