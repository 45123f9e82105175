import { existsSync, readFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { refusedFile, refusedPackage } from "./Layers.ts"
import { type Node, projectPath, type Rule } from "./Rule.ts"

/** The `requires` of a plugin's manifest, read as text so that the linter never runs a manifest. */
const readRequires = (root: string) => (folder: string): ReadonlyArray<string> => {
  const manifest = join(root, folder, "index.ts")
  if (!existsSync(manifest)) return []
  const list = /\brequires\s*:\s*\[([^\]]*)\]/.exec(readFileSync(manifest, "utf8"))?.[1] ?? ""
  return [...list.matchAll(/["']([^"']+)["']/g)].flatMap((match) => match[1] ?? [])
}

/** `stoa/layer-imports`: every import, re-export and dynamic import follows `Layers.ts`. */
export const LayerImports: Rule = {
  meta: { type: "problem", docs: { description: "Layers import in one direction only" } },
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
