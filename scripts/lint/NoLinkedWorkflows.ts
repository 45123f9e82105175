import { projectPath, type Rule, saysTrue } from "./Rule.ts"

/**
 * `stoa/no-linked-workflows`: a linked workflow wakes its starter when it ends. The wake waits for the starter's run; if
 * that run dies, its restart waits for the wake, for ever.
 */
export const NoLinkedWorkflows: Rule = {
  meta: { type: "problem", docs: { description: "A workflow that is only started is detached" } },
  create(context) {
    if (!projectPath(context).startsWith("src/")) return {}
    return {
      CallExpression(node) {
        const { callee } = node
        if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return
        const options = node.arguments[1]
        if (callee.property.name !== "execute" || !saysTrue(options, "discard") || saysTrue(options, "detached")) return
        context.report({
          node: callee.property,
          message:
            "A started workflow says detached: true beside discard: true, or it and its starter wait for each other."
        })
      }
    }
  }
}
