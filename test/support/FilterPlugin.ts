import { relative } from "node:path"
import type { Plugin } from "vitest/config"

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
