import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { asAdmin, inOrganization } from "./TestApp.ts"

let organizations = 0

/** Makes an organization that no other test uses and gives its administrator, whose id no other test uses either. */
export const anOrganization = Effect.gen(function*() {
  const id = `org_own_${++organizations}`
  yield* onDatabase((sql) => sql`insert into organizations (id, slug, name) values (${id}, ${id}, ${id})`)
  return { ...inOrganization(id, asAdmin), organizationId: id, userId: `admin-of-${id}` }
})
