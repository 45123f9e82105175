import { Effect } from "effect"
import { aCartWith, aGuestCart, aProduct } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, asNobody, asStaff, withApp } from "../support/TestApp.ts"
withApp("probe", (it) => {
  it.effect("probe", () =>
    Effect.gen(function*() {
      const show = (n: string, a: any) => console.log("=== " + n, a.status, JSON.stringify(a.body))
      const support = { ...asStaff, permissions: [...(asStaff.permissions ?? []), "cart:read"] }
      const p = yield* aProduct()
      const cart = yield* aCartWith(p)
      const g = (o: any) => api("GET", `/api/carts/${cart.id}`, o)
      show("anon none", yield* g({}))
      show("anon wrong", yield* g({ headers: { "x-cart-secret": "x" } }))
      show("customer none", yield* g({ as: asCustomer("z") }))
      show("customer wrong", yield* g({ as: asCustomer("z"), headers: { "x-cart-secret": "x" } }))
      show("support", yield* g({ as: support }))
      show("staff", yield* g({ as: asStaff }))
      show("nobody secret", yield* g({ as: asNobody, headers: cart.headers }))
      const c = yield* api("POST", "/api/carts", { as: asCustomer("own"), body: { currency: "USD" } })
      const h = (o: any) => api("GET", `/api/carts/${c.text("data.id")}`, o)
      show("C anon none", yield* h({}))
      show("C anon secret", yield* h({ headers: { "x-cart-secret": c.text("data.secret") } }))
      show("C customer none", yield* h({ as: asCustomer("z") }))
      show("C support", yield* h({ as: support }))
      const k = (o: any) =>
        api("POST", `/api/checkout`, { body: { cartId: cart.id, paymentMethodId: "test", currency: "USD" }, ...o })
      show("checkout anon none", yield* k({}))
      show("checkout anon wrong", yield* k({ headers: { "x-cart-secret": "x" } }))
      show("checkout customer", yield* k({ as: asCustomer("z") }))
      const d = yield* api("POST", "/api/catalog/entities", {
        as: asAdmin,
        body: { type: "product", slug: "dr", status: "draft" }
      })
      show("draft", d)
      show("draft read", yield* api("GET", `/api/catalog/entities/${d.text("data.id")}`))
      show(
        "draft add",
        yield* api("POST", `/api/carts/${cart.id}/items`, {
          headers: cart.headers,
          body: { entityId: d.text("data.id"), quantity: 1 }
        })
      )
      yield* api("POST", "/api/pricing/prices", {
        as: asAdmin,
        body: { entityId: d.text("data.id"), currency: "USD", amount: 5 }
      })
      show(
        "draft add",
        yield* api("POST", `/api/carts/${cart.id}/items`, {
          headers: cart.headers,
          body: { entityId: d.text("data.id"), quantity: 1 }
        })
      )
    }))
})
