import { type Node, projectPath, type Rule } from "./Rule.ts"

const allowed = /^src\/(main\.ts$|layers\/config\/|plugins\/.*\/test\/)/

/** `stoa/no-process-env`: settings are read in one place, described and checked there. */
export const NoProcessEnv: Rule = {
  meta: { type: "problem", docs: { description: "process.env only in src/layers/config and main.ts" } },
  create(context) {
    const path = projectPath(context)
    if (!path.startsWith("src/") || allowed.test(path)) return {}
    const report = (node: Node) =>
      context.report({ node, message: "Read settings in src/layers/config, not from process.env." })
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || node.object.name !== "process") return
        const name = node.property.type === "Identifier"
          ? node.property.name
          : node.property.type === "Literal"
          ? node.property.value
          : undefined
        if (name === "env") report(node)
      },
      ImportDeclaration(node) {
        if (/^(node:)?process$/.test(node.source.value)) report(node)
      }
    }
  }
}
