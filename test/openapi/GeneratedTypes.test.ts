import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { aProduct } from "../support/Purchase.ts"
import { TestApp, withApp } from "../support/TestApp.ts"

/** A program of a developer who has only the document: types from it, and a client that knows no Stoa. It buys a product. */
const program = `import createClient from "openapi-fetch"
import type { components, paths } from "./stoa.ts"

const [baseUrl = "", entityId = ""] = process.argv.slice(2)
const stoa = createClient<paths>({ baseUrl, headers: { "x-api-key": "dev-admin-key" } })

const read = await stoa.GET("/api/catalog/entities/{id}", {
  params: { path: { id: entityId }, query: { include: "pricing" } }
})
if (read.data === undefined) throw new Error(read.error.error.message)
const amount: number = read.data.data.pricing?.[0]?.amount ?? 0

const cart = await stoa.POST("/api/carts", { body: { currency: "USD" } })
if (cart.data === undefined) throw new Error(cart.error.error.message)
const secret: string = cart.data.data.secret
const line = await stoa.POST("/api/carts/{id}/items", {
  params: { path: { id: cart.data.data.id }, header: { "x-cart-secret": secret } },
  body: { entityId, quantity: 2 }
})
const added: components["schemas"]["CartLine"] | undefined = line.data?.data

const bought = await stoa.POST("/api/checkout", {
  params: { header: { "x-cart-secret": secret, "Idempotency-Key": crypto.randomUUID() } },
  body: { cartId: cart.data.data.id, currency: "USD", paymentMethodId: "test", email: "ann@example.com" }
})
if (bought.data === undefined) throw new Error(JSON.stringify(bought.error))
const order: components["schemas"]["Order"] = bought.data.data
const page = await stoa.GET("/api/orders", { params: { query: { page: 1, limit: 1 } } })
const listed: boolean = page.data?.data[0]?.id === order.id

const missing = await stoa.GET("/api/orders/{idOrNumber}", { params: { path: { idOrNumber: "ORD-1999-000001" } } })
const code: string | undefined = missing.error?.error.code

const { status } = missing.response
console.log(JSON.stringify({ amount, quantity: added?.quantity, total: order.subtotal, listed, code, status }))
`

/** The same with what the document does not have. */
const mistaken = `import createClient from "openapi-fetch"
import type { paths } from "./stoa.ts"
const stoa = createClient<paths>({ baseUrl: "" })
await stoa.POST("/api/carts", { body: { currency: 5 } })
await stoa.GET("/api/no/such/route")
`

const settings = {
  compilerOptions: {
    target: "ESNext",
    lib: ["ESNext", "DOM"],
    module: "NodeNext",
    moduleDetection: "force",
    types: ["node"],
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true
  }
}

const run = (...words: ReadonlyArray<string>) =>
  Effect.callback<{ readonly failed: boolean; readonly output: string; readonly stdout: string }>((resume) => {
    execFile(
      process.execPath,
      [...words],
      { maxBuffer: 64_000_000 },
      (error, stdout, stderr) => resume(Effect.succeed({ failed: error !== null, output: stdout + stderr, stdout }))
    )
  })

/** What the compiler complains of: in which file and line, and its first words. */
const errorsOf = (output: string) =>
  [...output.matchAll(/(\w+\.ts)\((\d+),\d+\): error \w+: (.*)/g)].map(([, file, line, text]) => ({
    place: `${file}:${line}`,
    text: text ?? ""
  }))

/** A folder of the project, where programs find its packages. */
const folder = Effect.acquireRelease(
  Effect.promise(() => mkdir("tmp", { recursive: true }).then(() => mkdtemp("tmp/types-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

withApp("types that somebody else's tool makes of the document", (it) => {
  it.effect.each(["3.0", "3.1"])(
    "of %s compile, buy a product, and refuse what the service would refuse",
    (version) =>
      Effect.gen(function*() {
        const { url } = yield* TestApp
        const entityId = yield* aProduct({ price: 1_234 })
        const generated = yield* run("test/openapi/GenerateTypes.ts", `${url}/api/doc?version=${version}`)
        assert.isFalse(generated.failed, generated.output)
        const place = yield* folder
        const write = (name: string, text: string) => Effect.promise(() => writeFile(join(place, name), text))
        yield* write("stoa.ts", generated.stdout)
        yield* write("program.ts", program)
        yield* write("mistaken.ts", mistaken)
        yield* write("tsconfig.json", JSON.stringify({ ...settings, files: ["program.ts", "mistaken.ts"] }))
        const checked = yield* run("node_modules/typescript/bin/tsc", "--pretty", "false", "-p", place)
        // What does not compile is what the document does not have, and nothing else.
        assert.deepStrictEqual(errorsOf(checked.output).map(({ place }) => place), ["mistaken.ts:4", "mistaken.ts:5"])
        assert.match(errorsOf(checked.output)[0]?.text ?? "", /number.*string/)

        yield* write("tsconfig.json", "{}")
        const recorded = yield* run(join(place, "program.ts"), url, entityId)
        assert.isFalse(recorded.failed, recorded.output)
        assert.deepStrictEqual(JSON.parse(recorded.stdout), {
          amount: 1_234,
          quantity: 2,
          total: 2_468,
          listed: true,
          code: "NOT_FOUND",
          status: 404
        })
      })
  )

  it.effect(
    "compile under strict as classes of a second generator, with the names of operations",
    () =>
      Effect.gen(function*() {
        const { url } = yield* TestApp
        const place = yield* folder
        for (const version of ["3.0", "3.1"]) {
          const target = join(place, `client-${version}`)
          const input = join(place, `${version}.json`)
          const document = yield* Effect.promise(() =>
            fetch(`${url}/api/doc?version=${version}`).then((it) => it.text())
          )
          yield* Effect.promise(() => writeFile(input, document))
          const source = ["--input", input, "--output", target]
          const program = "node_modules/openapi-typescript-codegen/bin/index.js"
          const generated = yield* run(program, ...source, "--client", "fetch", "--useOptions", "--useUnionTypes")
          assert.isFalse(generated.failed, generated.output)
          const { compilerOptions } = settings
          const options = { ...compilerOptions, module: "ESNext", moduleResolution: "bundler" }
          // Its own code imports types as values, and passes what is undefined.
          const theirs = { ...options, verbatimModuleSyntax: false, exactOptionalPropertyTypes: false }
          const own = JSON.stringify({ compilerOptions: theirs, files: ["index.ts"] })
          yield* Effect.promise(() => writeFile(join(target, "tsconfig.json"), own))
          const checked = yield* run("node_modules/typescript/bin/tsc", "--pretty", "false", "-p", target)
          assert.deepStrictEqual(errorsOf(checked.output), [])
          const carts = yield* Effect.promise(() => readFile(join(target, "services", "CartsService.ts"), "utf8"))
          assert.include(carts, "cartsAddItem(")
        }
      })
  )
})
