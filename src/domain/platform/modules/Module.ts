import { Layer } from "effect"
import type { Migrations } from "../database/MigrationStatements.ts"
import type { AnalyticsModel } from "./AnalyticsModel.ts"

/** A permission of a module, with a description for people who grant it. */
export interface PermissionScope {
  readonly scope: string
  readonly description: string
  /**
   * Roles that hold it unless the deployment says otherwise (contract, plugins §17.2). What `customer` holds, visitors
   * hold as well.
   */
  readonly roles?: ReadonlyArray<string>
}

/** What modules of the core and plugins declare of themselves. */
export interface Manifest {
  /** Unique name: lower case letters, digits and hyphens; also the owner of the ledger of its migrations. */
  readonly id: string
  /** Permissions that it introduces, for roles and API keys. */
  readonly permissions: ReadonlyArray<PermissionScope>
  /** Changes of the database by number (`0001_split_names`), each of which runs once. */
  readonly migrations: Migrations
  /** Models of its tables for queries at `/api/analytics` (docs/analytics.md); read once at startup. */
  readonly analyticsModels: () => ReadonlyArray<AnalyticsModel>
}

interface Written<Services extends Layer.Any, Actors extends Layer.Any, Routes extends Layer.Any, Required>
  extends Partial<Omit<Manifest, "id">>
{
  readonly id: string
  /**
   * Modules whose services and tables this one uses. Statements can also name tables of other modules: catalog lists show
   * prices and stock, deletions check for references from carts, orders or the ledger, and an order's cancellation writes
   * the refund that payments settles.
   */
  readonly requires?: ReadonlyArray<Required>
  /** Repositories and services of the module, in every process. */
  readonly services: Services
  /** Behaviour of its entities and workflows, in processes that run actors. */
  readonly actors?: Actors
  /** Handlers of its route groups, in processes that serve HTTP. */
  readonly routes: Routes
}

/** Layers side by side, each built once. */
export const together = <L extends Layer.Any>(layers: ReadonlyArray<L>) =>
  Layer.provideMerge(Layer.empty, [Layer.empty, ...layers])

/**
 * A module of the core: its parts in one place. Everything with behaviour is a layer, so that hooks, routes and actors of a
 * module share one service instance. `layer` has its services and those of the modules that it requires: Effect builds
 * each layer once, so modules that require the same one share its services. A service of a module that is not required is
 * a type error where the modules are put together.
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
