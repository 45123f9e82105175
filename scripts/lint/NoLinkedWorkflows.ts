import { projectPath, type Rule } from "./Rule.ts"

/**
 * `stoa/no-linked-workflows`: a workflow that is only started wakes the one that started it when it ends, and that wake
 * waits for an answer of the run: one that has died would wait for the wake, for ever.
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
        if (callee.property.name !== "execute" || options?.type !== "ObjectExpression") return
        const isTrue = (name: string) =>
          options.properties.some((one) =>
            one.type === "Property" && one.key.type === "Identifier" && one.key.name === name &&
            one.value.type === "Literal" && one.value.value === true
          )
        if (!isTrue("discard") || isTrue("detached")) return
        context.report({
          node: callee.property,
          message:
            "A workflow that is only started says detached: true, or it and the one that started it wait for each other."
        })
      }
    }
  }
}
