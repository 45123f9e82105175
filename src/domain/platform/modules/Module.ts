import { Layer } from "effect"
import type { Migrations } from "../database/MigrationStatements.ts"
import type { AnalyticsModel } from "./AnalyticsModel.ts"

export interface PermissionScope {
  readonly scope: string
  readonly description: string
  /** Roles that hold it by default (contract, plugins §17.2); visitors hold `customer`'s. */
  readonly roles?: ReadonlyArray<string>
}

export interface Manifest {
  /** Lower case letters, digits and hyphens; also names the ledger of migrations. */
  readonly id: string
  readonly permissions: ReadonlyArray<PermissionScope>
  /** By number (`0001_split_names`); each runs once. */
  readonly migrations: Migrations
  /** For `/api/analytics` (docs/analytics.md); read once at startup. */
  readonly analyticsModels: () => ReadonlyArray<AnalyticsModel>
}

interface Written<Services extends Layer.Any, Actors extends Layer.Any, Routes extends Layer.Any, Required>
  extends Partial<Omit<Manifest, "id">>
{
  readonly id: string
  /**
   * Modules whose services and tables this one uses. Statements may also name tables of others: lists show prices and
   * stock, deletions check references.
   */
  readonly requires?: ReadonlyArray<Required>
  readonly services: Services
  readonly actors?: Actors
  readonly routes: Routes
}

export const together = <L extends Layer.Any>(layers: ReadonlyArray<L>) =>
  Layer.provideMerge(Layer.empty, [Layer.empty, ...layers])

/**
 * A module of the core. Its hooks, routes and actors share one service instance: Effect builds each layer once. `layer`
 * includes the services of required modules; a service of any other is a type error.
 */
export const defineModule = <
  A,
  E,
  R,
  Routes extends Layer.Any,
  ActorError = never,
  ActorNeeds = never,
  Required extends { readonly layer: Layer.Any } = never
>(module: Written<Layer.Layer<A, E, R>, Layer.Layer<never, ActorError, ActorNeeds>, Routes, Required>) => {
  const { actors = Layer.empty, requires = [], ...written } = module
  const required = together(requires.map((one): Required["layer"] => one.layer))
  const none: Omit<Manifest, "id"> = { permissions: [], migrations: {}, analyticsModels: () => [] }
  return { ...none, ...written, actors, layer: Layer.provideMerge(module.services, required) }
}
