import { DateTime, Effect, Schema } from "effect"
import { boolean, EntityId, idOf, integerBetween, listOf, type RowOf, table, text, timestamp, uuid } from "stoa/plugin"
import { operate, routes } from "./RestaurantOptions.ts"

/** What the kitchen can still make of an entity. */
export const availability = table("pos_menu_availability", {
  entityId: idOf(EntityId).existing("entity").unique(),
  isAvailable: boolean.default(true),
  remaining: integerBetween(0, 1_000_000).nullable.about("Units that can still be sold; null: they are not counted."),
  until: timestamp.until.nullable.about("From then on the entry no longer counts."),
  reason: text.nullable.forPeople,
  unavailableSince: timestamp.nullable.forPeople.about("When it was taken off the menu."),
  countedSince: timestamp.about("Orders from before it are in the count already.")
})
export type MenuEntry = RowOf<typeof availability>

/** Units that an order has taken off `remaining`. */
export const takenUnits = table("pos_menu_taken", {
  orderId: uuid,
  entityId: uuid,
  quantity: integerBetween(0, 1_000_000)
}, { unique: [{ columns: ["orderId", "entityId"] }], counted: false, changeLog: false })

const hasEnded = ({ until }: MenuEntry, now: Date) => until !== null && until <= now

/** Whether an entry counts units at this moment. */
export const isCounting = (entry: MenuEntry, now: Date): boolean => entry.remaining !== null && !hasEnded(entry, now)

/** Shows entries with what holds now: none is left, or the entry has ended. */
export const shownEntries = (entries: ReadonlyArray<MenuEntry>) =>
  Effect.map(DateTime.nowAsDate, (now) =>
    entries.map((entry) => ({
      ...entry,
      isAvailable: hasEnded(entry, now) || (entry.isAvailable && entry.remaining !== 0)
    })))

/** Availability of the menu (contract-tills-channels §32). */
export const menuRoutes = [
  listOf(routes, "/menu", availability, {
    summary: "List what is limited or not available",
    description: "Entities without an entry are available.",
    permission: operate,
    filters: ["entityId"],
    view: { success: availability.Row, show: shownEntries }
  }),
  routes.put("/menu/:entityId", {
    summary: "Set the availability of goods on the menu, or the units that are left",
    description:
      "Replaces the entry. Each unit that is sold takes one off `remaining`, and at 0 it is not available; a cancelled order "
      + "gives its units back, a refund does not. After `until` the entry no longer counts. 422 for an unknown entity.",
    permission: operate,
    input: Schema.Struct({
      isAvailable: Schema.Boolean,
      remaining: Schema.optional(availability.columns.remaining.sent),
      until: Schema.optional(availability.columns.until.sent),
      reason: Schema.optional(availability.columns.reason.sent)
    }),
    strict: true,
    success: availability.Row
  }).handle(({ db, input: { isAvailable, reason = null, remaining = null, until = null }, params }) =>
    Effect.gen(function*() {
      const now = yield* DateTime.nowAsDate
      const { row } = yield* db.table(availability).upsert({
        entityId: EntityId.make(params.entityId),
        isAvailable,
        remaining,
        until,
        reason,
        unavailableSince: isAvailable ? null : now,
        countedSince: now
      }, ["entityId"])
      const [shown = row] = yield* shownEntries([row])
      return shown
    })
  )
]
