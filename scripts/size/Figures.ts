import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { oldWordsIn } from "../lint/PlainWords.ts"

interface Source {
  readonly path: string
  readonly text: string
  readonly lines: number
}

const root = join(import.meta.dirname, "../..")
const isListItself = (path: string) => path === "scripts/lint/PlainWords.ts"

const sourcesIn = (folder: string, name: RegExp): ReadonlyArray<Source> =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && name.test(entry.name) && !entry.parentPath.includes("node_modules"))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name)
      const text = readFileSync(file, "utf8")
      return { path: relative(root, file), text, lines: text.split("\n").length - 1 }
    })

const linesOf = (sources: ReadonlyArray<Source>) => sources.reduce((sum, { lines }) => sum + lines, 0)

const countOf = (sources: ReadonlyArray<Source>, pattern: RegExp) =>
  sources.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0)

// A comment follows a space: `*/*` of a header is none.
const comment = /(?<=^|\s)(?:\/\*[\s\S]*?\*\/|\/\/[^\n]*)/g

const wordsOfComments = (text: string): number =>
  (text.match(comment) ?? []).reduce((sum, one) => sum + (one.match(/[A-Za-z][\w'-]*/g)?.length ?? 0), 0)

/** What can be counted without running anything. Core source is `src/` without plugins and their kit. */
export const figures = (): Readonly<Record<string, number>> => {
  const source = sourcesIn("src", /\.ts$/)
  const isTest = ({ path }: Source) => /^src\/plugins\/[^/]+\/test\//.test(path)
  const core = source.filter(({ path }) => !path.startsWith("src/plugins/"))
  const tests = [...sourcesIn("test", /\.ts$/), ...source.filter(isTest)]
  const rest = ["bench", "scripts", "examples"].flatMap((folder) => sourcesIn(folder, /\.ts$/))
  const pages = [...sourcesIn("docs", /\.md$/), ...sourcesIn("src", /\.md$/)]
  const worded = [...source, ...tests.filter(({ path }) => path.startsWith("test/")), ...rest, ...pages]
    .filter(({ path }) => !isListItself(path))
  return {
    "core files": core.length,
    "core lines": linesOf(core),
    "core files of 20 lines or fewer": core.filter(({ lines }) => lines <= 20).length,
    "plugin kit lines": linesOf(source.filter(({ path }) => path.startsWith("src/plugins/kit/"))),
    "marketplace lines": linesOf(
      source.filter((file) => file.path.startsWith("src/plugins/marketplace/") && !isTest(file))
    ),
    "test lines": linesOf(tests),
    "sql<T> with an asserted type": countOf(source, /\bsql<|\.unsafe</g),
    "words of comments in src/": source.reduce((sum, { text }) => sum + wordsOfComments(text), 0),
    "errors without a class of their subject": countOf(
      source,
      /\b(NotFound|Conflict|ValidationFailed|Forbidden|Unprocessable)\.of\(/g
    ),
    // `NEXT.md` says what is under way and goes with it.
    "pages in docs/": readdirSync(join(root, "docs")).filter((name) => /(?<!^NEXT)\.md$/.test(name)).length,
    "old words in names, comments and docs": worded.reduce(
      (sum, { path, text }) => sum + oldWordsIn(path).length + oldWordsIn(text).length,
      0
    )
  }
}
