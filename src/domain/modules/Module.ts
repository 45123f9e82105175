import { Layer } from "effect"
import type { AnalyticsModel } from "../analytics/AnalyticsModel.ts"
import type { Migrations } from "./Migrations.ts"

/** A permission of a module, with a description for people who grant it. */
export interface PermissionScope {
  readonly scope: string
  readonly description: string
}

/**
 * The manifest of a module or plugin: its parts in one place. Everything with behaviour is a Layer, so that hooks,
 * routes and actors of a module share one service instance.
 */
export interface Module<Services extends Layer.Any, Actors extends Layer.Any, Routes extends Layer.Any> {
  /** Unique name; also the owner of the migration ledger `<id>_migrations`. */
  readonly id: string
  /**
   * Modules whose services and tables this one uses; they come earlier in the list. Statements can also name tables of
   * later modules: catalog lists show prices and stock, deletions check for references from carts, orders or the
   * ledger, and an order's cancellation writes the refund that payments settles.
   */
  readonly requires: ReadonlyArray<string>
  readonly permissions: ReadonlyArray<PermissionScope>
  readonly migrations: Migrations
  /** Models of its tables for queries at `/api/analytics` (docs/analytics.md); read once at startup. */
  readonly analyticsModels: () => ReadonlyArray<AnalyticsModel>
  /** Repositories and services of the module, in every process. */
  readonly services: Services
  /** Behaviour of its entities and workflows, in processes that run actors. */
  readonly actors: Actors
  /** Handlers of its route groups, in processes that serve HTTP. */
  readonly routes: Routes
}

type Optional = "actors" | "analyticsModels" | "migrations" | "permissions" | "requires"

interface Written<Services extends Layer.Any, Actors extends Layer.Any, Routes extends Layer.Any>
  extends Omit<Module<Services, Actors, Routes>, Optional>, Partial<Pick<Module<Services, Actors, Routes>, Optional>>
{}

/** Types a manifest without widening its layers, so that a missing requirement is a type error at the wiring. */
export const defineModule = <
  Services extends Layer.Any,
  Routes extends Layer.Any,
  Actors extends Layer.Any = Layer.Layer<never>
>(module: Written<Services, Actors, Routes>): Module<Services, Actors, Routes> => ({
  // A module without actors has the empty layer, the default of the type parameter.
  actors: Layer.empty as Layer.Any as Actors,
  requires: [],
  permissions: [],
  migrations: {},
  analyticsModels: () => [],
  ...module
})
