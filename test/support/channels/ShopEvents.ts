import type { Random } from "../../fuzz/Values.ts"
import { openOf } from "./ShopifyOrder.ts"
import { gid } from "./ShopifyPages.ts"
import type { ShopifyShop } from "./ShopifyShop.ts"
import type { WooCommerceShop } from "./WooCommerceShop.ts"

/** Events of a shop's day and how often each happens among a hundred. */
const weights = {
  price: 15,
  stock: 25,
  arrival: 5,
  edit: 10,
  title: 5,
  picture: 5,
  options: 5,
  publication: 4,
  removal: 3,
  return: 2,
  purchase: 15,
  fulfilment: 12,
  cancellation: 5,
  refund: 6
} as const

export type ShopEvent = keyof typeof weights
const events = Object.entries(weights).flatMap(([event, weight]) => Array.from({ length: weight }, () => event))

/** What the staff and the shoppers of a shop do. Each gives the id of what it was done to, or undefined if there is none. */
export type Shopkeeper = { readonly [Event in ShopEvent]: (random: Random) => number | undefined }

/** Does one random event; undefined if what it needs is not there. */
export const happen = (
  keeper: Shopkeeper,
  random: Random
): { readonly event: ShopEvent; readonly id: number } | undefined => {
  const chosen = random.oneOf(events)
  const act = Object.entries(keeper).find(([event]) => event === chosen)
  const event = Object.keys(weights).find((name): name is ShopEvent => name === act?.[0])
  const id = act?.[1](random)
  return event === undefined || id === undefined ? undefined : { event, id }
}

/** Does `work` to one of these. */
const toOne = <A extends { readonly id: number }>(
  random: Random,
  all: Iterable<A>,
  work: (one: A) => void
): number | undefined => {
  const one = random.oneOf([...all])
  if (one !== undefined) work(one)
  return one?.id
}

const priceOf = (random: Random) => 100 + random.int(99) * 100
const pictureOf = (random: Random) => `https://cdn.example/${random.word(8)}.png`
const axis = "Size"

/** The staff and the shoppers of an emulated WooCommerce. */
export const wooShopkeeper = ({ catalog, orders }: WooCommerceShop): Shopkeeper => {
  const products = () => [...catalog.products.values()].filter(({ trashed }) => !trashed)
  const whole = () => products().filter(({ parent }) => parent === 0)
  const sold = () => products().filter(({ fields }) => ["simple", "variation"].includes(fields.type))
  const paid = () => [...orders.orders.values()].filter(({ status }) => status === "processing")
  const moving = (status: string) => (random: Random) =>
    toOne(random, paid(), ({ id }) => void orders.change(id, { status }))
  const soldAs = (random: Random, sku: string) => ({
    sku,
    regular_price: (priceOf(random) / 100).toFixed(2),
    manage_stock: true,
    stock_quantity: random.int(50)
  })
  const addSize = (random: Random, parent: number, size: string) => {
    catalog.create({ ...soldAs(random, random.word(8)), attributes: [{ name: axis, option: size }] }, parent)
    const options = catalog.variationsOf(parent).flatMap(({ fields }) => fields.attributes[0]?.option ?? [])
    catalog.change(parent, { attributes: [{ name: axis, options, variation: true }] })
  }
  return {
    price: (random) =>
      toOne(random, sold(), ({ id }) => void catalog.change(id, { regular_price: (priceOf(random) / 100).toFixed(2) })),
    stock: (random) =>
      toOne(
        random,
        sold().filter(({ fields }) => fields.manage_stock),
        ({ id }) => void catalog.change(id, { stock_quantity: random.int(50) })
      ),
    arrival: (random) => {
      const sku = random.word(8)
      const type = random.chance(0.3) ? "variable" : "simple"
      const { id } = catalog.create({ name: `New ${sku}`, type, ...type === "simple" && soldAs(random, sku) })
      if (type === "variable") { for (const size of ["S", "M"]) addSize(random, id, size) }
      return id
    },
    edit: (random) => toOne(random, products(), ({ id }) => void catalog.change(id, { description: random.word(20) })),
    title: (random) => toOne(random, whole(), ({ id }) => void catalog.change(id, { name: `Named ${random.word(8)}` })),
    picture: (random) =>
      toOne(random, whole(), ({ id }) => void catalog.change(id, { images: [{ src: pictureOf(random) }] })),
    // A size comes or goes.
    options: (random) =>
      toOne(random, whole().filter(({ fields }) => fields.type === "variable"), ({ id }) => {
        const sizes = catalog.variationsOf(id)
        const [first, second] = sizes
        if (first !== undefined && second !== undefined && random.chance(0.5)) catalog.remove(first.id, true)
        else addSize(random, id, random.word(4))
      }),
    publication: (random) =>
      toOne(
        random,
        whole(),
        ({ fields, id }) => void catalog.change(id, { status: fields.status === "publish" ? "draft" : "publish" })
      ),
    // A third is removed for good, of which the shop sends no webhook.
    removal: (random) => toOne(random, whole(), ({ id }) => void catalog.remove(id, random.int(3) === 0)),
    return: (random) =>
      toOne(random, [...catalog.products.values()].filter(({ trashed }) => trashed), ({ id }) => catalog.restore(id)),
    purchase: (random) => {
      const product = random.oneOf(sold())
      const line = { product_id: product?.id, quantity: 1 + random.int(3) }
      return product === undefined ? undefined : orders.create({ status: "processing", line_items: [line] }).id
    },
    fulfilment: moving("completed"),
    cancellation: moving("cancelled"),
    refund: (random) =>
      toOne(
        random,
        paid().filter(({ lines, refunds }) => lines.length > 0 && refunds.length === 0),
        ({ id, lines: [line] }) => {
          const amount = ((line?.total ?? 0) / 100).toFixed(2)
          orders.refund(id, {
            amount,
            api_refund: false,
            line_items: [{ id: line?.id, quantity: line?.quantity, refund_total: Number(amount) }]
          })
        }
      )
  }
}

/** The staff and the shoppers of an emulated Shopify. */
export const shopifyShopkeeper = ({ catalog, orders }: ShopifyShop): Shopkeeper => {
  const products = () => catalog.products.values()
  const sold = (random: Random, options?: ReadonlyArray<string>) => ({
    sku: random.word(8),
    price: priceOf(random),
    stock: random.int(50),
    ...options && { options }
  })
  const open = () =>
    [...orders.orders.values()].filter(({ cancelled, lines }) =>
      cancelled === null && lines.some((line) => openOf(line) > 0)
    )
  return {
    price: (random) => toOne(random, catalog.variants(), (one) => catalog.changePrice(one, priceOf(random))),
    stock: (random) =>
      toOne(
        random,
        catalog.variants().filter(({ tracked }) => tracked),
        (one) => catalog.setStock(one, random.int(50))
      ),
    arrival: (random) => {
      const title = `New ${random.word(8)}`
      return random.chance(0.3)
        ? catalog.add({
          title,
          options: [{ name: axis, values: ["S", "M"] }],
          variants: ["S", "M"].map((size) => sold(random, [size]))
        }).id
        : catalog.add({ title, variants: [sold(random)] }).id
    },
    edit: (random) => toOne(random, products(), (one) => catalog.change(one, { descriptionHtml: random.word(20) })),
    title: (random) => toOne(random, products(), (one) => catalog.change(one, { title: `Named ${random.word(8)}` })),
    picture: (random) => toOne(random, products(), (one) => catalog.showImages(one, [pictureOf(random)])),
    // A size comes or goes.
    options: (random) =>
      toOne(random, [...products()].filter(({ options }) => options[0]?.name === axis), (one) => {
        const [first, second] = one.variants
        if (first !== undefined && second !== undefined && random.chance(0.5)) catalog.removeVariant(first)
        else catalog.addVariant(one, sold(random, [random.word(4)]))
      }),
    publication: (random) =>
      toOne(
        random,
        products(),
        (one) =>
          random.chance(0.5)
            ? catalog.change(one, { status: one.fields.status === "ACTIVE" ? "DRAFT" : "ACTIVE" })
            : catalog.change(one, { published: !one.fields.published })
      ),
    removal: (random) =>
      toOne(
        random,
        products(),
        (one) => random.int(3) === 0 ? catalog.remove(one) : catalog.change(one, { status: "ARCHIVED" })
      ),
    return: (random) =>
      toOne(
        random,
        [...products()].filter(({ fields }) => fields.status === "ARCHIVED"),
        (one) => catalog.change(one, { status: "ACTIVE" })
      ),
    purchase: (random) => {
      const variant = random.oneOf(catalog.variants())
      if (variant === undefined) return undefined
      const lineItems = [{ variantId: gid("ProductVariant", variant.id), quantity: 1 + random.int(3) }]
      const made = orders.create({ lineItems, financialStatus: "PAID" }, "DECREMENT_OBEYING_POLICY")
      return "order" in made ? made.order.id : undefined
    },
    fulfilment: (random) =>
      toOne(
        random,
        open(),
        (one) => orders.fulfil(one, { number: random.word(10) }, random.chance(0.5) ? 1 + random.int(3) : undefined)
      ),
    cancellation: (random) =>
      toOne(random, open().filter(({ fulfillments }) => fulfillments.length === 0), (one) => void orders.cancel(one)),
    refund: (random) =>
      toOne(
        random,
        [...orders.orders.values()].filter(({ refunds, totals }) => refunds.length === 0 && totals.paid > 0),
        (one) => {
          const [line] = one.lines
          if (line === undefined) return
          const refundLineItems = [{
            lineItemId: gid("LineItem", line.id),
            quantity: 1,
            restockType: line.fulfilled > 0 ? "RETURN" : "CANCEL"
          }]
          orders.refund(one, {
            refundLineItems,
            transactions: [{ kind: "REFUND", amount: Math.min(line.price, one.totals.paid) / 100 }]
          })
        }
      )
  }
}
