import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { type ShopifyShop, startShopify } from "../../../../../test/support/channels/ShopifyShop.ts"
import { shopify } from "../../index.ts"
import { type ChannelShop, openShop, publicUrl } from "../ChannelShop.ts"

describe("a Shopify store that is connected", () => {
  const scope = Scope.makeUnsafe()
  let store: ShopifyShop
  let shop: ChannelShop
  beforeAll(async () => {
    store = await Effect.runPromise(Effect.provideService(startShopify(), Scope.Scope, scope))
    const { clientId, clientSecret } = store.tokens
    const app = { clientId, clientSecret: Redacted.make(clientSecret), scopes: ["read_products"] }
    // Other domains than Shopify's are refused.
    const adapter = { ...shopify({ app }), admits: () => true }
    shop = await openShop({ adapters: [adapter], origins: [store.url] })
  })
  afterAll(async () => {
    await shop.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("gets a token for the keys of its custom app, and sends us its webhooks", async () => {
    const { clientId, clientSecret } = store.tokens
    await shop.refused("422 VALIDATION_FAILED", "POST", "/stores", {
      provider: "shopify",
      storeDomain: store.url,
      credentials: { clientId }
    })
    const credentials = { clientId, clientSecret }
    const id = await shop.connect({ provider: "shopify", storeDomain: store.url, credentials })
    const connected = await shop.until(id, "connected")
    assert.isNotNull(connected.at("data.credentialsExpireAt"))
    const address = `${publicUrl}/api/channels/webhooks/${id}`
    assert.lengthOf([...store.webhooks.subscriptions.values()].filter(({ uri }) => uri === address), 8)
    store.tokens.revoke({ refreshes: true })
    await shop.done("PUT", `/stores/${id}/credentials`, { credentials: { accessToken: "shpat_unknown" } })
    const failed = await shop.until(id, "error")
    assert.strictEqual(failed.at("data.lastError"), "The store answered 401.")
  })
})
