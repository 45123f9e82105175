import { afterAll, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { createHmac } from "node:crypto"
import { shopify } from "../../index.ts"
import { type AdapterCheck, adapterContract } from "../../testing/AdapterContract.ts"
import { addMug, openStore, sliceOf } from "./ShopifyStore.ts"

describe("the adapter for Shopify", () => {
  const scope = Scope.makeUnsafe()
  let checks: ReadonlyArray<AdapterCheck> = []
  beforeAll(async () => {
    const { app, http, shop } = await Effect.runPromise(Effect.provideService(openStore(), Scope.Scope, scope))
    const { id } = addMug(shop, 5)
    addMug(shop)
    checks = adapterContract({
      adapter: shopify({ app }),
      domain: shop.url,
      http,
      credentials: { accessToken: shop.tokens.permanent },
      refusedCredentials: { accessToken: "shpat_refused", refreshToken: "shprt_refused" },
      secrets: ["shpat_refused", "shprt_refused", shop.tokens.clientSecret],
      webhookSecret: "webhook-secret",
      webhook: (deliveryId, body = `{"id":1}`) => ({
        body: Buffer.from(body),
        headers: {
          "x-shopify-topic": "products/update",
          "x-shopify-webhook-id": deliveryId,
          "x-shopify-hmac-sha256": createHmac("sha256", shop.tokens.clientSecret).update(body).digest("base64")
        }
      }),
      slice: () => sliceOf(id)
    })
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  it("does what every adapter has to do", async () => {
    for (const { name, run } of checks) {
      await run().catch((error) => {
        throw new Error(`${name}: ${error}`, { cause: error })
      })
    }
  })
})
