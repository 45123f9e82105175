import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { anonymousActor, requireAnyOf, systemActor } from "../../src/domain/access/Actor.ts"
import { grants, grantsAny } from "../../src/domain/access/Permission.ts"
import { defaultRoles } from "../../src/domain/access/Role.ts"

describe("the permission test", () => {
  it("grants everything to *:*", () => {
    assert.isTrue(grants(["*:*"], "orders:read:own"))
  })

  it("grants a module's actions, scoped ones too, to module:*", () => {
    assert.isTrue(grants(["orders:*"], "orders:read:own"))
    assert.isFalse(grants(["orders:*"], "catalog:read"))
  })

  it("lets an unscoped grant satisfy a scoped requirement and never the reverse", () => {
    assert.isTrue(grants(["orders:read"], "orders:read:own"))
    assert.isFalse(grants(["orders:read:own"], "orders:read"))
  })

  it("does not know wildcards for actions alone", () => {
    assert.isFalse(grants(["*:read"], "orders:read"))
  })

  it("does not take a longer word for a shorter one", () => {
    assert.isFalse(grants(["catalog:readers"], "catalog:read"))
    assert.isFalse(grants(["cat:read"], "catalog:read"))
  })

  it("accepts any of the alternatives of a route", () => {
    assert.isTrue(grantsAny(["pricing:manage"], ["pricing:create", "pricing:manage"]))
    assert.isFalse(grantsAny(["pricing:read"], ["pricing:create", "pricing:manage"]))
  })
})

describe("a missing permission", () => {
  it.effect("asks a visitor without credentials to authenticate", () =>
    Effect.gen(function*() {
      const visitor = anonymousActor("org", defaultRoles["customer"] ?? [])
      const error = yield* Effect.flip(requireAnyOf(visitor, ["orders:read"]))
      assert.strictEqual(error._tag, "Unauthorized")
    }))

  it.effect("is forbidden to a known actor, and the answer names it", () =>
    Effect.gen(function*() {
      const actor = { ...systemActor("org"), permissions: [] }
      const error = yield* Effect.flip(requireAnyOf(actor, ["orders:update"]))
      assert.strictEqual(error._tag, "Forbidden")
      assert.strictEqual(error.error.message, "Permission 'orders:update' is required.")
    }))
})
