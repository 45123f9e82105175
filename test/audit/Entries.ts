import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Actor } from "../../src/domain/access/Actor.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, at } from "../support/TestApp.ts"

export const audit = "/api/audit"

/** Somebody of the staff who has done nothing yet, so that the trail of one request can be told from all others. */
export const aNewcomer = (type: Actor["type"] = "user") => ({ ...asAdmin, type, userId: `newcomer-${newId()}` })

/** The trail with these filters, newest first. */
export const trail = (query: Readonly<Record<string, string>>, as: Partial<Actor> = asAdmin) =>
  api("GET", `${audit}?${new URLSearchParams(query).toString()}`, { as })

/** What an actor has done, newest first. */
export const doneBy = (actor: Partial<Actor>) =>
  Effect.map(trail({ actorId: String(actor.userId), limit: "100" }), (answer) => answer.list("data"))

/** The history of one record, newest first. */
export const historyOf = (entityType: string, entityId: string, as: Partial<Actor> = asAdmin, query = "") =>
  api("GET", `${audit}/${entityType}/${entityId}${query}`, { as })

/** What every entry has (contract, platform §10). */
export const assertEntry = (entry: unknown) => {
  for (const field of ["id", "organizationId", "entityType", "entityId", "event", "actorType"]) {
    assert.isString(at(entry, field), `${field} of ${JSON.stringify(entry)}`)
  }
  assert.match(String(at(entry, "id")), /^[0-9a-f-]{36}$/)
  assert.match(String(at(entry, "createdAt")), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.isObject(at(entry, "payload"))
}

/** The table of the trail, whatever its name: its columns are those of an entry (contract, platform §10). */
export const auditTable = Effect.gen(function*() {
  const tables = yield* onDatabase((sql) =>
    sql<{ readonly name: string }>`select c.table_name as name from information_schema.columns c
      join information_schema.columns r using (table_schema, table_name)
      where c.table_schema = 'public' and c.column_name = 'entity_type' and r.column_name = 'actor_type'`
  )
  assert.strictEqual(tables.length, 1, JSON.stringify(tables))
  return tables[0]?.name ?? ""
})
