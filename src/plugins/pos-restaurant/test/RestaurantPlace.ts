import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { emulatedService, startEmulator } from "../../../../test/support/PaymentEmulator.ts"
import { freshDatabase } from "../../../../test/support/Postgres.ts"
import { aProduct, aWarehouse } from "../../../../test/support/Purchase.ts"
import { placeOf, talkingTo } from "../../../../test/support/Service.ts"
import { persistently } from "../../../../test/support/ServiceCalls.ts"
import { api, asAdmin } from "../../../../test/support/TestApp.ts"

const program = fileURLToPath(new URL("./serveRestaurant.ts", import.meta.url))

type Method = "DELETE" | "GET" | "PATCH" | "POST" | "PUT"

/** A request, repeated under its key until it is answered for good; without a key for what may run twice. */
export const attempt = (method: Method, path: string, body?: object, key?: string) => {
  const headers = key === undefined ? {} : { "idempotency-key": `waiter-1-${key}` }
  return persistently(api(method, `/api${path}`, { as: asAdmin, ...body !== undefined && { body }, headers }))
}

/** The same for one that is not refused. */
export const ask = Effect.fnUntraced(function*(method: Method, path: string, body?: object, key?: string) {
  const answer = yield* attempt(method, path, body, key)
  assert.isBelow(answer.status, 300, `${path} ${JSON.stringify(answer.body)}`)
  return answer
})

/** A process with a restaurant, which tests kill, and what gives requests to it. */
export const restaurantPlace = Effect.gen(function*() {
  const { url } = yield* freshDatabase
  const place = yield* placeOf({ databaseUrl: url, ...emulatedService(yield* startEmulator), program })
  return { inside: Effect.provide(talkingTo(place.service(), url)), place, url }
})

export interface Restaurant {
  readonly till: { readonly terminalId: string; readonly shiftId: string }
  /** A dish that the grill cooks, for 10.00. */
  readonly entityId: string
}

/** A till with an open shift, a grill and its dish. */
export const aRestaurant = Effect.fnUntraced(function*() {
  const entityId = yield* aProduct({ price: 1_000, stock: 100 })
  yield* ask("PATCH", `/catalog/entities/${entityId}`, { metadata: { itemGroup: "grill" } })
  const station = yield* ask("POST", "/pos/restaurant/kds/stations", { name: "Grill" }, "station")
  const groups = `/pos/restaurant/kds/stations/${station.text("data.id")}/item-groups`
  yield* ask("POST", groups, { itemGroup: "grill" }, "group")
  const house = { name: "T", code: "T1", warehouseId: yield* aWarehouse() }
  const terminalId = (yield* ask("POST", "/pos/terminals", house, "till")).text("data.id")
  const shift = yield* ask("POST", "/pos/shifts/open", { terminalId, openingFloat: 0 }, "shift")
  const restaurant: Restaurant = { till: { terminalId, shiftId: shift.text("data.id") }, entityId }
  return restaurant
})
