import { existsSync, readFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { refusedFile, refusedPackage } from "./Rooms.ts"
import { type Node, projectPath, type Rule } from "./Rule.ts"

/** What the manifest of a plugin lists in `requires`: read as text, so that a manifest never runs in the linter. */
const readRequires = (root: string) => (plugin: string): ReadonlyArray<string> => {
  const manifest = join(root, "plugins", plugin, "index.ts")
  if (!existsSync(manifest)) return []
  const list = /\brequires\s*:\s*\[([^\]]*)\]/.exec(readFileSync(manifest, "utf8"))?.[1] ?? ""
  return [...list.matchAll(/["']([^"']+)["']/g)].flatMap((match) => match[1] ?? [])
}

/** `stoa/rooms`: every import, re-export and dynamic import goes through an open door of `Rooms.ts`. */
export const RoomsRule: Rule = {
  meta: { type: "problem", docs: { description: "Rooms import in one direction only" } },
  create(context) {
    const from = projectPath(context)
    const requires = readRequires(context.cwd)
    const check = (node: Node, specifier: string) => {
      const message = specifier.startsWith(".")
        ? refusedFile(from, posix.join(dirname(from), specifier), requires)
        : refusedPackage(from, specifier)
      if (message !== undefined) context.report({ node, message })
    }
    return {
      ImportDeclaration: (node) => check(node, node.source.value),
      ExportAllDeclaration: (node) => check(node, node.source.value),
      ExportNamedDeclaration: (node) => {
        if (node.source !== null) check(node, node.source.value)
      },
      ImportExpression: (node) => {
        if (node.source.type === "Literal" && typeof node.source.value === "string") check(node, node.source.value)
      },
      TSImportType: (node) => check(node, node.source.value)
    }
  }
}
