import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Node, projectPath, type Rule } from "./Rule.ts"

/** Modules whose tables are those of another one. */
const joined: Readonly<Record<string, string>> = { credentials: "auth", staff: "auth", idempotency: "tenancy" }

/**
 * Tables that statements of another module write, because the change belongs into one transaction or one statement with
 * their own. Everything else that modules know of each other they read through `<table>_read`.
 */
const written: Readonly<Record<string, ReadonlyArray<string>>> = {
  // An organization is deleted with its members.
  auth: ["organizations"],
  // The mark of the Idempotency-Key is written with the line that many requests share.
  carts: ["idempotency_records"],
  // Claims the cart, creates the order, ends the hold and counts the promotions in one statement each.
  checkout: [
    "carts",
    "cart_lines",
    "holds",
    "orders",
    "order_lines",
    "order_status_history",
    "order_tenders",
    "promotions",
    "promotion_usages",
    "promotion_buyer_usages"
  ],
  // Writes the shipped status of a line into the line.
  fulfillment: ["order_lines", "orders"],
  // Reads and locks what a batch of records changes, and writes it in one transaction.
  "import-export": [
    "brands",
    "catalog_entities",
    "categories",
    "entity_field_definitions",
    "entity_field_values",
    "option_values",
    "order_counters",
    "order_lines",
    "orders",
    "variants"
  ],
  mail: ["order_mails"],
  // A cancellation begins the refund of what was captured.
  orders: ["refunds"],
  // Writes captured and refunded amounts into the order and its lines.
  payments: ["orders", "order_lines", "order_tenders"],
  // Erases what is known of a person in every table.
  privacy: [
    "customers",
    "customer_addresses",
    "customer_interactions",
    "customer_group_members",
    "carts",
    "cart_lines",
    "cart_lines_with_metadata",
    "compensation_failures",
    "fulfillments",
    "fulfillment_events",
    "orders",
    "order_lines",
    "order_mails",
    "order_notes",
    "order_return_lines",
    "order_returns",
    "order_status_history",
    "refunds"
  ]
}

/** Tables of the core that plugins write in a statement with their own. */
const writtenByPlugins: Readonly<Record<string, ReadonlyArray<string>>> = {
  // Who acts for a vendor, in which role.
  marketplace: ["users"]
}

/** Builds the search index by triggers and functions on the tables of the catalog, and fills an empty demo store. */
const unbound = /^src\/layers\/(search|seed)\//

const moduleOf = (path: string): string => {
  const name = /^src\/[a-z]+\/(?:platform\/)?([^/]+)\//.exec(path)?.[1] ?? ""
  return joined[name] ?? name
}

const owners = (cwd: string): ReadonlyMap<string, string> =>
  new Map(
    globSync("src/{domain,layers}/*/**/*.ts", { cwd }).flatMap((file) => {
      const owner = moduleOf(file.replaceAll("\\", "/"))
      const tables = readFileSync(join(cwd, file), "utf8").matchAll(
        /create (?:unlogged )?table (?:if not exists )?(\w+)/g
      )
      return Array.from(tables, ([, table = ""]) => [table, owner] as const)
    })
  )

/** Calls `check` with each name that may be a table in a statement of the file. */
const statementChecks = (check: (node: Node, table: string) => void): ReturnType<Rule["create"]> => {
  const each = (node: Node, text: string) => {
    for (const [, table = ""] of text.matchAll(/\b(?:from|join|into|update|only)\s+(\w+)\b/g)) check(node, table)
  }
  return {
    TemplateElement: (node) => each(node, node.value.raw),
    Literal(node) {
      if (typeof node.value === "string") each(node, node.value)
    }
  }
}

let known: ReadonlyMap<string, string> | undefined

/** `stoa/plugin-tables`: the core's tables can change without a look at the statements of plugins. */
export const PluginTables: Rule = {
  meta: { type: "problem", docs: { description: "statements of plugins read views that are made for them" } },
  create(context) {
    const path = projectPath(context)
    const plugin = /^src\/plugins\/(?!kit\/)([^/]+)\/.+Repo\.ts$/.exec(path)?.[1]
    if (plugin === undefined) return {}
    const tables = known ??= owners(context.cwd)
    return statementChecks((node, table) => {
      const isForeign = tables.has(table) || table.endsWith("_read")
      if (!isForeign || writtenByPlugins[plugin]?.includes(table)) return
      const message = `"${table}" is of the core: read a view "plugin_…" (docs/plugins.md), or call a service.`
      context.report({ node, message })
    })
  }
}

/** `stoa/module-tables`: a module's tables can change without a look at the statements of others. */
export const ModuleTables: Rule = {
  meta: { type: "problem", docs: { description: "statements join other modules' read views, not their tables" } },
  create(context) {
    const path = projectPath(context)
    if (!/^src\/(domain|layers)\/.+\.ts$/.test(path) || path.endsWith("migrations.ts") || unbound.test(path)) return {}
    const tables = known ??= owners(context.cwd)
    const own = moduleOf(path)
    return statementChecks((node, table) => {
      const owner = tables.get(table)
      if (owner === undefined || owner === own || written[own]?.includes(table)) return
      const message = `"${table}" is a table of "${owner}": read its view "${table}_read", or call its service.`
      context.report({ node, message })
    })
  }
}
