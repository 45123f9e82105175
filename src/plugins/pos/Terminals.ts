import { Effect, Schema } from "effect"
import {
  type Actor,
  addressIn,
  ApiKeyId,
  boolean,
  businessDate,
  group,
  holds,
  idOf,
  integerBetween,
  invalid,
  json,
  jsonOf,
  LocalTimeZone,
  MinorUnits,
  notFound,
  oneOf,
  type PluginCall,
  type PluginDatabase,
  PostalAddress,
  resource,
  type RowOf,
  table,
  text,
  timeOfDay,
  timestamp,
  timeZone,
  uuid,
  WarehouseId
} from "stoa/plugin"

export const routes = group("Point of sale", "/pos")
export const [operate, manage, admin] = ["pos:operate", "pos:manage", "pos:admin"] as const

/** A till: where it stands decides the warehouse, the taxes and the day of its sales (contract-tills-channels §A.1). */
export const terminals = table("pos_terminals", {
  name: text.upTo(100).forPeople,
  code: text.upTo(20).unique().about("Short name, part of receipt numbers."),
  type: oneOf(["register", "tablet", "mobile", "kiosk"]).default("register").forPeople.about("Kind of device."),
  isActive: boolean.default(true),
  /** Where its goods leave. Default: the active warehouse of the lowest priority number. */
  warehouseId: idOf(WarehouseId).existing("warehouse").nullable,
  address: jsonOf(PostalAddress, 4_000).nullable.about(
    "Place of the handing over, whose taxes apply; null: the address of the warehouse."
  ),
  timeZone: timeZone.nullable.about("IANA zone of business days; null: that of the store."),
  businessDayStart: timeOfDay.default("00:00").about("Sales before this local time belong to the day before."),
  cashRounding: integerBetween(0, 10_000).default(0).about(
    "Smallest amount of cash in minor units, such as 5 in Switzerland; 0: no rounding."
  ),
  tipMode: oneOf(["off", "on_terminal", "on_receipt"]).default("off").about("How tips are asked for."),
  printerId: text.nullable.about("Printer of receipts."),
  metadata: json.default({})
}, { strict: true })
export type Terminal = RowOf<typeof terminals>

/** A device that is paired with a till. Its key looks goods up, logs people in and sends what was sold offline. */
export const devices = table("pos_devices", {
  terminalId: uuid.references(terminals),
  name: text.upTo(100).forPeople,
  apiKeyId: idOf(ApiKeyId).unique(),
  pairedAt: timestamp.about("When it was paired."),
  revokedAt: timestamp.nullable.about("When it was locked out.")
})

export const deviceScope = "pos_device"

/** People at a till, and its devices. */
export const tillOrDevice = {
  admits: {
    rule: (actor: Actor) => holds(actor, operate) || holds(actor, "pos:device"),
    missing: operate
  }
}

class TerminalNotFound extends notFound("PosTerminal", "No such terminal.") {}
class TerminalInactive
  extends invalid("TerminalInactive", "terminalId", "terminalId names a terminal that is not active.")
{}

/** What a request may send as an amount, in minor units. */
export const SentAmount = MinorUnits.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000_000 }))

/** Who acts, as rows say it: a person, or a key without one. */
export const authorOf = ({ keyId, userId }: Actor): string => userId ?? keyId ?? "system"

/** 404 without it. */
export const findTerminal = (db: PluginDatabase, id: string) =>
  Effect.catchTag(db.table(terminals).get(id), "NotFound/Row", () => new TerminalNotFound())

/** 404 without it; 422 when it is not active. */
export const activeTerminal = Effect.fnUntraced(function*(db: PluginDatabase, id: string) {
  const terminal = yield* findTerminal(db, id)
  return terminal.isActive ? terminal : yield* new TerminalInactive()
})

/** The day that a moment counts for at a till. */
export const dayOf = ({ businessDayStart, timeZone }: Terminal, at: Date): Effect.Effect<string> =>
  Effect.map(LocalTimeZone, (ofStore) => businessDate(at, timeZone ?? ofStore, businessDayStart))

/** The warehouse that goods of a till leave. 422 without any. */
export const warehouseOf = Effect.fnUntraced(function*(terminal: Terminal, call: PluginCall) {
  if (terminal.warehouseId !== null) return terminal.warehouseId
  const first = yield* warehouseAt(terminal, call)
  return first === undefined ? yield* new NoWarehouse() : first.id
})

const warehouseAt = Effect.fnUntraced(function*({ warehouseId }: Terminal, { services }: PluginCall) {
  const { items } = yield* services.inventory.warehouses({ page: 1, limit: 100 })
  if (warehouseId !== null) return items.find(({ id }) => id === warehouseId)
  const [first] = items.filter(({ isActive }) => isActive).toSorted((one, other) => one.priority - other.priority)
  return first
})

/** Where goods are handed over: at the terminal, which stands at its warehouse unless it has an address. */
export const placeOf = Effect.fnUntraced(function*(terminal: Terminal, call: PluginCall) {
  if (terminal.address !== null) return addressIn(terminal.address)
  return addressIn((yield* warehouseAt(terminal, call))?.address)
})
class NoWarehouse
  extends invalid("NoWarehouse", "warehouseId", "warehouseId of the terminal is missing, and no warehouse is active.")
{}

export const terminalRoutes = [
  ...resource(routes, "/terminals", terminals, {
    noun: "terminal",
    read: operate,
    write: admin,
    filters: ["isActive", "type"],
    remove: {
      summary: "Deactivate a terminal",
      description: "It stays, with its sales. 404 without it.",
      answer: ({ db, which }) => db.table(terminals).update(which, { isActive: false })
    }
  })
]
