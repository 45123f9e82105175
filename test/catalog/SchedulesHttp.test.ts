import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { api, asStaff, withSharedApp } from "../support/TestApp.ts"
import { entities, make, onDatabase, refused } from "./CatalogCalls.ts"

const soon = "2999-01-01T10:00:00.000Z"
const later = "2999-02-01T10:00:00.000Z"

const set = (id: string, body: object) => api("PUT", `${entities}/${id}/schedule`, { as: asStaff, body })

withSharedApp("schedules over HTTP", (it) => {
  it.effect("sets, replaces, reads and deletes a schedule", () =>
    Effect.gen(function*() {
      const { id } = yield* make({})
      const none = yield* api("GET", `${entities}/${id}/schedule`, { as: asStaff })
      const empty = { entityId: id, publishAt: null, unpublishAt: null, refusal: null }
      assert.deepStrictEqual(none.at("data"), { ...empty, scheduledBy: null })
      const both = yield* set(id, { publishAt: "2999-01-01T10:00:00", unpublishAt: "2999-02-01T11:00:00+01:00" })
      const scheduled = { ...empty, scheduledBy: "user-staff" }
      assert.deepStrictEqual([both.status, both.at("data")], [200, {
        ...scheduled,
        publishAt: soon,
        unpublishAt: later
      }])
      const one = yield* set(id, { unpublishAt: later })
      assert.deepStrictEqual(one.at("data"), { ...scheduled, unpublishAt: later })
      const read = yield* api("GET", `${entities}/${id}/schedule`, { as: asStaff })
      assert.deepStrictEqual(read.at("data"), one.at("data"))
      const cleared = yield* api("DELETE", `${entities}/${id}/schedule`, { as: asStaff })
      assert.deepStrictEqual([cleared.status, cleared.at("data")], [200, scheduled])
    }))

  it.effect("refuses a schedule with past or contradicting moments, or of an unknown entity", () =>
    Effect.gen(function*() {
      const { id } = yield* make({})
      const path = `${entities}/${id}/schedule`
      const wrong: ReadonlyArray<readonly [string, object]> = [
        ["publishAt", { publishAt: "2020-01-01" }],
        ["unpublishAt", { unpublishAt: "2020-01-01T00:00:00Z" }],
        ["unpublishAt", { publishAt: later, unpublishAt: soon }],
        ["unpublishAt", { publishAt: soon, unpublishAt: soon }],
        ["publishAt", { publishAt: "tomorrow" }]
      ]
      for (const [field, body] of wrong) {
        const answer = yield* refused("PUT", path, body, 422)
        assert.strictEqual(answer.at("error.details.issues.0.path"), field)
      }
      yield* refused("PUT", `${entities}/${newId()}/schedule`, { publishAt: soon }, 404)
      const rows = yield* onDatabase((sql) => sql`select 1 from entity_schedules where entity_id = ${id}::uuid`)
      assert.lengthOf(rows, 0)
    }))
})
