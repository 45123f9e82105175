import { projectPath, type Rule } from "./Rule.ts"

const marks = /^(skip|only|todo|skipIf|runIf|fails)$/

/** `stoa/no-skipped-tests`: what is written in `test/` runs, also behind `it.effect`, `it.live` and `layer(...)`. */
export const NoSkippedTests: Rule = {
  meta: { type: "problem", docs: { description: "No skipped or focused tests" } },
  create(context) {
    if (!projectPath(context).startsWith("test/")) return {}
    return {
      MemberExpression(node) {
        if (node.property.type !== "Identifier" || !marks.test(node.property.name)) return
        let root = node.object
        while (root.type === "MemberExpression") root = root.object
        if (root.type !== "Identifier" || !/^(it|test|describe)$/.test(root.name)) return
        context.report({ node, message: `A test marked ${node.property.name} says nothing: repair it or remove it.` })
      }
    }
  }
}
