/** A file of a new plugin, by its path below the folder of plugins. */
export interface TemplateFile {
  readonly path: string
  readonly text: string
}

/** The names that a plugin's id becomes: `gift-notes` is `giftNotes` in code, `GiftNotes` in file names. */
const namesOf = (id: string) => {
  const pascal = id.split("-").map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")
  return { id, pascal, camel: pascal.charAt(0).toLowerCase() + pascal.slice(1), snake: id.replaceAll("-", "_") }
}

type Names = ReturnType<typeof namesOf>

const manifest = ({ camel, id }: Names) =>
  `import { definePlugin } from "stoa/plugin"
import { ticketRoutes, tickets } from "./Tickets.ts"

/** Tickets of the store (docs/plugins.md says what else a plugin can bring). */
export const ${camel} = definePlugin({
  id: "${id}",
  version: "0.1.0",
  permissions: [
    { scope: "${id}:read", description: "Read tickets" },
    { scope: "${id}:write", description: "Write tickets" }
  ],
  schema: () => ({ tickets }),
  routes: () => ticketRoutes
})
`

const tickets = ({ id, pascal, snake }: Names) =>
  `import { Effect } from "effect"
import { group, longText, machine, numbers, oneOf, resource, table, text, timestamp } from "stoa/plugin"

/** A ticket. The library adds id, organizationId, createdAt and updatedAt. */
export const tickets = table("${snake}_tickets", {
  number: text.unique(),
  title: text,
  body: longText.nullable,
  status: oneOf(["open", "closed"]).default("open"),
  closedAt: timestamp.nullable
})

/** \`T-0001\`, without gaps. */
const ticketNumbers = numbers({ kind: "T" })

export const ticket = machine(tickets, {
  noun: "ticket",
  moves: {
    close: { from: ["open"], to: "closed", stamp: "closedAt" },
    reopen: { from: ["closed"], to: "open" }
  }
})

/** List, get, create, patch and delete, and a POST for each move. */
export const ticketRoutes = resource(group("${pascal}", "/${id}"), "/tickets", tickets, {
  noun: "ticket",
  read: "${id}:read",
  write: "${id}:write",
  filters: ["status"],
  search: ["title", "body"],
  without: ["number"],
  machine: ticket,
  create: ({ db, input }) =>
    db.transaction(Effect.gen(function*() {
      return yield* db.table(tickets).insert({ ...input, number: yield* db.use(ticketNumbers).next(input) })
    }))
})
`

const test = ({ camel, id, pascal }: Names) =>
  `import { contractOf, createPluginTestApp, machineOf, type PluginTestApp, testAdminActor } from "stoa/plugin/testing"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ${camel} } from "../index.ts"
import { ticket } from "../Tickets.ts"

describe("${pascal}", () => {
  let test: PluginTestApp
  beforeAll(async () => {
    test = await createPluginTestApp(${camel})
  }, 60_000)
  afterAll(() => test.close())

  it("numbers its tickets and finds them", async () => {
    const made = await test.app.request("POST", "/api/${id}/tickets", { as: testAdminActor, body: { title: "first" } })
    assert.strictEqual(made.status, 201)
    const { body } = await test.app.request("GET", "/api/${id}/tickets?search=FIRST", { as: testAdminActor })
    assert.include(JSON.stringify(body), \`"number":"T-0001"\`)
  })

  it("keeps to the rules of every plugin, and tickets to their moves", async () => {
    for (const { name, run } of [...contractOf(test), ...machineOf(test, ticket)]) {
      await run().catch((error) => assert.fail(\`\${name}: \${error}\`))
    }
  }, 60_000)
})
`

/** The files of a small plugin that works and has a test. The id has lower case letters, digits and hyphens. */
export const pluginTemplate = (id: string): ReadonlyArray<TemplateFile> => {
  const names = namesOf(id)
  return [
    { path: `${id}/index.ts`, text: manifest(names) },
    { path: `${id}/Tickets.ts`, text: tickets(names) },
    { path: `${id}/test/${names.pascal}.test.ts`, text: test(names) }
  ]
}

/** What `commerce.config.ts` needs for it. */
export const installLines = (id: string, folder: string): string => {
  const { camel } = namesOf(id)
  return `import { ${camel} } from "./${folder}/${id}/index.ts"\n…\n  plugins: [${camel}]`
}
