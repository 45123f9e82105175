import { assert } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { testAdminActor } from "stoa/plugin/testing"
import { at } from "../../../../test/support/TestApp.ts"
import { openRestaurant } from "./RestaurantShop.ts"

interface Net {
  readonly station: string
  readonly line_id: string
  readonly units: number
}

/** A restaurant whose stations cook. */
export const openKitchen = async (...[options, config, tillOptions]: Parameters<typeof openRestaurant>) => {
  const shop = await openRestaurant(options, config, tillOptions)
  const group = () => `group-${randomUUID().slice(0, 8)}`
  /** A station that cooks these item groups. */
  const station = async (groups: ReadonlyArray<string>, body: object = {}) => {
    const made = await shop.done("POST", "/kds/stations", { name: randomUUID(), ...body })
    const id = made.text("data.id")
    for (const itemGroup of groups) await shop.done("POST", `/kds/stations/${id}/item-groups`, { itemGroup })
    return { id, path: `/kds/stations/${id}`, made }
  }
  /** Goods of an item group. */
  const dish = async (itemGroup: string, price = 1_000) => {
    const id = await shop.product({ price, stock: 1_000 })
    await shop.core("PATCH", `/catalog/entities/${id}`, { metadata: { itemGroup } })
    return id
  }
  const order = async (till: Parameters<typeof shop.start>[0], dishes: ReadonlyArray<object>, body: object = {}) => {
    const sale = await shop.start(till, body)
    const items: Array<string> = []
    for (const one of dishes) items.push((await shop.add(sale.path, one)).text("data.id"))
    return { ...sale, items, salePath: sale.path }
  }
  const fire = (transactionId: string, body: object = {}) =>
    shop.done("POST", "/kds/tickets/fire", { transactionId, ...body })
  const tickets = async (of: { readonly path: string }, query = "") =>
    (await shop.done("GET", `${of.path}/tickets?limit=100${query}`)).list("data")
  /** Units of each line at each station. */
  const cooked = () =>
    shop.query(`select station_id::text as station, line_id::text, sum(quantity - cancelled_quantity)::int as units
      from kds_ticket_items group by 1, 2`) as Promise<ReadonlyArray<Net>>
  const unitsOf = async (lineId: string) => (await cooked()).filter((one) => one.line_id === lineId).map(({ units }) => units)
  return { ...shop, group, station, dish, order, fire, tickets, cooked, unitsOf }
}

export type KitchenShop = Awaited<ReturnType<typeof openKitchen>>

/** Values of records. */
export const columns = (rows: ReadonlyArray<unknown>, ...names: ReadonlyArray<string>) =>
  rows.map((row) => names.map((name) => at(row, name)))

export { assert, testAdminActor }
