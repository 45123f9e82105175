import { assert, inject } from "@effect/vitest"
import type { Plugin } from "stoa/plugin"
import {
  buildersOf,
  createPluginTestApp,
  type PluginTestOptions,
  type TestActor,
  testCustomerActor,
  withPermissions
} from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { scheduledOrders } from "../index.ts"

/** A customer with what the role gives them. */
export const customer = (name: string): TestActor => ({
  ...withPermissions(
    [
      ...testCustomerActor.permissions,
      "cart:update",
      "customers:update:self",
      "scheduled-orders:create",
      "scheduled-orders:read"
    ],
    testCustomerActor
  ),
  userId: `user-${name}`,
  email: `${name}@example.com`,
  name
})

export const ann = customer("ann")

/** A store that orders carts later. */
export const openBoxShop = async (
  options: Parameters<typeof scheduledOrders>[0] = {},
  config: PluginTestOptions = {},
  others: ReadonlyArray<Plugin> = []
) => {
  const mails: Array<{ readonly template: string; readonly to: string }> = []
  const app = await createPluginTestApp([scheduledOrders(options), ...others], {
    postgres: inject("postgres"),
    rateLimits: { api: 1_000_000, checkout: 1_000_000 },
    email: { send: async ({ template, to }) => void mails.push({ template, to }) },
    ...config
  })
  const calls = callsOf(app, "/scheduled-orders")
  const builders = buildersOf(app)

  /** A customer's cart of so many of a product. */
  const cart = async (as: TestActor, entityId: string, quantity = 1) => {
    const made = await calls.ask("POST", "/carts", { currency: "USD" }, as)
    const id = made.text("data.id")
    const added = await calls.ask("POST", `/carts/${id}/items`, { entityId, quantity }, as)
    assert.strictEqual(added.status, 201, JSON.stringify(added.body))
    return id
  }
  /** A moment so many hours from now. */
  const inHours = (hours: number) => new Date(app.clock.now() + hours * 3_600_000).toISOString()
  const wish = (cartId: string, more: object = {}) => ({
    cartId,
    scheduledFor: inHours(2),
    paymentMethodId: "test",
    ...more
  })
  /** Schedules a cart with one new product; the id of the order. */
  const scheduled = async (more: object = {}, as = ann) => {
    const cartId = await cart(as, await builders.product({ price: 1_000 }))
    return (await calls.done("POST", "", wish(cartId, more), as)).text("data.id")
  }
  const row = async (id: string) => Object((await calls.done("GET", `/${id}`)).at("data"))
  const rows = async (filter: string) => (await calls.done("GET", `?${filter}&limit=100`)).list("data").map(Object)
  /** A checkout that found the machine too busy is asked for again, later each time. */
  const isNow = (id: string, status: string) =>
    waitFor(`${status} of ${id}`, async () => {
      const found = await row(id)
      return found.status === status ? found : assert.fail(JSON.stringify(found))
    })
  const begin = () => app.serviceRegistry.enqueue("scheduled-orders/process-due", {})
  /**
   * Runs what the service does each minute to its end: again when a newer run took its place, or it left out a row that
   * something else had, such as the notice of the order.
   */
  const tick = async (): Promise<void> => {
    const id = await begin()
    const [run] = await waitFor("the run", async () => {
      const found = await app.db.query("select status, output->'skipped' as skipped from commerce_jobs where id = $1", [
        id
      ])
      return found.every(({ status }) => status === "succeeded") && found
    })
    if (run?.["skipped"] !== 0) await tick()
  }
  /** Lets the time of an order come; the row once it is in a state. */
  const due = async (id: string, status: string, hours = 2) => {
    app.clock.advance(`${hours} hours`)
    await tick()
    return isNow(id, status)
  }
  return { ...app, ...builders, ...calls, mails, cart, inHours, wish, scheduled, row, rows, isNow, begin, tick, due }
}

export type BoxShop = Awaited<ReturnType<typeof openBoxShop>>
