import { relative } from "node:path"
import type { Plugin } from "vitest/config"

/** A comparison with an organization in a statement: what keeps the rows of two tenants apart. */
const filter =
  /(?<!\bset\s+)\b(?:\w+\.)?organization_id\s*=\s*(?:\$\{(?:[^{}]|\{[^{}]*\})*\}(?:\.\w+)?|'?\w[\w.]*\b(?:->>'\w+')?(?!\s*\())/g

/** How many there are in the text of a file. */
export const filtersIn = (source: string): number => source.match(filter)?.length ?? 0

/** The text with the n-th of them, from 0, made true for every row. Its parameters stay where they are. */
export const withoutFilter = (source: string, n: number): string => {
  let at = 0
  return source.replace(filter, (found) => at++ === n ? `(${found} or true)` : found)
}

/** The setting of a database that names the filter which its sessions do without. */
export const switchName = "stoa.without_filter"

/** The text with a switch at each of them: a session without one sees the rows of all organizations there. */
export const switchable = (source: string, file: string): string => {
  let at = 0
  // Quoted by dollars, since statements stand in all of JavaScript's own quotes. Never null, which counts under a `not`.
  const isOut = () => `current_setting($f$${switchName}$f$, true) is not distinct from $f$${file}#${at++}$f$`
  return source.replace(filter, (found) => `(${found} or ${isOut()})`)
}

/** Where they stand, under the project. */
export const filtered = "src/{domain/**,layers/{jobs,webhooks}}/*{Repo,Statements}.ts"

/** `src/domain/catalog/brands/BrandRepo.ts#2`: a file of the project, and which of its filters is taken out. */
export const mutantOf = (text: string): { readonly file: string; readonly n: number } => {
  const [file = "", n = ""] = text.split("#")
  return { file, n: Number(n) }
}

const root = new URL("../..", import.meta.url).pathname

/**
 * Lets tests run with other code: `change` gives the text of a file of the project, or undefined where it stays. `key` says
 * which change it is: Vitest keeps transformed modules on disk, and would give one change the modules of another.
 */
export const filterPlugin = (key: string, change: (code: string, path: string) => string | undefined): Plugin => {
  const changed = (code: string, id: string) => change(code, relative(root, id))
  return {
    name: "tenant-filters",
    enforce: "pre",
    transform: (code, id) => {
      const text = changed(code, id)
      return text === undefined ? undefined : { code: text, map: null }
    },
    configureVitest: ({ defineCacheKeyGenerator }) =>
      defineCacheKeyGenerator(({ id, sourceCode }) => changed(sourceCode, id) === undefined ? undefined : key)
  }
}
