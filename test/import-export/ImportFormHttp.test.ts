import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { asAdmin, TestApp, withApp } from "../support/TestApp.ts"
import { counts, ended, upload } from "./ImportFixtures.ts"

type Part = readonly [name: string, value: string | Blob, fileName?: string]

/** Sends a form as a browser does. */
const sendForm = Effect.fnUntraced(function*(parts: ReadonlyArray<Part>, query = "") {
  const { url } = yield* TestApp
  return yield* Effect.promise(async () => {
    const form = new FormData()
    for (const [name, value, fileName] of parts) {
      if (typeof value === "string") form.append(name, value)
      else form.append(name, value, fileName)
    }
    const headers = { "x-test-actor": JSON.stringify(asAdmin) }
    const response = await fetch(`${url}/api/imports${query}`, { method: "POST", body: form, headers })
    const body = await response.json() as {
      readonly data?: { readonly id: string }
      readonly error?: { message: string }
    }
    return { status: response.status, id: body.data?.id ?? "", message: body.error?.message, data: body.data }
  })
})

const fileOf = (text: string, type = "text/csv") => new Blob([text], { type })

withApp("a file in a form", (it) => {
  it.effect("is imported as the fields before it say, and the query counts before them", () =>
    Effect.gen(function*() {
      const brands: Part = ["file", fileOf("slug;displayName\nacme;Acmé\n", "application/vnd.ms-excel"), "brands.csv"]
      const dry = yield* sendForm([["kind", "brands"], ["dryRun", "true"], brands])
      assert.strictEqual(dry.status, 202, dry.message)
      assert.deepInclude(dry.data as object, { kind: "brands", dryRun: true, fileName: "brands.csv", format: "csv" })
      assert.deepStrictEqual(counts(yield* ended(dry.id)), [1, 0, 0, 0])
      const done = yield* sendForm([["kind", "catalog"], ["dryRun", "true"], brands], "?kind=brands&dryRun=false")
      assert.deepStrictEqual(counts(yield* ended(done.id)), [1, 0, 0, 0])
      const lines = fileOf("{\"slug\":\"acme\",\"displayName\":\"Acmé\"}\n", "application/octet-stream")
      const again = yield* sendForm([["file", lines, "brands.jsonl"]], "?kind=brands")
      assert.deepStrictEqual(counts(yield* ended(again.id)), [0, 0, 1, 0])
      assert.strictEqual((yield* sendForm([["kind", "brands"], ["encoding", "windows-1252"], brands])).status, 202)
    }))

  it.effect("is refused without a file, with unknown or wrong fields, and with fields behind it", () =>
    Effect.gen(function*() {
      const file: Part = ["file", fileOf("slug,type\nx,product\n"), "x.csv"]
      const refusals = [
        [[["kind", "brands"]], "Send the file in a field called file."],
        [[["other", fileOf("a"), "a.csv"]], "Send the file in a field called file."],
        [[file, ["dryRun", "true"]], "dryRun must stand before the file."],
        [[file, file], "file must stand before the file."],
        [[["dryrun", "true"], file], "dryrun"],
        [[["kind", "goods"], file], "kind"],
        [
          [["file", fileOf("a", "application/pdf"), "a.pdf"]],
          "format is required: csv, jsonl, shopify, woocommerce, square or magento."
        ]
      ] as const
      for (const [parts, message] of refusals) {
        const answer = yield* sendForm(parts)
        assert.strictEqual(answer.status, 422, answer.message)
        assert.include(answer.message, message)
      }
    }))

  it.effect("names the content types that are taken when another is sent", () =>
    Effect.gen(function*() {
      const answer = yield* upload("%PDF", { type: "application/pdf" })
      assert.strictEqual(answer.status, 415)
      assert.include(answer.text("error.message"), "send text/csv, ")
    }))
})
