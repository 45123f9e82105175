import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { endpoints } from "../../src/http/docs/Docs.ts"
import { live, testAppLayer } from "../support/TestApp.ts"
import { ownerless } from "./Footprint.ts"
import { otherTenants, ownAffairs } from "./OtherTenants.ts"
import { asks, files, nameless, reads, refusedAnyway, writes } from "./Probes.ts"

layer(testAppLayer({ email: { send: async () => {} } }), live)("two stores in one database", (it) => {
  it.effect("two stores in one database are sent each other's ids on every route that names a record", () =>
    Effect.sync(() => {
      // Users, sessions and memberships: test/auth.
      const ofStores = endpoints().filter(({ path }) => !path.startsWith("/api/auth/"))
      const unasked = ofStores.filter((route) =>
        ![...reads, ...files, ...writes, refusedAnyway].some((one) => asks(one, route))
      )
      assert.sameMembers(unasked.map(({ method, path }) => `${method} ${path}`), [...nameless])
    }))

  it.effect("two stores in one database have their organization in each row of every table of tenants", () =>
    Effect.map(ownerless, (tables) => assert.deepStrictEqual(tables, [])))

  it.effect("two stores in one database neither read nor change each other, by any id in any request", () =>
    Effect.gen(function*() {
      const { leaks, ours, theirs } = yield* otherTenants()
      assert.deepStrictEqual(leaks, [])
      // The same requests with records of their own store succeed, and change nothing of the other store.
      assert.deepStrictEqual(yield* ownAffairs(theirs, ours), [])
    }))
})
