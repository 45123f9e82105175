import { Console, Effect } from "effect"
import { StoaClient, withRequestHeaders } from "stoa/client"
import { CurrencyCode } from "stoa/money"
import { target } from "./Target.ts"

const currency = CurrencyCode.make("EUR")

/*
 * node examples/storefront.ts [SLUG]
 *
 * What a storefront does for a guest: it finds a product, fills a cart and pays, without any key. A cart has a secret,
 * which only the first response shows; its holder has access to the cart, and later the order.
 */
const purchase = Effect.fn(function*(slug: string) {
  const stoa = yield* StoaClient
  const product = yield* stoa.catalog.read({ params: { id: slug }, query: { include: "attributes,pricing" } })
  yield* Console.log(`found ${product.attributes?.[0]?.title ?? product.slug}`)

  const cart = yield* stoa.carts.create({ payload: { currency } })
  const asItsOwner = withRequestHeaders({ "x-cart-secret": cart.secret })

  return yield* Effect.gen(function*() {
    yield* stoa.carts.addItem({ params: { id: cart.id }, query: {}, payload: { entityId: product.id, quantity: 2 } })
    const { data: order } = yield* stoa.checkout.checkout({
      payload: { cartId: cart.id, currency, paymentMethodId: "test" }
    }).pipe(
      // A checkout that fails leaves nothing behind, and says why.
      Effect.tapErrorTag("CheckoutFailed", ({ error }) => Console.log(`not bought: ${error.message}`))
    )
    yield* Console.log(`bought as ${order.orderNumber} for ${order.grandTotal} ${order.currency} in minor units`)
    return yield* stoa.orders.read({ params: { idOrNumber: order.orderNumber } })
  }).pipe(asItsOwner)
})

const main = Effect.gen(function*() {
  const { url } = yield* target
  const order = yield* Effect.provide(purchase(process.argv[2] ?? "stoneware-mug"), StoaClient.layer({ url }))
  yield* Console.log(`the order is ${order.status}`)
})

await Effect.runPromise(main)
