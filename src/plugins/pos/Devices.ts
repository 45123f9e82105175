import { DateTime, Effect, Schema, Struct } from "effect"
import { fieldsOf, type PluginCall, resource } from "stoa/plugin"
import { endLogins } from "./Logins.ts"
import { activeTerminal, admin, devices, deviceScope, routes } from "./Terminals.ts"

const Paired = Schema.Struct({
  ...Struct.omit(fieldsOf(devices), ["organizationId"]),
  key: Schema.String.annotate({ description: "Shown in this answer only.", examples: ["pos_device_…"] })
})

const pair = Effect.fn("Devices.pair")(function*(call: PluginCall, terminalId: string, name: string) {
  const terminal = yield* activeTerminal(call.db, terminalId)
  const { apiKey, key } = yield* call.asStore(
    call.services.apiKeys.create({ name: `${terminal.code} ${name}`.slice(0, 64), scope: deviceScope })
  )
  const row = { terminalId, name, apiKeyId: apiKey.id, pairedAt: yield* DateTime.nowAsDate }
  return { ...yield* call.db.table(devices).insert(row), key }
})

const revoke = Effect.fn("Devices.revoke")(function*(call: PluginCall, id: string) {
  const { asStore, db, services } = call
  const device = yield* db.table(devices).get(id)
  if (device.revokedAt !== null) return device
  yield* Effect.catchTag(asStore(services.apiKeys.revoke(device.apiKeyId)), "NotFound/ApiKey", () => Effect.void)
  const revoked = yield* db.table(devices).update(id, { revokedAt: yield* DateTime.nowAsDate })
  yield* endLogins(call, { deviceKeyId: device.apiKeyId })
  return revoked
})

/** Devices of tills, and their keys. */
export const deviceRoutes = [
  routes.post("/terminals/:id/devices", {
    summary: "Pair a device with a terminal",
    description: "Only this answer has the key of the device. 404 without the terminal; 422 when it is not active.",
    permission: admin,
    input: Schema.Struct({ name: devices.columns.name.schema }),
    strict: true,
    success: Paired
  }).handle((call) => pair(call, call.params.id, call.input.name)),
  ...resource(routes, "/devices", devices, {
    noun: "device",
    read: admin,
    write: admin,
    filters: ["terminalId"],
    create: false,
    patch: false,
    remove: {
      summary: "Revoke the key of a device",
      description: "It ends with the logins that were made on it; the device stays in the list. 404 without it.",
      answer: (call) => revoke(call, call.params.id)
    }
  })
]
