import { randomUUID } from "node:crypto"
import type { PluginTestOptions } from "stoa/plugin/testing"
import { notifications } from "../../notifications/index.ts"
import { openTills } from "../../pos/test/TillShop.ts"
import { posRestaurant } from "../index.ts"

/** A store with tills and a restaurant; paths follow `/pos/restaurant`, those of `tills` `/pos`. */
export const openRestaurant = async (
  options: Parameters<typeof posRestaurant>[0] = {},
  config: PluginTestOptions = {},
  tillOptions: Parameters<typeof openTills>[0] = {}
) => {
  const tills = await openTills(tillOptions, config, [
    ...(options.printing === true ? [notifications()] : []),
    posRestaurant(options)
  ])
  const { done, refused } = tills.callsAt("/pos/restaurant")
  const table = async (body: object = {}) => {
    const number = randomUUID().slice(0, 12)
    const made = await done("POST", "/tables", { number, zone: "Terrace", ...body })
    return { tableId: made.text("data.id"), path: `/tables/${made.text("data.id")}`, number }
  }
  interface Seating {
    readonly guests?: number
    readonly orderType?: string
    readonly price?: number
    readonly zone?: string
  }
  /** A sale with a new table. */
  const seated = async (
    till: Parameters<typeof tills.sale>[0],
    { guests, orderType = "counter", price = 1_000, ...body }: Seating = {}
  ) => {
    const sale = await tills.sale(till, price, 1, { orderType })
    const at = await table(body)
    await done("POST", `${at.path}/assign`, { transactionId: sale.id, ...(guests && { guests }) })
    return { ...sale, table: at }
  }
  const stateOf = async (path: string) => (await done("GET", path)).at("data.status")
  return { ...tills, tills, query: tills.app.db.query, done, refused, table, seated, stateOf }
}

export type RestaurantShop = Awaited<ReturnType<typeof openRestaurant>>
