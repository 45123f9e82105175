import { existsSync, readFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { refusedFile, refusedPackage } from "./Layers.ts"
import { refusedModule } from "./ModuleLevels.ts"
import { type Node, projectPath, type Rule } from "./Rule.ts"

/** The `requires` of a plugin's manifest, read as text so that the linter never runs a manifest. */
const readRequires = (root: string) => (folder: string): ReadonlyArray<string> => {
  const manifest = join(root, folder, "index.ts")
  if (!existsSync(manifest)) return []
  const list = /\brequires\s*:\s*\[([^\]]*)\]/.exec(readFileSync(manifest, "utf8"))?.[1] ?? ""
  return [...list.matchAll(/["']([^"']+)["']/g)].flatMap((match) => match[1] ?? [])
}

/** Reports each import, re-export and dynamic import for which `refused` gives a message. */
const importChecks = (
  context: Parameters<Rule["create"]>[0],
  refused: (specifier: string) => string | undefined
): ReturnType<Rule["create"]> => {
  const check = (node: Node, specifier: string) => {
    const message = refused(specifier)
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

/** `stoa/layer-imports`: every import follows `Layers.ts`. */
export const LayerImports: Rule = {
  meta: { type: "problem", docs: { description: "Layers import in one direction only" } },
  create(context) {
    const from = projectPath(context)
    const requires = readRequires(context.cwd)
    return importChecks(context, (specifier) =>
      specifier.startsWith(".")
        ? refusedFile(from, posix.join(dirname(from), specifier), requires)
        : refusedPackage(from, specifier))
  }
}

/** `stoa/module-order`: every import follows `ModuleLevels.ts`. */
export const ModuleOrder: Rule = {
  meta: { type: "problem", docs: { description: "Modules of the domain import lower levels only" } },
  create(context) {
    const from = projectPath(context)
    return importChecks(
      context,
      (specifier) => specifier.startsWith(".") ? refusedModule(from, posix.join(dirname(from), specifier)) : undefined
    )
  }
}
