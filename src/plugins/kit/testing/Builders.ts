import type { PluginTestApp, TestAnswer, TestRequest } from "./PluginTestApp.ts"
import { testAdminActor } from "./TestActors.ts"

/** What a test of a plugin takes for granted: things to sell and sales, made by the routes that shops use. */
export interface Builders {
  /**
   * A product that can be bought, active and in stock; its id. `price` in minor units of `currency`, default 1000 and USD;
   * `stock` default 100; `type` of the entity, default product.
   */
  readonly product: (
    options?: { readonly price?: number; readonly stock?: number; readonly type?: string; readonly currency?: string }
  ) => Promise<string>
  /** A customer's profile; its id. */
  readonly customer: (email?: string) => Promise<string>
  /** A guest's order that is paid, of so many of each product; the order's record. */
  readonly order: (
    things: ReadonlyArray<readonly [productId: string, quantity: number]>
  ) => Promise<Readonly<Record<string, unknown>>>
}

const dataOf = ({ body }: TestAnswer): Readonly<Record<string, unknown>> => {
  const data: unknown = Reflect.get(Object(body), "data")
  return typeof data === "object" && data !== null ? { ...data } : {}
}

const textOf = (record: Readonly<Record<string, unknown>>, name: string): string => String(record[name])

/** Numbers what all builders of a process make, so that no two of one service make the same. */
let made = 0

/** Builders over a running service; a request that fails ends the test with the response. */
export const buildersOf = ({ app }: Pick<PluginTestApp, "app">): Builders => {
  const post = async (path: string, request: TestRequest) => {
    const answer = await app.request("POST", path, request)
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return dataOf(answer)
  }
  const asAdmin = (path: string, body: object) => post(path, { as: testAdminActor, body })

  const warehouse = async (): Promise<string> => {
    const code = "PLUGIN-TESTS"
    const asked = { as: testAdminActor, body: { name: code, code } }
    const first = await app.request("POST", "/api/inventory/warehouses", asked)
    if (first.status === 201) return textOf(dataOf(first), "id")
    const { body } = await app.request("GET", "/api/inventory/warehouses", { as: testAdminActor })
    const all: unknown = Reflect.get(Object(body), "data")
    const found = (Array.isArray(all) ? all : []).find((one) => Reflect.get(Object(one), "code") === code)
    return String(Reflect.get(Object(found), "id"))
  }

  return {
    product: async ({ currency = "USD", price = 1000, stock = 100, type = "product" } = {}) => {
      const slug = `plugin-test-${++made}`
      const attributes = { title: `Title of ${slug}` }
      const { id: entityId, manageInventory } = await asAdmin("/api/catalog/entities", {
        type,
        slug,
        status: "active",
        attributes
      })
      await asAdmin("/api/pricing/prices", { entityId, currency, amount: price })
      const warehouseId = await warehouse()
      const restock = { entityId, warehouseId, type: "restock", quantity: stock }
      if (stock > 0 && manageInventory === true) await asAdmin("/api/inventory/adjust", restock)
      return String(entityId)
    },
    customer: async (email = `customer-${++made}@example.com`) =>
      textOf(await asAdmin("/api/customers", { email }), "id"),
    order: async (things) => {
      const cart = await post("/api/carts", { body: { currency: "USD" } })
      const headers = { "x-cart-secret": textOf(cart, "secret") }
      for (const [entityId, quantity] of things) {
        await post(`/api/carts/${textOf(cart, "id")}/items`, { headers, body: { entityId, quantity } })
      }
      const body = { cartId: cart["id"], paymentMethodId: "test", currency: "USD" }
      return post("/api/checkout", { headers, body })
    }
  }
}
