import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), "utf8")

const documents = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...["docs", "src"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md")).map((name) => join(folder, name))
  )
]

/** The targets of a document's links, relative to the project. */
const linked = (document: string): ReadonlyArray<string> =>
  [...read(document).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)]
    .map(([, target = ""]) => relative(root, join(root, dirname(document), target)))

/** Files and directories that a document names in its text. */
const named = (document: string): ReadonlyArray<string> =>
  [...read(document).matchAll(/`((?:src|test|bench|scripts|docs|deploy)\/[\w./-]+)`/g)].map(([, path = ""]) => path)

describe("the documents", () => {
  it.each(documents)("%s leads only to what exists", (document) => {
    const absent = [...linked(document), ...named(document)]
      .filter((path) => !existsSync(join(root, path)))
    assert.deepStrictEqual(absent, [])
  })

  it("list every variable that the service reads, and no other", () => {
    const variables = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name).toSorted()
    // A separate document lists the variables of the embedded database's launcher.
    const sources = readdirSync(join(root, "src/layers/config")).filter((name) => name !== "PostgresEnvironment.ts")
    const settings = sources.map((name) => read(join("src/layers/config", name))).join("\n")
    assert.deepStrictEqual(
      variables(read("README.md"), /^\| `([A-Z][A-Z_]+)` \|/gm),
      [...new Set(variables(settings, /"([A-Z][A-Z_]+)"/g))]
    )
  })

  it("name only commands that exist", () => {
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Record<string, string> }
    const commands = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((name) => /(^|\/)\w*Command(Line)?\.ts$/.test(name)).map((name) => read(`src/${name}`)).join("\n")
    for (const document of documents) {
      for (const [, name = ""] of read(document).matchAll(/\bnpm run ([\w:-]+)/g)) {
        assert.property(scripts, name, document)
      }
      for (const [, name = ""] of read(document).matchAll(/node src\/main\.ts ([\w-]+)/g)) {
        assert.include(commands, `Command.make("${name}"`, document)
      }
    }
  })
})
