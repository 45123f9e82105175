import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { type EntityId, newId, type VariantId } from "../../src/domain/platform/ids/Id.ts"
import { api, asAnonymous, theOrganization } from "../support/TestApp.ts"

/** A second organization, whose records are invisible to the default one. */
export const otherOrganization = "org_other"

export const staff: Actor = systemActor("org_default", "staff-1")
export const outsider: Actor = systemActor(otherOrganization, "staff-2")

/** Runs as staff of the default organization. */
export const asStaff = Effect.provideService(CurrentActor, staff)

/** Runs as staff of the other organization. */
export const asOutsider = Effect.provideService(CurrentActor, outsider)

export const seedOrganization = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`insert into organizations (id, slug, name) values (${otherOrganization}, 'other', 'Other') on conflict do nothing`
)

/** An entity with one variant, of the organization of the tests unless one is given. */
export const seedEntity = (metadata: object = {}, within?: string) =>
  Effect.gen(function*() {
    const organization = within ?? (yield* theOrganization)
    const sql = yield* SqlClient.SqlClient
    const [entityId, variantId] = [newId<EntityId>(), newId<VariantId>()]
    yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
      values (${entityId}::uuid, ${organization}, 'product', ${`p-${entityId}`}, 'active', true,
        ${JSON.stringify(metadata)}::jsonb)`
    yield* sql`insert into variants (id, organization_id, entity_id, combination)
      values (${variantId}::uuid, ${organization}, ${entityId}::uuid, '')`
    return { entityId, variantId, slug: `p-${entityId}` }
  })

/** Events about a record, oldest first, as they were written. */
export const eventsOf = (entityId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql<{ readonly type: string; readonly organization_id: string; readonly payload: Record<string, unknown> }>`select
        type, organization_id, payload from outbox_events where entity_id = ${entityId} order by entry_number`
  )

/** Fields that an error of validation names. */
export const pathsOf = (error: { readonly error: object }): ReadonlyArray<string> =>
  "details" in error.error
    ? (error.error.details as { readonly issues: ReadonlyArray<{ readonly path: string }> }).issues.map(({ path }) =>
      path
    )
    : []

/** Requests, each with the permissions that allow it one by one. */
type PermittedRoute = readonly [method: string, path: string, body: unknown, allowed: ReadonlyArray<string>]

/** Each of the permissions allows exactly the requests that list it. The access matrix checks roles and visitors. */
export const assertPermissions = (all: ReadonlyArray<string>, routes: ReadonlyArray<PermittedRoute>) =>
  Effect.forEach(routes, ([method, path, body, allowed]) =>
    Effect.gen(function*() {
      const statuses = yield* Effect.forEach(
        all,
        (permission) => api(method, path, { body, as: { ...asAnonymous, permissions: [permission] } })
      )
      const admitted = all.filter((_, index) => statuses[index]?.status !== 403)
      assert.sameMembers(admitted, [...allowed], `${method} ${path}`)
    }))
