import { assert, beforeAll, describe, it } from "@effect/vitest"
import { type Finding, lintPlanted } from "./PlantedTree.ts"

/** Files that break no rule and give the planted imports something to arrive at. */
const clean = {
  "src/domain/carts/Cart.ts": `import { Schema } from "effect"\nexport const Cart = Schema.Struct({})\n`,
  "src/domain/carts/CartRepo.ts": `import { SqlClient } from "effect/sql"
import { ChangeLog } from "../platform/events/ChangeLogRepo.ts"
import { Cart } from "./Cart.ts"
export const CartRepo = [SqlClient, Cart, ChangeLog]
`,
  "src/domain/carts/Carts.ts": `import { CartRepo } from "./CartRepo.ts"\nexport const Carts = CartRepo\n`,
  "src/domain/carts/migrations.ts": `import { SqlClient } from "effect/sql"\nexport const migrations = [SqlClient]\n`,
  "src/domain/platform/events/ChangeLogRepo.ts":
    `import { SqlClient } from "effect/sql"\nexport const ChangeLog = [SqlClient]\n`,
  "src/domain/orders/migrations.ts": `export const migrations = "create table orders (id uuid)"\n`,
  "src/domain/carts/CartOrdersRepo.ts": `export const ordered = "select 1 from orders_read"\n`,
  "src/domain/orders/Orders.ts": `import { Carts } from "../carts/Carts.ts"
import { ChangeLog } from "../platform/events/ChangeLogRepo.ts"
import { OrderRepo } from "./OrderRepo.ts"
export const Orders = [Carts, ChangeLog, OrderRepo]
`,
  "src/domain/orders/Order.ts": `import { Cart } from "../carts/Cart.ts"\nexport const Order = [Cart]\n`,
  "src/domain/orders/OrderRepo.ts": `import { Effect } from "effect"
import { SqlClient } from "effect/sql"
export const OrderRepo = Effect.orDie(SqlClient.SqlClient)
`,
  "src/entities/CartEntity.ts": `import { Entity } from "effect/cluster"
import { CartRepo } from "../domain/carts/CartRepo.ts"
export const CartEntity = [Entity.make("Cart", []).toLayer({}, { disableFatalDefects: true }), CartRepo]
`,
  "src/workflows/checkout/Checkout.ts": `import { Workflow } from "effect/workflow"
import { CartEntity } from "../../entities/CartEntity.ts"
export const Checkout = [Workflow, CartEntity]
`,
  "src/http/carts/CartsHttp.ts": `import { HttpApiBuilder } from "effect/http-api"
import { Carts } from "../../domain/carts/Carts.ts"
import { CartEntity } from "../../entities/CartEntity.ts"
import { Checkout } from "../../workflows/checkout/Checkout.ts"
export const CartsHttp = [HttpApiBuilder, Carts, CartEntity, Checkout]
`,
  "src/layers/Sql.ts": `import { PgClient } from "@effect/sql-pg"\nexport const Sql = PgClient\n`,
  "src/layers/config/Settings.ts": `export const port = process.env["PORT"]\n`,
  "src/layers/modules/carts.ts":
    `import { CartRepo } from "../../domain/carts/CartRepo.ts"\nexport const carts = CartRepo\n`,
  "src/main.ts": `import { Sql } from "./layers/Sql.ts"\nexport const main = [Sql, process.env["HOME"]]\n`,
  "src/plugins/gifts/index.ts": `export const gifts = { id: "gifts", requires: [] }\n`,
  "src/plugins/gifts/Gift.ts": `import { table } from "stoa/plugin"\nexport const Gift = table\n`,
  "src/plugins/gifts/GiftRepo.ts": `import { SqlClient } from "effect/sql"\nexport const GiftRepo = [SqlClient]\n`,
  "src/plugins/loyalty/index.ts": `import { gifts } from "../gifts/index.ts"
export const loyalty = { id: "loyalty", requires: ["gifts"], gifts }
`,
  "test/carts/Cart.test.ts": `import { it } from "@effect/vitest"
import { Cart } from "../../domain/carts/Cart.ts"
it("is there", () => Cart)
`,
  "test/support/Clocks.ts": `export const soon = (then: () => void) => setTimeout(then, 1)\n`,
  "test/support/waitFor.ts":
    `export const waitFor = (_: string, __: () => number, ms = 60_000) => performance.now() + ms\n`,
  "test/chaos/Bars.ts": `export const elapsed = (began: number) => performance.now() - began\n`
}

const use = (what: string, from: string) => `import { ${what} } from "${from}"\nexport const Used = [${what}]\n`
const lines = (count: number) => Array.from({ length: count }, (_, index) => `  console.log(${index})`).join("\n")

/** One violation each: what is wrong, the file that does it, the rule that must say so, and its words. */
const planted: ReadonlyArray<readonly [what: string, file: string, rule: string, source: string, message?: RegExp]> = [
  [
    "a statement over a table of another module",
    "src/domain/a/JoinRepo.ts",
    "stoa(module-tables)",
    "export const joined = `select 1 from carts c join orders o on o.cart_id = c.id`\n",
    /read its view "orders_read"/
  ],
  [
    "a statement of a plugin over a table of the core",
    "src/plugins/a/JoinRepo.ts",
    "stoa(plugin-tables)",
    "export const joined = `select 1 from a_gifts g join orders o on o.id = g.order_id`\n",
    /"orders" is of the core: read a view "plugin_…"/
  ],
  [
    "a statement of a plugin over a view of the core's modules",
    "src/plugins/a/ViewRepo.ts",
    "stoa(plugin-tables)",
    "export const joined = `select 1 from orders_read`\n",
    /"orders_read" is of the core/
  ],
  [
    "a rule of the domain that imports sql",
    "src/domain/a/A.ts",
    "stoa(layer-imports)",
    use("SqlClient", "effect/sql"),
    /Repo/
  ],
  [
    "a rule that imports sql as a separate module",
    "src/domain/a/Deep.ts",
    "stoa(layer-imports)",
    use("x", "effect/sql/SqlClient")
  ],
  ["a rule that imports the cluster", "src/domain/a/B.ts", "stoa(layer-imports)", use("Entity", "effect/cluster")],
  ["a rule that imports workflows", "src/domain/a/C.ts", "stoa(layer-imports)", use("Workflow", "effect/workflow")],
  ["a rule that imports http", "src/domain/a/D.ts", "stoa(layer-imports)", use("HttpRouter", "effect/http")],
  ["a rule that imports the http api", "src/domain/a/E.ts", "stoa(layer-imports)", use("HttpApi", "effect/http-api")],
  [
    "a rule that imports a platform package",
    "src/domain/a/F.ts",
    "stoa(layer-imports)",
    use("x", "@effect/platform-node")
  ],
  [
    "a layer that imports the index of a platform package",
    "src/layers/F.ts",
    "stoa(layer-imports)",
    use("x", "@effect/platform-node")
  ],
  ["a rule that imports the file system", "src/domain/a/G.ts", "stoa(layer-imports)", use("x", "node:fs")],
  [
    "a rule that imports an entity",
    "src/domain/a/H.ts",
    "stoa(layer-imports)",
    use("x", "../../entities/CartEntity.ts")
  ],
  [
    "a rule that imports an entity for its type only",
    "src/domain/a/I.ts",
    "stoa(layer-imports)",
    `import type { CartEntity } from "../../entities/CartEntity.ts"\nexport type Used = typeof CartEntity\n`
  ],
  [
    "a rule that re-exports a workflow",
    "src/domain/a/J.ts",
    "stoa(layer-imports)",
    `export * from "../../workflows/checkout/Checkout.ts"\n`
  ],
  [
    "a rule that imports a layer at run time",
    "src/domain/a/K.ts",
    "stoa(layer-imports)",
    `export const later = () => import("../../layers/Sql.ts")\n`
  ],
  [
    "a rule that imports a plugin",
    "src/domain/a/L.ts",
    "stoa(layer-imports)",
    use("gifts", "../../plugins/gifts/index.ts")
  ],
  [
    "a Repo that imports another module's Repo",
    "src/domain/a/ARepo.ts",
    "stoa(layer-imports)",
    use("x", "../carts/CartRepo.ts"),
    /a Repo may not import another module's Repo/
  ],
  [
    "a service that imports another module's Repo",
    "src/domain/a/Services.ts",
    "stoa(layer-imports)",
    use("x", "../carts/CartRepo.ts"),
    /a service may not import another module's Repo/
  ],
  [
    "a rule that imports a type of another module's Repo",
    "src/domain/a/Kinds.ts",
    "stoa(layer-imports)",
    `import type { CartRepo } from "../carts/CartRepo.ts"\nexport type Used = typeof CartRepo\n`,
    /another module's Repo/
  ],
  [
    "a migration that imports another module's Repo",
    "src/domain/a/migrations.ts",
    "stoa(layer-imports)",
    use("x", "../carts/CartRepo.ts"),
    /another module's Repo/
  ],
  ["a Repo that imports a driver", "src/domain/a/BRepo.ts", "stoa(layer-imports)", use("PgClient", "@effect/sql-pg")],
  [
    "an entity that imports a workflow",
    "src/entities/AEntity.ts",
    "stoa(layer-imports)",
    use("x", "../workflows/checkout/Checkout.ts")
  ],
  [
    "an entity that imports http",
    "src/entities/BEntity.ts",
    "stoa(layer-imports)",
    use("x", "../http/carts/CartsHttp.ts")
  ],
  ["an entity that imports sql", "src/entities/CEntity.ts", "stoa(layer-imports)", use("SqlClient", "effect/sql")],
  [
    "a workflow that imports http",
    "src/workflows/a/A.ts",
    "stoa(layer-imports)",
    use("x", "../../http/carts/CartsHttp.ts")
  ],
  ["a workflow that imports a layer", "src/workflows/a/B.ts", "stoa(layer-imports)", use("x", "../../layers/Sql.ts")],
  [
    "a workflow that imports a plugin",
    "src/workflows/a/C.ts",
    "stoa(layer-imports)",
    use("x", "../../plugins/gifts/index.ts")
  ],
  [
    "a handler that imports a Repo",
    "src/http/a/AHttp.ts",
    "stoa(layer-imports)",
    use("x", "../../domain/carts/CartRepo.ts"),
    /domain repositories/
  ],
  ["a handler that imports a layer", "src/http/a/BHttp.ts", "stoa(layer-imports)", use("x", "../../layers/Sql.ts")],
  [
    "a handler that imports a plugin",
    "src/http/a/CHttp.ts",
    "stoa(layer-imports)",
    use("x", "../../plugins/gifts/index.ts")
  ],
  ["a handler that imports sql", "src/http/a/DHttp.ts", "stoa(layer-imports)", use("SqlClient", "effect/sql")],
  ["a plugin that imports a layer", "src/plugins/a/A.ts", "stoa(layer-imports)", use("x", "../../layers/Sql.ts")],
  [
    "a plugin that imports the core",
    "src/plugins/a/C.ts",
    "stoa(layer-imports)",
    use("x", "../../domain/carts/Cart.ts")
  ],
  [
    "a plugin's Repo that imports the core",
    "src/plugins/a/ARepo.ts",
    "stoa(layer-imports)",
    use("x", "../../domain/carts/CartRepo.ts")
  ],
  ["a plugin's rule that imports sql", "src/plugins/a/B.ts", "stoa(layer-imports)", use("SqlClient", "effect/sql")],
  [
    "a plugin that imports another one's inside",
    "src/plugins/loyalty/A.ts",
    "stoa(layer-imports)",
    use("x", "../gifts/Gift.ts"),
    /only through its manifest/
  ],
  [
    "a plugin that imports one it does not require",
    "src/plugins/gifts/A.ts",
    "stoa(layer-imports)",
    use("x", "../loyalty/index.ts"),
    /must list "loyalty"/
  ],
  [
    "a layer that imports the tests",
    "src/layers/A.ts",
    "stoa(layer-imports)",
    use("soon", "../../test/support/Clocks.ts")
  ],
  ...([
    ["one of a higher level", "carts/Upward.ts", use("Order", "../orders/Order.ts")],
    ["a type of its level", "tax/Sideways.ts", `export type { a } from "../promotions/Promotion.ts"\n`],
    ["commerce from the platform", "platform/events/Upward.ts", use("Cart", "../../carts/Cart.ts")]
  ] as const).map(([what, file, source]) =>
    [
      `a module that imports ${what}`,
      `src/domain/${file}`,
      "stoa(module-order)",
      source,
      /not of a lower level/
    ] as const
  ),
  ...([
    ["a cycle of two files", "a", "b"],
    ["the same cycle from its other end", "b", "a"]
  ] as const).map(([what, own, other]) => {
    const source =
      `import { ${other} } from "./${other.toUpperCase()}.ts"\nexport const ${own} = (): number => ${other}()\n`
    return [what, `src/domain/b/${own.toUpperCase()}.ts`, "import(no-cycle)", source] as const
  }),
  ["a file of 401 lines", "src/layers/Long.ts", "eslint(max-lines)", `${lines(401)}\n`],
  [
    "a function of 71 lines",
    "src/layers/Wide.ts",
    "eslint(max-lines-per-function)",
    `export function wide() {\n${lines(69)}\n}\n`
  ],
  ["any", "src/layers/Any.ts", "typescript(no-explicit-any)", `export const a = (b: any) => b\n`],
  [
    "as unknown as",
    "src/layers/Double.ts",
    "stoa(no-double-assertion)",
    `export const a = (b: string) => b as unknown as number\n`
  ],
  [
    "ts-ignore",
    "src/layers/Ignore.ts",
    "typescript(ban-ts-comment)",
    `// @ts-ignore because of that\nexport const a: string = 1\n`
  ],
  [
    "ts-expect-error",
    "src/layers/Expect.ts",
    "typescript(ban-ts-comment)",
    `// @ts-expect-error because of that\nexport const a: string = 1\n`
  ],
  [
    "orDie in a service",
    "src/domain/a/Dies.ts",
    "stoa(no-or-die)",
    `import { Effect } from "effect"\nexport const a = Effect.orDie(Effect.fail(1))\n`
  ],
  [
    "orDie without a call, in a handler",
    "src/http/a/DiesHttp.ts",
    "stoa(no-or-die)",
    `import { Effect } from "effect"\nexport const a = Effect.fail(1).pipe(Effect.orDie)\n`
  ],
  [
    "orDie in a layer",
    "src/layers/Dies.ts",
    "stoa(no-or-die)",
    `import { Layer } from "effect"\nexport const a = Layer.orDie(Layer.empty)\n`
  ],
  [
    "an entity that a defect restarts",
    "src/entities/DEntity.ts",
    "stoa(no-fatal-defects)",
    `import { Entity } from "effect/cluster"\nexport const d = Entity.make("D", []).toLayer({}, { maxIdleTime: 1 })\n`
  ],
  [
    "an entity without options",
    "src/entities/EEntity.ts",
    "stoa(no-fatal-defects)",
    `import { Entity } from "effect/cluster"\nexport const e = Entity.make("E", []).toLayerQueue({})\n`
  ],
  ["a linked workflow", "src/workflows/a/L.ts", "stoa(no-linked-workflows)", `w.execute({}, { discard: true })\n`],
  ["a barrel", "src/domain/a/index.ts", "stoa(file-names)", `export * from "../carts/Cart.ts"\n`],
  ["a barrel of all plugins", "src/plugins/index.ts", "stoa(file-names)", `export const all = []\n`],
  ["a file name in lower case", "src/domain/a/cart.ts", "stoa(file-names)", `export const a = 1\n`],
  ["a file name that says nothing", "src/domain/a/Utils.ts", "stoa(file-names)", `export const a = 1\n`],
  [
    "setTimeout in a test",
    "test/a/A.test.ts",
    "stoa(no-sleep-in-tests)",
    `export const a = () => setTimeout(() => 1, 5)\n`
  ],
  ["a sleep in a test", "test/a/B.test.ts", "stoa(no-sleep-in-tests)", `export const a = Effect.sleep("1 second")\n`],
  [
    "a sleep of Node in a test",
    "test/a/C.test.ts",
    "stoa(no-sleep-in-tests)",
    use("setTimeout", "node:timers/promises")
  ],
  ...([
    ["a clock", `export const a = () => performance.now()\n`],
    ["a wait with a bar", `waitFor("a", () => 1, 5_000)\n`],
    ["a time limit of an effect", `export const a = Effect.timeout("5 seconds")\n`],
    ["a time limit of a test", `it("is", () => null, { timeout: 9_000 })\n`],
    ["an asserted date of now", `assert.isAbove(at, Date.now() - 1)\n`]
  ] as const).map(([what, source], n) =>
    [`${what} in a test`, `test/a/Bar${n}.test.ts`, "stoa(no-duration-bars)", source] as const
  ),
  [
    "a clock in a test of a plugin",
    "src/plugins/gifts/test/Bar.test.ts",
    "stoa(no-duration-bars)",
    `export const a = () => performance.now()\n`
  ],
  [
    "a skipped test",
    "test/a/D.test.ts",
    "stoa(no-skipped-tests)",
    `import { it } from "@effect/vitest"\nit.effect.skip("x", () => null)\n`
  ],
  ["process.env in a service", "src/domain/a/Env.ts", "stoa(no-process-env)", `export const a = process.env["A"]\n`],
  ["process.env in a layer", "src/layers/Env.ts", "stoa(no-process-env)", `export const { A } = process.env\n`],
  ["the wall clock", "src/domain/a/Now.ts", "stoa(no-ambient)", `export const now = () => Date.now()\n`],
  ["today's date", "src/domain/a/Today.ts", "stoa(no-ambient)", `export const today = () => new Date()\n`],
  ["untyped JSON", "src/http/a/Json.ts", "stoa(no-ambient)", `export const a = (b: string) => JSON.parse(b)\n`],
  [
    "a service whose key is not its place",
    "src/domain/a/Misnamed.ts",
    "stoa(service-keys)",
    `import { Context } from "effect"\nexport class Misnamed extends Context.Service<Misnamed, {}>()("Misnamed") {}\n`
  ]
]

describe("the rules of the house", () => {
  let findings: ReadonlyArray<Finding> = []
  beforeAll(async () => {
    const violations = Object.fromEntries(planted.map(([, file, , source]) => [file, source]))
    findings = await lintPlanted({ ...clean, ...violations })
  })

  for (const [what, file, rule, , message = /./] of planted) {
    it(`report ${what}`, () => {
      const found = findings.filter((finding) => finding.file === file)
      assert.deepStrictEqual([...new Set(found.map((finding) => finding.rule))], [rule])
      assert.isTrue(found.every((finding) => message.test(finding.message)), JSON.stringify(found))
    })
  }

  it("report nothing in the files that keep them", () => {
    const innocent = new Set(Object.keys(clean))
    assert.deepStrictEqual(findings.filter((finding) => innocent.has(finding.file)), [])
  })

  it("let a clean tree pass", async () => {
    assert.deepStrictEqual(await lintPlanted(clean), [])
  })
})
