import { assert, layer } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Hook } from "../../src/domain/platform/hooks/Hook.ts"
import { aGuestCart, aProduct } from "../support/Purchase.ts"
import { api, live, TestApp, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

/** What happens after an item went into a cart; a test sets it. */
let afterAddItem: Effect.Effect<void> = Effect.void

const hook: Hook = { key: "cart.afterAddItem", after: () => Effect.suspend(() => afterAddItem) }

const withHook = layer(testAppLayer({ hooks: [hook] }), live)

withHook("a client that hangs up while its request is worked on", (it) => {
  it.effect("finds the answer under its key, and what was written is not written again", () =>
    Effect.gen(function*() {
      const { url } = yield* TestApp
      const cart = yield* aGuestCart()
      const body = { entityId: yield* aProduct(), quantity: 1 }
      const headers = { ...cart.headers, "idempotency-key": randomUUID() }
      const [written, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      afterAddItem = Deferred.succeed(written, undefined).pipe(Effect.andThen(Deferred.await(goOn)))
      const client = new AbortController()
      const cut = fetch(`${url}/api/carts/${cart.id}/items`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: client.signal
      }).catch(() => "cut")
      yield* Deferred.await(written)
      client.abort()
      assert.strictEqual(yield* Effect.promise(() => cut), "cut")
      const again = api("POST", `/api/carts/${cart.id}/items`, { headers, body })
      // Long enough for the service to notice, which it does at once.
      afterAddItem = Effect.void
      const early = yield* again
      yield* Deferred.succeed(goOn, undefined)
      const context = yield* Effect.context<TestApp>()
      const late = yield* Effect.promise(() =>
        waitFor("the answer", async () => {
          const answer = await Effect.runPromiseWith(context)(again)
          return answer.status === 409 ? undefined : answer
        })
      )
      assert.deepStrictEqual([early.status, late.status, late.at("data.quantity")], [409, 201, 1])
      const stored = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
      assert.strictEqual(stored.at("data.lineItems.0.quantity"), 1)
    }))
})
