import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import type { Entry } from "../events/ChangeLog.ts"
import { type Answer, api, type asAdmin, at } from "../support/TestApp.ts"

export const profileOf = (as: typeof asAdmin) => api("GET", "/api/me/profile", { as })

/** Id of the profile of an actor. */
export const profileIdOf = (as: typeof asAdmin) => Effect.map(profileOf(as), (profile) => profile.text("data.id"))

export const ids = (answer: Answer) => answer.list("data").map((one) => at(one, "id"))

/** Change log entries about a record, oldest first. */
export const entriesOf = (entityId: string) =>
  onDatabase((sql) => sql<Entry>`select * from outbox_events where entity_id = ${entityId} order by entry_number`)
