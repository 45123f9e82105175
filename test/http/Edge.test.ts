import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import { seedEntity } from "../pricing/Seed.ts"
import { aCartWith, aGuestCart, aWarehouse, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, TestApp, withApp } from "../support/TestApp.ts"
const onDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    TestApp,
    ({ databaseUrl }) => Effect.provide(effect, PgClient.layer({ url: Redacted.make(databaseUrl), maxConnections: 2 }))
  )
withApp("probe", (it) => {
  it.effect("probe", () =>
    Effect.gen(function*() {
      const { entityId: p } = yield* onDatabase(seedEntity({}))
      yield* onDatabase(
        Effect.flatMap(PgClient.PgClient, (sql) => sql`delete from variants where entity_id = ${p}::uuid`)
      )
      const show = (n: string, a: any) =>
        console.log(n, a.status, JSON.stringify(a.body), JSON.stringify([...a.headers]))
      show(
        "price",
        yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: { entityId: p, currency: "USD", amount: 1000 } })
      )
      const warehouseId = yield* aWarehouse()
      show(
        "stock",
        yield* api("POST", "/api/inventory/adjust", {
          as: asAdmin,
          body: { entityId: p, warehouseId, type: "restock", quantity: 10 }
        })
      )
      const made = yield* api("POST", "/api/carts", { body: { currency: "USD" } })
      show("create", made)
      const cart = { id: made.text("data.id"), headers: { "x-cart-secret": made.text("data.secret") } }
      show(
        "item",
        yield* api("POST", `/api/carts/${cart.id}/items`, { headers: cart.headers, body: { entityId: p, quantity: 2 } })
      )
      show("get", yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }))
      const o = yield* checkOut(cart, { promotionCodes: ["nope"] })
      show("out", o)
      show("order", yield* api("GET", `/api/orders/${o.at("data.orderNumber")}`, { headers: cart.headers }))
      show("order", yield* api("GET", `/api/orders/${o.at("data.orderNumber")}`, {}))
      show("customer cart", yield* api("POST", `/api/carts`, { as: asCustomer("u1"), body: { currency: "EUR" } }))
      show(
        "customer cart",
        yield* api("POST", `/api/carts`, { as: asCustomer("u1"), body: { currency: "EUR", customerId: p } })
      )
      show("mal", yield* api("POST", "/api/carts", { body: "{" }))
      show("bad", yield* api("POST", "/api/carts", { body: {} }))
      show("405", yield* api("PUT", "/api/carts", { body: {} }))
      show("404", yield* api("GET", "/api/nothing"))
      show("health", yield* api("GET", `/api/health`))
      show("head", yield* api("HEAD", `/api/health`))
      show("notJson", yield* api("POST", `/api/carts`, { body: "a=1", headers: { "content-type": "text/plain" } }))
      show(
        "opt",
        yield* api("OPTIONS", `/api/carts`, {
          headers: {
            origin: "http://localhost:3000",
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type,x-cart-secret"
          }
        })
      )
    }))
})
