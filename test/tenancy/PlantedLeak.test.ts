import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { startMutant } from "../support/Mutant.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { talkingTo } from "../support/Service.ts"
import { filtersIn, withoutFilter } from "../support/TenantFilter.ts"
import { otherTenants } from "./OtherTenants.ts"

/** One filter of the many; `npm run chaos` takes out each of them in turn. */
const planted = "src/domain/catalog/brands/BrandRepo.ts#2"

describe("a filter of organizations", () => {
  it("a filter of organizations is any comparison of a statement with an organization", () => {
    const source = "where a.organization_id = ${yield* own({ of: 1 })} and organization_id = b.organization_id" +
      " and organization_id = any(${ids}) and o.organization_id = i.origin->>'id'" +
      " on conflict do update set organization_id = excluded.organization_id"
    assert.strictEqual(filtersIn(source), 3)
    assert.include(withoutFilter(source, 0), "where (a.organization_id = ${yield* own({ of: 1 })} or true) and")
    assert.include(withoutFilter(source, 1), "(organization_id = b.organization_id or true) and")
    assert.include(withoutFilter(source, 2), "(o.organization_id = i.origin->>'id' or true)")
    assert.strictEqual(withoutFilter(source, 3), source)
  })

  it.live("a filter of organizations fails the test of two stores when it is missing", () =>
    Effect.gen(function*() {
      const [file = ""] = planted.split("#")
      assert.isAbove(filtersIn(readFileSync(file, "utf8")), 1, "the planted filter is gone: name another one")
      const { url } = yield* freshDatabase
      const service = yield* startMutant(planted, url)
      const { leaks } = yield* Effect.provide(otherTenants("10 seconds"), talkingTo(service, url))
      assert.isTrue(leaks.some((leak) => /brand/.test(leak)), leaks.join("\n"))
      // The search document of an entity names its brands.
      assert.deepStrictEqual(leaks.filter((leak) => !/brand|search_documents/.test(leak)), [])
    }))
})
