import { projectPath, type Rule, saysTrue } from "./Rule.ts"

/**
 * `stoa/no-fatal-defects`: without the flag one bad message makes the actor start again, and everybody who waits behind
 * it gets its defect (ARCHITECTURE invariant 6).
 */
export const NoFatalDefects: Rule = {
  meta: { type: "problem", docs: { description: "Every entity disables fatal defects" } },
  create(context) {
    // Workflows have a method of the same name; their defects are answered otherwise.
    if (!projectPath(context).startsWith("src/entities/")) return {}
    return {
      CallExpression(node) {
        const { callee } = node
        if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return
        if (!/^(toLayer|toLayerQueue)$/.test(callee.property.name)) return
        if (saysTrue(node.arguments[1], "disableFatalDefects")) return
        context.report({
          node: callee.property,
          message: "An entity says disableFatalDefects: true, or a defect restarts it."
        })
      }
    }
  }
}
