import { Effect, Schema } from "effect"
import {
  about,
  boolean,
  childOf,
  fieldsOf,
  integerBetween,
  json,
  notFound,
  type PluginDatabase,
  resource,
  type RowOf,
  table,
  Text,
  text,
  uuid,
  type View
} from "stoa/plugin"
import { admin, operate, RestaurantOptions, routes } from "./RestaurantOptions.ts"

/** A station of the kitchen, such as grill or bar. */
export const stations = table("kds_stations", {
  name: text.upTo(100).unique(),
  isActive: boolean.default(true),
  alertThresholdMinutes: integerBetween(1, 1_440).default(15).about("Minutes after which a ticket is late."),
  printerId: text.nullable.about("Printer of the station."),
  metadata: json.default({})
}, { strict: true })
export type Station = RowOf<typeof stations>

/** Item groups that a station cooks. Several stations may cook one. */
export const stationGroups = childOf(stations, "stationId", "kds_station_item_groups", {
  stationId: uuid.references(stations),
  itemGroup: text.about("Group of dishes that the station makes.")
}, { unique: [{ columns: ["stationId", "itemGroup"] }], indexes: [{ columns: ["itemGroup"] }] })

class StationNotFound extends notFound("KdsStation", "No such station.") {}
class GroupNotFound extends notFound("KdsItemGroup", "The station has no such item group.") {}

/** 404 without it. */
export const findStation = (db: PluginDatabase, id: string) =>
  Effect.catchTag(db.table(stations).get(id), "NotFound/Row", () => new StationNotFound())

const StationView = Schema.Struct({
  ...fieldsOf(stations),
  itemGroups: Schema.Array(Schema.String).pipe(about("Groups of goods that it cooks."))
})

const view: View<typeof stations, typeof StationView.Type> = {
  success: StationView,
  show: (rows, { db }) =>
    Effect.map(
      db.table(stationGroups).list({ stationId: { in: rows.map(({ id }) => id) } }, {
        order: ["itemGroup"]
      }),
      (groups) =>
        rows.map((station) => ({
          ...station,
          itemGroups: groups.filter(({ stationId }) => stationId === station.id).map(({ itemGroup }) => itemGroup)
        }))
    )
}

const path = "/kds/stations"

export const stationRoutes = [
  ...resource(routes, path, stations, {
    noun: "station",
    read: operate,
    write: admin,
    filters: ["isActive"],
    order: ["name"],
    view,
    create: ({ db, input }) =>
      Effect.flatMap(
        RestaurantOptions,
        ({ kdsAlertMinutes }) => db.table(stations).insert({ alertThresholdMinutes: kdsAlertMinutes, ...input })
      ),
    remove: false
  }),
  ...resource(routes, `${path}/:id/item-groups`, stationGroups, {
    noun: "item group",
    of: { table: stations, noun: "station" },
    rowId: "groupId",
    read: operate,
    write: admin,
    list: false,
    get: false,
    patch: false,
    remove: false
  }),
  routes.delete(`${path}/:id/item-groups/:group`, {
    summary: "Remove an item group from a station",
    description: "404 without the station, or when it does not cook the group.",
    permission: admin,
    params: { group: Text },
    success: Schema.Struct({ removed: Schema.Literal(true) })
  }).handle(({ db, params }) =>
    Effect.gen(function*() {
      const { group: itemGroup, id: stationId } = params
      const found = yield* db.table(stationGroups).first({ stationId, itemGroup })
      if (found === undefined) return yield* new GroupNotFound()
      yield* db.table(stationGroups).delete(found.id)
      return { removed: true as const }
    })
  )
]
