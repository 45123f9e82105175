import { assert, describe, it } from "@effect/vitest"
import { Api } from "../../src/http/Api.ts"
import { documentOptions } from "../../src/http/docs/Docs.ts"
import { documentWith } from "../../src/plugins/kit/install/PluginDocument.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { marketplace } from "../../src/plugins/marketplace/index.ts"
import { describeDocument } from "./DocumentChecks.ts"
import { complaints, lintErrors, objectsOf } from "./Validators.ts"

describeDocument("Stoa", Api, documentOptions())

describe("the OpenAPI document of a deployment with the marketplace", () => {
  const plugins = [marketplace()]
  const document = documentWith(testSettings("postgres://nowhere/none", { plugins }), plugins, "1.0.0")

  it("is valid OpenAPI 3.0 by two independent validators", async () => {
    assert.deepStrictEqual(await complaints(document), [])
  })

  it("has no error in the eyes of a linter", async () => {
    assert.deepStrictEqual(await lintErrors(document), [])
  })

  it("says nullable beside a type only, where it means something", () => {
    const untyped = objectsOf(document).filter(([, schema]) => schema["nullable"] === true && !("type" in schema))
    assert.deepStrictEqual(untyped, [])
  })

  it("has no two paths that differ in the names of their parameters alone", () => {
    const shapes = Object.keys(Object(document["paths"])).map((path) => path.replace(/\{[^}]+\}/g, "{}"))
    assert.strictEqual(new Set(shapes).size, shapes.length)
  })
})
