import { Schema } from "effect"
import { CustomerId } from "../../../domain/platform/ids/Id.ts"
import { rowsOf, statement } from "./StatementRepo.ts"

const profiles = rowsOf(Schema.Struct({ id: CustomerId }))

/** The id of a user's profile; undefined before its first use. */
export const profileOf = statement("OwnedBy.profile", function*(sql, organizationId, userId: string) {
  const [row] = yield* profiles(sql`select id from plugin_customers
      where organization_id = ${organizationId} and user_id = ${userId}`)
  return row?.id
})
