import type { Actor } from "../../../domain/platform/access/Actor.ts"
import { testActor } from "../../../layers/TestActors.ts"

/** Who a test pretends to be: any actor record but what a request itself adds. */
export type TestActor = Omit<Actor, "cartSecret" | "requestId">

const builtIn = (name: string): TestActor => {
  const found = testActor(name)
  if (found._tag === "None") throw new Error(`There is no test actor "${name}".`)
  return found.value
}

/** Holds `*:*`. */
export const testAdminActor = builtIn("admin")
/** Holds what staff of a shop holds (contract, platform §15). */
export const testStaffActor = builtIn("staff")
export const testCustomerActor = builtIn("customer")
/** A customer without any permission. */
export const testNoPermActor = builtIn("none")

/** The same actor in another organization. */
export const inOrganization = (organizationId: string, actor: TestActor): TestActor => ({ ...actor, organizationId })

/** The same actor with these permissions and no others. */
export const withPermissions = (permissions: ReadonlyArray<string>, actor: TestActor): TestActor => ({
  ...actor,
  permissions
})

/** Headers of a JSON request by an actor. */
export const jsonHeaders = (actor?: TestActor): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  ...(actor === undefined ? {} : { "x-test-actor": JSON.stringify(actor) })
})
