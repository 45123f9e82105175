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

const manifest = ({ camel, id, pascal }: Names) =>
  `import { definePlugin } from "stoa/plugin"
import { ${camel}Routes } from "./${pascal}Http.ts"
import { notes } from "./${pascal}Tables.ts"

/** Notes of the store (docs/plugins.md says what else a plugin can bring). */
export const ${camel} = definePlugin({
  id: "${id}",
  version: "0.1.0",
  permissions: [
    { scope: "${id}:read", description: "Read notes" },
    { scope: "${id}:write", description: "Write notes" }
  ],
  schema: () => ({ notes }),
  routes: () => ${camel}Routes
})
`

const tables = ({ snake }: Names) =>
  `import { boolean, table, text } from "stoa/plugin"

/** A note. The library adds id, organizationId, createdAt and updatedAt. */
export const notes = table("${snake}_notes", {
  title: text.unique(),
  body: text.nullable,
  isDone: boolean.default(false)
})
`

const api = ({ id, pascal }: Names) =>
  `import { Schema } from "effect"
import { FreeText, group, Text } from "stoa/plugin"
import { notes } from "./${pascal}Tables.ts"

const routes = group("${pascal}", "/${id}")
const NewNote = Schema.Struct({ title: Text, body: Schema.optional(FreeText) })
const NoteChange = Schema.Struct({ isDone: Schema.Boolean })

export const listNotes = routes.list("/notes", {
  summary: "List notes, the newest first",
  permission: "${id}:read",
  success: notes.Row
})

export const createNote = routes.post("/notes", {
  summary: "Write a note",
  description: "409 when there is one of this title.",
  permission: "${id}:write",
  input: NewNote,
  success: notes.Row
})

export const changeNote = routes.patch("/notes/:id", {
  summary: "Say whether a note is done",
  permission: "${id}:write",
  input: NoteChange,
  success: notes.Row
})
`

const http = ({ camel, pascal }: Names) =>
  `import { changeNote, createNote, listNotes } from "./${pascal}Api.ts"
import { notes } from "./${pascal}Tables.ts"

/** What answers the routes that \`${pascal}Api.ts\` declares. */
export const ${camel}Routes = [
  listNotes.handle(({ db, page }) => db.table(notes).page({}, page)),
  createNote.handle(({ db, input }) => db.table(notes).insert(input)),
  changeNote.handle(({ db, input, params }) => db.table(notes).update(params.id, input))
]
`

const test = ({ camel, id, pascal }: Names) =>
  `import { contractOf, createPluginTestApp, type PluginTestApp, testAdminActor } from "stoa/plugin/testing"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ${camel} } from "../index.ts"

describe("${pascal}", () => {
  let test: PluginTestApp
  beforeAll(async () => {
    test = await createPluginTestApp(${camel})
  }, 60_000)
  afterAll(() => test.close())

  it("keeps a note", async () => {
    const made = await test.app.request("POST", "/api/${id}/notes", { as: testAdminActor, body: { title: "first" } })
    assert.strictEqual(made.status, 201)
    const { body } = await test.app.request("GET", "/api/${id}/notes", { as: testAdminActor })
    assert.include(JSON.stringify(body), "first")
  })

  it("keeps to the rules of every plugin", async () => {
    for (const { name, run } of contractOf(test)) await run().catch((error) => assert.fail(\`\${name}: \${error}\`))
  }, 60_000)
})
`

/** The files of a small plugin that works and has a test. The id has lower case letters, digits and hyphens. */
export const pluginTemplate = (id: string): ReadonlyArray<TemplateFile> => {
  const names = namesOf(id)
  return [
    { path: `${id}/index.ts`, text: manifest(names) },
    { path: `${id}/${names.pascal}Tables.ts`, text: tables(names) },
    { path: `${id}/${names.pascal}Api.ts`, text: api(names) },
    { path: `${id}/${names.pascal}Http.ts`, text: http(names) },
    { path: `${id}/test/${names.pascal}.test.ts`, text: test(names) }
  ]
}

/** What `commerce.config.ts` needs for it. */
export const installLines = (id: string, folder: string): string => {
  const { camel } = namesOf(id)
  return `import { ${camel} } from "./${folder}/${id}/index.ts"\n…\n  plugins: [${camel}]`
}
