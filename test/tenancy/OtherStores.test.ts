import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { endpoints } from "../../src/http/docs/Docs.ts"
import { withApp } from "../support/TestApp.ts"
import { ownerless } from "./Footprint.ts"
import { otherTenants, ownAffairs } from "./OtherTenants.ts"
import { asks, files, nameless, reads, refusedAnyway, writes } from "./Probes.ts"

withApp("two stores in one database", (it) => {
  it.effect("every route is either asked about another store's records or names none", () =>
    Effect.sync(() => {
      // Whose users, sessions and memberships those are is asked in test/auth.
      const ofStores = endpoints().filter(({ path }) => !path.startsWith("/api/auth/"))
      const unasked = ofStores.filter((route) =>
        ![...reads, ...files, ...writes, refusedAnyway].some((one) => asks(one, route))
      )
      assert.sameMembers(unasked.map(({ method, path }) => `${method} ${path}`), [...nameless])
    }))

  it.effect("every table of a tenant says whose its rows are", () =>
    Effect.map(ownerless, (tables) => assert.deepStrictEqual(tables, [])))

  it.effect("neither sees nor touches the other, by whichever id it asks", () =>
    Effect.gen(function*() {
      const { leaks, ours, theirs } = yield* otherTenants
      assert.deepStrictEqual(leaks, [])
      // The same requests are good ones: with records of their own store they are done, and change nothing beside it.
      assert.deepStrictEqual(yield* ownAffairs(theirs, ours), [])
    }))
})
