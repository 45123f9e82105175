import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { anyShop, anyWish } from "./AnyShop.ts"
import { type Chance, chanceOf } from "./Chance.ts"
import type { countedPayments } from "./CountedPayments.ts"
import { giveBackAtOnce } from "./GivenBack.ts"
import { type OpenShop, openShop } from "./OpenShop.ts"
import { buy } from "./Purchases.ts"
import { policies } from "./Shop.ts"

/** Shops of every way to be taxed; whose prices contain their tax, the deployment says by the organization. */
const kinds = [
  { name: "org_net_classes", tax: "classes", included: false },
  { name: "org_net_both", tax: "both", included: false },
  { name: "org_gross_both", tax: "both", included: true },
  { name: "org_gross_regions", tax: "regions", included: true }
] as const

const flatRate = 1_234

/** What the service has to be started with for these shops. */
export const deploymentOf = ({ adapter }: ReturnType<typeof countedPayments>) => ({
  catalog: { types: policies },
  plugins: [giftCards({ maxBalancePerCard: 1_000_000_000 })],
  payments: { adapters: [adapter] },
  shipping: { type: "flat" as const, flatRate },
  tax: {
    shippingByDefaultClass: true,
    organizations: Object.fromEntries(kinds.map(({ included, name }) => [name, { pricesIncludeTax: included }]))
  },
  jobs: { autorun: { enabled: false } }
})

const opened = (chance: Chance) =>
  Effect.forEach(kinds, ({ name, ...kind }) => {
    const { tax, ...shop } = anyShop(chance, { ...kind, products: 4, withHuge: false })
    return openShop(name, { ...shop, flatRate, tax: { ...tax, shippingByDefaultClass: true } })
  }, { concurrency: 2 })

/** Orders whose columns differ from the sums of their lines. */
const unbalanced = onDatabase((sql) =>
  sql`select o.id from orders o left join (
      select order_id, sum(total_price) as total, sum(discount_amount) as discount, sum(tax_amount) as tax
      from order_lines group by order_id) l on l.order_id = o.id
    where (l.total, l.discount, l.tax) is distinct from (o.subtotal, o.discount_total, o.tax_total)
      or o.refunded_total > coalesce(o.amount_captured, 0)`
)

/**
 * Opens the shops, buys at least so many generated carts in each over HTTP, until one is given back, and gives every so
 * manyth order back. Tells how many carts became orders and how many of these were given back.
 */
export const tradeOverHttp = Effect.fnUntraced(
  function*(seed: number, payments: ReturnType<typeof countedPayments>, carts: number, everyNthBack: number) {
    const shops = yield* opened(chanceOf(seed))
    const seen = { orders: 0, unserved: 0, givenBack: 0 }
    const trade = Effect.fnUntraced(function*(open: OpenShop, shop: number, turn: number, orders: number) {
      // Each cart has a separate seed, so that it can be repeated alone.
      const chance = chanceOf(seed + 7_919 * (turn * kinds.length + shop + 1))
      // A quote without a cart knows no cards.
      const wish = { ...anyWish(chance, open.shop), alreadyTaxed: 0 }
      const about = `cart ${turn} of ${kinds[shop]?.name} of seed ${seed}`
      const bought = yield* buy(open, payments, wish, about)
      if (bought === undefined) seen.unserved += 1
      else seen.orders += 1
      const isPaid = bought !== undefined && bought.bill.grandTotal > 0 && wish.card === 0
      if (!isPaid || orders % everyNthBack > 0) return isPaid
      yield* giveBackAtOnce(chance, open, payments, bought, wish, about)
      seen.givenBack += 1
      return isPaid
    })
    const tradeIn = Effect.fnUntraced(function*(open: OpenShop, shop: number) {
      for (let turn = 0, orders = 0; turn < carts || orders === 0; turn++) {
        if (yield* trade(open, shop, turn, orders)) orders++
      }
    })
    yield* Effect.forEach(shops, tradeIn, { concurrency: "unbounded" })
    assert.deepStrictEqual(yield* unbalanced, [])
    return seen
  }
)
