import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { anonymousActor, requireAnyOf, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { defaultRoles, grants, grantsAny } from "../../src/domain/platform/access/Permission.ts"

describe("permissions", () => {
  it("permissions grant exact requirements, those of a wildcard, and scoped ones to the unscoped permission, never the reverse", () => {
    const cases: ReadonlyArray<readonly [held: string, required: string, granted: boolean]> = [
      ["*:*", "orders:read:own", true],
      ["orders:*", "orders:read:own", true],
      ["orders:*", "catalog:read", false],
      ["orders:read", "orders:read:own", true],
      ["orders:read:own", "orders:read", false],
      ["*:read", "orders:read", false],
      ["catalog:readers", "catalog:read", false],
      ["cat:read", "catalog:read", false]
    ]
    for (const [held, required, granted] of cases) {
      assert.strictEqual(grants([held], required), granted, `${held} for ${required}`)
    }
  })

  it("permissions grant a route any of its alternatives", () => {
    assert.isTrue(grantsAny(["pricing:manage"], ["pricing:create", "pricing:manage"]))
    assert.isFalse(grantsAny(["pricing:read"], ["pricing:create", "pricing:manage"]))
  })

  it.effect("permissions that are missing give a visitor 401 and any other actor 403 with their name", () =>
    Effect.gen(function*() {
      const visitor = anonymousActor("org", defaultRoles["customer"] ?? [])
      assert.strictEqual((yield* Effect.flip(requireAnyOf(visitor, ["orders:read"])))._tag, "Unauthorized")
      const actor = { ...systemActor("org"), permissions: [] }
      const error = yield* Effect.flip(requireAnyOf(actor, ["orders:update"]))
      assert.strictEqual(error._tag, "Forbidden/PermissionRequired")
      assert.strictEqual(error.error.message, "Permission 'orders:update' is required.")
    }))
})
