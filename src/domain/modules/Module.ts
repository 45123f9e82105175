import { Layer } from "effect"
import type { AnalyticsModel } from "../analytics/AnalyticsModel.ts"
import type { Migrations } from "./Migrations.ts"

/** A permission a module introduces, with a sentence for whoever grants it. */
export interface PermissionScope {
  readonly scope: string
  readonly description: string
}

/**
 * The manifest of a module: a table of contents of its rooms. A core module and a plugin are introduced by the same
 * type. Whatever does something is a Layer, so hooks, routes and actors of a module share one service instance.
 */
export interface Module<Services extends Layer.Any, Actors extends Layer.Any, Routes extends Layer.Any> {
  /** Unique name; also the owner of the migration ledger `<id>_migrations`. */
  readonly id: string
  /** Semantic version. */
  readonly version: string
  /**
   * Modules whose services this one is built on and whose tables its own refer to; they come earlier in the list. A
   * statement may also name tables of a later one: the catalog's lists show prices and stock, and what carts, orders or
   * the ledger still refer to is not deleted; an order's cancellation writes the refund that payments settles.
   */
  readonly requires: ReadonlyArray<string>
  readonly permissions: ReadonlyArray<PermissionScope>
  readonly migrations: Migrations
  /** What can be asked of its tables at `/api/analytics` (docs/analytics.md); asked for once, when the process starts. */
  readonly analyticsModels: () => ReadonlyArray<AnalyticsModel>
  /** Repositories and services of the module, in every process. */
  readonly services: Services
  /** Behaviour of its entities and workflows, in processes that run actors. */
  readonly actors: Actors
  /** Handlers of its route groups, in processes that answer HTTP. */
  readonly routes: Routes
}

interface Written<Services extends Layer.Any, Actors extends Layer.Any, Routes extends Layer.Any>
  extends Omit<Module<Services, Actors, Routes>, "actors" | "analyticsModels">
{
  readonly analyticsModels?: () => ReadonlyArray<AnalyticsModel>
  readonly actors?: Actors
}

/** Gives a manifest its type without widening its layers, so that a missing requirement is a type error where it is wired. */
export const defineModule = <
  Services extends Layer.Any,
  Routes extends Layer.Any,
  Actors extends Layer.Any = Layer.Layer<never>
>(module: Written<Services, Actors, Routes>): Module<Services, Actors, Routes> => ({
  // A module without actors has the empty layer, which is what the default of the type parameter says.
  actors: Layer.empty as Layer.Any as Actors,
  analyticsModels: () => [],
  ...module
})
