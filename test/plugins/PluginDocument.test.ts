import { assert, it } from "@effect/vitest"
import { documentWith } from "../../src/plugins/kit/install/PluginDocument.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { loyalty } from "./LoyaltyPlugin.ts"

it("the document that `stoa openapi` writes has the routes of plugins, and nothing has to run for it", () => {
  const plugins = [loyalty]
  const document = documentWith(testSettings("postgres://nowhere/none", { plugins }), plugins, "1.0.0")
  assert.property(document["paths"], "/api/loyalty/accounts/{id}")
  assert.property(document["paths"], "/api/carts")
})
