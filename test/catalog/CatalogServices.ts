import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CatalogDefaults, CatalogSettings } from "../../src/domain/catalog/CatalogSettings.ts"
import { type Actor, CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { defaultRoles } from "../../src/domain/platform/access/Permission.ts"
import type { Hook } from "../../src/domain/platform/hooks/Hook.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { Tasks } from "../../src/domain/platform/tasks/Task.ts"
import { catalog } from "../../src/layers/modules/catalog.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** The services of the catalog on a database of their own. */
export const catalogLayer = (hooks: ReadonlyArray<Hook> = [], settings: Partial<CatalogDefaults> = {}) =>
  catalog.services.pipe(
    Layer.provideMerge(Layer.mergeAll(TestDatabase, Tasks.layer, CatalogSettings.layerOf(settings))),
    Layer.provide(Hooks.layerOf(hooks))
  )

export const shopkeeper: Actor = systemActor("org_default", "keeper")

export const asShopkeeper = Effect.provideService(CurrentActor, shopkeeper)

export const asShopper = Effect.provideService(
  CurrentActor,
  { ...shopkeeper, type: "user", role: "customer", permissions: defaultRoles["customer"] ?? [] }
)

/** Types of the events about a record with their payloads, oldest first. */
export const eventsOf = (entityId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql<{ readonly type: string; readonly payload: Readonly<Record<string, unknown>> }>`select type, payload
      from outbox_events where entity_id = ${entityId} order by entry_number`
  )
