import { Option, Schema } from "effect"
import { Actor } from "../domain/platform/access/Actor.ts"

const Sent = Schema.fromJsonString(
  Schema.Struct({ ...Actor.fields, cartSecret: Schema.optional(Schema.Null), requestId: Schema.optional(Schema.Null) })
)

type TestActor = Omit<Actor, "cartSecret" | "requestId">

const permissions = {
  admin: ["*:*"],
  staff: [
    "catalog:read",
    "catalog:read:unpublished",
    "catalog:create",
    "catalog:update",
    "inventory:adjust",
    "orders:read",
    "orders:create",
    "orders:create:on-behalf",
    "orders:update",
    "orders:manage",
    "returns:manage"
  ],
  customer: ["catalog:read", "cart:create", "cart:read", "orders:read:own"],
  noperm: []
} as const

const actor = (name: keyof typeof permissions, role: string): TestActor => ({
  type: "user",
  userId: `test-${name}-1`,
  email: `${name}@test.local`,
  name: `Test ${name}`,
  vendorId: null,
  organizationId: "org_default",
  role,
  permissions: permissions[name]
})

const shortForms: ReadonlyMap<string, TestActor> = new Map([
  ["admin", actor("admin", "admin")],
  ["staff", actor("staff", "staff")],
  ["customer", actor("customer", "customer")],
  ["none", actor("noperm", "customer")]
])

const decode = Schema.decodeOption(Sent)

/** Ignores anything but a short form or JSON (contract, platform §15). */
export const testActor = (sent: string | undefined): Option.Option<TestActor> =>
  sent === undefined ? Option.none() : Option.orElse(Option.fromUndefinedOr(shortForms.get(sent)), () => decode(sent))
