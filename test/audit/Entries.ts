import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Actor } from "../../src/domain/platform/access/Actor.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { api, asAdmin, at } from "../support/TestApp.ts"

export const audit = "/api/audit"

/** An administrator without earlier changes, so that the entries of one request can be found. */
export const aNewcomer = (type: Actor["type"] = "user") => ({ ...asAdmin, type, userId: `newcomer-${newId()}` })

/** The trail with these filters, newest first. */
export const trail = (query: Readonly<Record<string, string>>, as: Partial<Actor> = asAdmin) =>
  api("GET", `${audit}?${new URLSearchParams(query).toString()}`, { as })

/** The entries of an actor, newest first. */
export const doneBy = (actor: Partial<Actor>) =>
  Effect.map(trail({ actorId: String(actor.userId), limit: "100" }), (answer) => answer.list("data"))

/** The history of one record, newest first. */
export const historyOf = (entityType: string, entityId: string, as: Partial<Actor> = asAdmin, query = "") =>
  api("GET", `${audit}/${entityType}/${entityId}${query}`, { as })

/** Asserts the fields of every entry (contract, platform §10). */
export const assertEntry = (entry: unknown) => {
  for (const field of ["id", "organizationId", "entityType", "entityId", "event", "actorType"]) {
    assert.isString(at(entry, field), `${field} of ${JSON.stringify(entry)}`)
  }
  assert.match(String(at(entry, "id")), /^[0-9a-f-]{36}$/)
  assert.match(String(at(entry, "createdAt")), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.isObject(at(entry, "payload"))
}
