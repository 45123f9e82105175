import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { api, testAppLayer } from "../support/TestApp.ts"

const ofItsOwn = layer(testAppLayer({ store: { defaultOrganizationId: "acme", defaultCurrency: "EUR" } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

ofItsOwn("an organization that the deployment names", (it) => {
  it.effect("is there from the first start on and can be written to", () =>
    Effect.gen(function*() {
      const headers = { "x-api-key": "dev-admin-key" }
      const slug = "mug"
      const entity = yield* api("POST", "/api/catalog/entities", { headers, body: { type: "product", slug } })
      assert.deepStrictEqual([entity.status, entity.at("data.organizationId")], [201, "acme"])
      const category = yield* api("POST", "/api/catalog/categories", { headers, body: { slug } })
      const cart = yield* api("POST", "/api/carts", { body: { currency: "EUR" } })
      assert.deepStrictEqual([category.status, cart.status, cart.at("data.organizationId")], [201, 201, "acme"])
    }))
})

describe("settings of the store that cannot be used", () => {
  const wrong: ReadonlyArray<readonly [store: NonNullable<DeploymentConfig["store"]>, name: string]> = [
    [{ defaultCurrency: "EURO" }, "store.defaultCurrency=\"EURO\""],
    [{ defaultCurrency: "XXX" }, "store.defaultCurrency=\"XXX\""],
    [{ defaultCurrency: "eur" }, "store.defaultCurrency=\"eur\""],
    [{ defaultOrganizationId: "" }, "store.defaultOrganizationId=\"\""],
    [{ defaultOrganizationId: "a b" }, "store.defaultOrganizationId=\"a b\""],
    [{ defaultOrganizationId: "o".repeat(65) }, "store.defaultOrganizationId="]
  ]

  for (const [store, name] of wrong) {
    it.effect(`${name} ends the start with a line that names it`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(readSettings({ store }))
        assert.include(error.message, name)
        assert.match(error.message, /is not allowed: expected .+\.$/)
      }))
  }

  it.effect("are refused before anything is started; usable ones are not", () =>
    Effect.gen(function*() {
      const { deployment } = yield* readSettings({
        store: { defaultCurrency: "JPY", defaultOrganizationId: "org-1_A" }
      })
      assert.deepStrictEqual(deployment.store, { defaultCurrency: "JPY", defaultOrganizationId: "org-1_A" })
    }))
})
