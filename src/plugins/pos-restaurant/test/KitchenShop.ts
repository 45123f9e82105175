import { randomUUID } from "node:crypto"
import { at } from "../../../../test/support/TestApp.ts"
import { openRestaurant } from "./RestaurantShop.ts"

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
  /** Units of a line that each station has. */
  const unitsOf = async (lineId: string) =>
    columns(
      await shop.query(
        `select sum(quantity - cancelled_quantity)::int as units from kds_ticket_items where line_id = $1 group by station_id`,
        [lineId]
      ),
      "units"
    ).flat()
  return { ...shop, online: shop.order, group, station, dish, order, fire, tickets, unitsOf }
}

export type KitchenShop = Awaited<ReturnType<typeof openKitchen>>

/** Values of records. */
export const columns = (rows: ReadonlyArray<unknown>, ...names: ReadonlyArray<string>) =>
  rows.map((row) => names.map((name) => at(row, name)))
