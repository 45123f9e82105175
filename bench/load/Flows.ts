import { seedId, seedSecret, seedToken, slugOf } from "../servers/SeedIds.ts"
import type { FlowName, LoadJob } from "./Messages.ts"
import type { Recorder } from "./Recorder.ts"
import type { Shopper } from "./Shopper.ts"

/** What a flow may use besides its shopper: `turn` counts all flows of the job from 0. */
interface Scene {
  readonly job: LoadJob
  readonly turn: number
  readonly recorder: Recorder
}

type Flow = (shopper: Shopper, scene: Scene) => Promise<void>

/** The product everybody wants in a flash sale. */
export const flashProduct = 1

const anyProduct = ({ job }: Scene): number => 1 + Math.floor(Math.random() * job.products)

const newCart = async (shopper: Shopper) => {
  const { id, secret } = await shopper.made("create", "/api/carts", { currency: "USD" })
  return { id, secret: secret ?? "" }
}

type Cart = Awaited<ReturnType<typeof newCart>>

const add = (shopper: Shopper, cart: Cart, n: number) =>
  shopper.made("add", `/api/carts/${cart.id}/items`, { entityId: seedId("product", n), quantity: 1 }, cart.secret)

const checkOut = async (shopper: Shopper, cart: Cart, { recorder }: Scene) => {
  await shopper.made(
    "checkout",
    "/api/checkout",
    { cartId: cart.id, paymentMethodId: "test", currency: "USD" },
    cart.secret
  )
  recorder.orders += 1
}

/** A cart with two different products in it. */
const cartOfTwo = async (shopper: Shopper, scene: Scene): Promise<Cart> => {
  const cart = await newCart(shopper)
  const first = anyProduct(scene)
  await add(shopper, cart, first)
  await add(shopper, cart, first % scene.job.products + 1)
  return cart
}

export const flows: Readonly<Record<FlowName, Flow>> = {
  list: async (shopper) => {
    await shopper.text("list", 200, "GET", "/api/catalog/entities?limit=20&include=pricing")
  },
  /** Looks at the catalog and puts something into a new cart. */
  visit: async (shopper, scene) => {
    await shopper.text("list", 200, "GET", "/api/catalog/entities?limit=20&include=pricing")
    await add(shopper, await newCart(shopper), anyProduct(scene))
  },
  product: async (shopper, scene) => {
    await shopper.text("product", 200, "GET", `/api/catalog/entities/${slugOf(anyProduct(scene))}`)
  },
  /** Another customer each time, so that no answer and no session stays warm by chance. */
  orders: async (shopper, scene) => {
    await shopper.text("orders", 200, "GET", "/api/me/orders?limit=10", undefined, undefined, seedToken(scene.turn))
  },
  cart: async (shopper, scene) => {
    await cartOfTwo(shopper, scene)
  },
  purchase: async (shopper, scene) => checkOut(shopper, await cartOfTwo(shopper, scene), scene),
  flash: async (shopper, scene) => {
    const cart = await newCart(shopper)
    await add(shopper, cart, flashProduct)
    await checkOut(shopper, cart, scene)
  },
  /** A seeded cart per flow. */
  checkout: (shopper, scene) =>
    checkOut(shopper, { id: seedId("cart", scene.job.firstCart + scene.turn), secret: seedSecret }, scene),
  /** A seeded cart per shopper: a line is added and, so that the cart keeps its size, taken out again. */
  cartlines: async (shopper, { job }) => {
    const cart = { id: seedId("cart", job.firstCart + shopper.number), secret: seedSecret }
    const line = await add(shopper, cart, job.products)
    await shopper.text("remove", 200, "DELETE", `/api/carts/${cart.id}/items/${line.id}`, undefined, cart.secret)
  }
}
