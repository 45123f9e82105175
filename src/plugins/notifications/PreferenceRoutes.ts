import { Effect, Schema } from "effect"
import {
  about,
  type CurrentActor,
  CustomerId,
  forbidden,
  group,
  holds,
  type PageOf,
  type PluginDatabase
} from "stoa/plugin"
import { DeclinedByReceiver, preferencePage, setPreference } from "./DeclinedByLink.ts"
import { concernedOf } from "./MessagesRepo.ts"
import { admin, routes } from "./NotificationOptions.ts"
import { destined, ownCustomer, type Preference, preferences, Wish } from "./Preferences.ts"

const mine = group("Notifications", "/me")
const [read, write] = ["notifications:read", "notifications:write"]

class OthersPreferences extends forbidden("OthersPreferences", "Preferences of others need notifications:admin.") {}

/** A customer for staff; without a profile, or after its erasure, without an address. */
const preferring = (db: PluginDatabase, id: CustomerId) =>
  Effect.map(db.use(concernedOf)({ customerId: id, orderId: null }), (found) => ({ id, email: found?.email ?? null }))

/** Preferences of a customer, for staff and for the customer (contract, plugins §8 and §17.19). */
export const preferenceRoutes = [
  routes.post("/preferences", {
    summary: "Set a preference of a customer",
    description: "Without notifications:admin only one's own: 403 for others. 422 without the customer.",
    permission: write,
    input: Schema.Struct({ ...Wish.fields, customerId: CustomerId }),
    success: preferences.Row,
    errors: [DeclinedByReceiver]
  }).handle((call) =>
    Effect.gen(function*() {
      const { actor, db, input: { customerId, ...wish }, services } = call
      const own = holds(actor, admin) ? undefined : yield* services.customers.existingProfile
      if (own !== undefined && own?.id !== customerId) return yield* new OthersPreferences()
      const preference = yield* destined(wish, own ?? undefined)
      return yield* setPreference(call, own ?? (yield* preferring(db, customerId)), preference, own !== undefined)
    })
  ),
  routes.list("/preferences/:customerId", {
    summary: "List the preferences of a customer",
    permission: read,
    success: preferences.Row
  }).handle((call) =>
    Effect.flatMap(
      preferring(call.db, CustomerId.make(call.params.customerId)),
      (customer) => preferencePage(call, customer, call.page)
    )
  ),
  mine.list("/notification-preferences", {
    summary: "List one's notification preferences",
    permission: write,
    success: preferences.Row
  }).handle((call) =>
    Effect.flatMap(
      call.services.customers.existingProfile,
      (own): Effect.Effect<PageOf<Preference>, never, CurrentActor> =>
        own === null
          ? Effect.succeed({ items: [], page: call.page.page, limit: call.page.limit, total: 0 })
          : preferencePage(call, own, call.page)
    )
  ),
  mine.put("/notification-preferences", {
    summary: "Set one's notification preferences",
    description: "Those that are not named stay. 404 for callers without a profile.",
    permission: write,
    input: Schema.Struct({
      preferences: Schema.Array(Wish).check(Schema.isMaxLength(100)).pipe(about("Preferences to set; others stay."))
    }),
    success: Schema.Array(preferences.Row)
  }).handle((call) =>
    Effect.gen(function*() {
      const customerId = yield* ownCustomer(call)
      const { email = null, phone = null } = (yield* call.services.customers.existingProfile) ?? {}
      const wished = yield* Effect.forEach(call.input.preferences, (one) => destined(one, { email, phone }))
      return yield* call.db.transaction(
        Effect.forEach(wished, (one) => setPreference(call, { id: customerId, email }, one, true))
      )
    })
  )
]
