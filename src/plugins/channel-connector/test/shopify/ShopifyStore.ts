import { it } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { CurrencyCode, type Outbound } from "stoa/plugin"
import { HostResolver } from "../../../../../src/layers/webhooks/TargetGuard.ts"
import { guardedTransport } from "../../../../../src/plugins/kit/install/GuardedTransport.ts"
import { outboundOver } from "../../../../../src/plugins/kit/outbound/Outbound.ts"
import {
  type ShopifyOptions,
  type ShopifyShop,
  startShopify
} from "../../../../../test/support/channels/ShopifyShop.ts"
import type { Channel, OrderSlice } from "../../index.ts"
import { shopify } from "../../index.ts"

const scopes = ["read_products", "write_inventory", "write_orders"]

/** An emulated shop, and the adapter for it. */
export const openStore = Effect.fnUntraced(function*(options: ShopifyOptions = {}) {
  const shop = yield* startShopify({ domain: "shop.myshopify.com", ...options })
  shop.bulk.pollsUntilDone = 1
  const transport = yield* guardedTransport(
    { allowPrivate: false, allowHttp: true, ports: undefined },
    HostResolver.system
  )
  const http: Outbound = outboundOver(transport, {
    name: "The store",
    origins: [shop.url],
    retries: 0,
    maxBytes: 10_000_000,
    breaker: { failures: 1_000, pauseMs: 1 }
  })
  const { clientId, clientSecret } = shop.tokens
  const app = { clientId, clientSecret: Redacted.make(clientSecret), scopes }
  const webhookSecret = Redacted.make("")
  const connect = (credentials: object, { calls = http, version = "2026-10" } = {}) => {
    const adapter = shopify({ app, version })
    const text = Redacted.make(adapter.readCredentials(credentials)?.text ?? "")
    return adapter.connect({ storeId: randomUUID(), domain: shop.url, credentials: text, webhookSecret, http: calls })
  }
  return { shop, http, app, connect, channel: yield* connect({ accessToken: shop.tokens.permanent }) }
})
export type OpenStore = Effect.Success<ReturnType<typeof openStore>>

/** A test of a store. */
export const storeTest = (
  title: string,
  work: (store: OpenStore) => Effect.Effect<void, unknown>,
  options: ShopifyOptions = {}
) => it.live(title, () => Effect.scoped(Effect.flatMap(openStore(options), work)))

/** The part of a channel that an adapter gives. */
export const given = <A>(part: A | undefined): A => {
  if (part === undefined) throw new Error("The channel has no such part.")
  return part
}

/** All products in pages, and how many pages had some. */
export const catalogOf = Effect.fnUntraced(function*(channel: Channel, limit: number) {
  const { page } = given(channel.catalog)
  const pages: Array<ReadonlyArray<Effect.Success<ReturnType<typeof page>>["items"][number]>> = []
  let cursor: string | null = null
  do {
    const { items, nextCursor }: Effect.Success<ReturnType<typeof page>> = yield* page(cursor, limit)
    if (items.length > 0) pages.push(items)
    cursor = nextCursor
  } while (cursor !== null)
  return pages
})

export const addMug = (shop: ShopifyShop, stock?: number) => {
  const variant = { sku: "mug", price: 1_050, ...stock !== undefined && { stock } }
  const product = shop.catalog.add({ title: "Mug", variants: [variant] })
  return { product, variant: given(product.variants[0]), id: String(product.variants[0]?.id) }
}

export const sliceOf = (externalVariantId: string, slice: Partial<OrderSlice> = {}): OrderSlice => ({
  orderId: randomUUID(),
  orderNumber: "1001",
  currency: CurrencyCode.make("EUR"),
  grandTotal: 1_050,
  shippingTotal: 0,
  taxTotal: 0,
  pricesIncludeTax: true,
  lines: [{ externalVariantId, sku: null, title: "Mug", quantity: 1, unitPrice: 1_050, totalPrice: 1_050 }],
  customer: { name: "Ann Lee", email: "ann@x.example", shippingAddress: { line1: "Hauptplatz 1", country: "AT" } },
  ...slice
})

/** Collects what is logged. */
export const logged = () => {
  const lines: Array<string> = []
  return { lines, layer: Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))]) }
}
